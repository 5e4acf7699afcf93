import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat

/// Finds the indexes of the source that have the same entries as those of rebuilt tables: the rows keep their rowids, and
/// the columns of the key their values.
struct IndexCarrying {
    private let indexes: SourceIndexes
    /// Whether the source's format is one below 4, which writes the integers 0 and 1 otherwise and ignores that a column
    /// descends (https://www.sqlite.org/fileformat2.html#schemaformat): a new index has other bytes.
    private let isOldFormat: Bool

    init(of source: SourceIndexes, isOldFormat: Bool) {
        indexes = source
        self.isOldFormat = isOldFormat
    }

    /// - Parameters:
    ///   - index: of a table that is rebuilt; on columns with the collation BINARY, over all rows.
    ///   - pass: the only one that fills the table.
    /// - Returns: the source's index, or why there is none.
    func counterpart(of index: TableIndex, filledBy pass: RowPass) -> (index: TableIndex?, reason: String?) {
        if isOldFormat { return (nil, "the store's format is an older one") }
        guard pass.dropped.isEmpty, pass.elsewhere.isEmpty, !pass.dropsUnknown else {
            return (nil, "rows are left out")
        }
        var key: [String] = []
        for column in index.columns {
            let name = column.name ?? ""
            guard let origin = origin(of: name, in: pass) else { return (nil, "column \(name) gets new values") }
            key.append(origin.lowercased())
        }
        let found = indexes.indexes(of: pass.sourceTable).first { other in
            other.isUnique == index.isUnique && !other.isPartial
                && other.columns.map { $0.name?.lowercased() } == key
                && other.columns.map(\.isDescending) == index.columns.map(\.isDescending)
                && other.columns.allSatisfy { $0.collation.uppercased() == "BINARY" }
        }
        return (found, found == nil ? "the source has no index with its key" : nil)
    }

    /// The source's column whose cells all rows carry into this one; nil where there is none.
    private func origin(of name: String, in pass: RowPass) -> String? {
        guard let column = pass.destinationColumns.firstIndex(where: { $0.lowercased() == name.lowercased() })
        else { return nil }
        let cells = Set(
            pass.projections.values.map { projection -> Int? in
                guard projection.cells.indices.contains(column) else { return nil }
                switch projection.cells[column] {
                case .carry(let cell): return cell
                case .key(let cell, _, let dropped): return dropped.isEmpty ? cell : nil
                default: return nil
                }
            })
        if cells.contains(nil), keepsEntities(column, of: pass) { return name }
        guard cells.count == 1, let cell = cells.first.flatMap(\.self),
            case .column(let origin) = pass.shape.cells[cell]
        else { return nil }
        return origin.name
    }

    /// Whether the column is Z_ENT, and every row's number is what it was.
    private func keepsEntities(_ column: Int, of pass: RowPass) -> Bool {
        guard let discriminator = pass.discriminator, case .column(let own) = pass.shape.cells[discriminator],
            own.name == pass.destinationColumns[column]
        else { return false }
        return pass.projections.allSatisfy { number, projection in
            guard projection.cells.indices.contains(column) else { return false }
            switch projection.cells[column] {
            case .literal(.integer(let value)): return value == Int64(number)
            case .carry(let cell): return cell == discriminator
            default: return false
            }
        }
    }
}
