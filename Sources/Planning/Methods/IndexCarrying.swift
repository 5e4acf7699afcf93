import CausewaySQLite
import CausewaySQLiteFile
package import CausewayStoreFormat

/// An index of the source whose entries those of a rebuilt table become.
package struct CarriedEntries: Hashable, Sendable {
    package var index: TableIndex
    /// What changes in its key, by the place of a column; the order of the entries doesn't.
    package var renumberings: [KeptTable.Renumbering]
}

/// Finds the indexes of the source that have the same entries as those of rebuilt tables: the rows keep their rowids,
/// and the columns of the key their values, or get other numbers in the same order and of the same size.
struct IndexCarrying {
    private let indexes: SourceIndexes
    /// Whether the source's format is one below 4, which writes the integers 0 and 1 otherwise and ignores that a
    /// column descends (https://www.sqlite.org/fileformat2.html#schemaformat): a new index has other bytes.
    private let isOldFormat: Bool

    init(of source: SourceIndexes, isOldFormat: Bool) {
        indexes = source
        self.isOldFormat = isOldFormat
    }

    /// - Parameters:
    ///   - index: of a table that is rebuilt; on columns with the collation BINARY, over all rows.
    ///   - pass: the only one that fills the table.
    /// - Returns: the source's index, or why there is none.
    func counterpart(of index: TableIndex, filledBy pass: RowPass) -> (index: CarriedEntries?, reason: String?) {
        if isOldFormat { return (nil, "the store's format is an older one") }
        if let reason = pass.selection { return (nil, reason) }
        var key: [String] = []
        var changes: [KeptTable.Renumbering] = []
        for (place, column) in index.columns.enumerated() {
            let name = column.name ?? ""
            guard let origin = origin(of: name, in: pass) else { return (nil, "column \(name) gets new values") }
            key.append(origin.name.lowercased())
            guard !origin.numbers.isEmpty else { continue }
            let change = KeptTable.Renumbering(place: place, numbers: origin.numbers)
            do throws(PatchRefusal) {
                try change.check(in: .index)
            } catch {
                return (nil, "column \(name): \(error)")
            }
            changes.append(change)
        }
        let found = indexes.indexes(of: pass.sourceTable).first { other in
            other.isUnique == index.isUnique && !other.isPartial
                && other.columns.map { $0.name?.lowercased() } == key
                && other.columns.map(\.isDescending) == index.columns.map(\.isDescending)
                && other.columns.allSatisfy { $0.collation.uppercased() == "BINARY" }
        }
        guard let found else { return (nil, "the source has no index with its key") }
        return (CarriedEntries(index: found, renumberings: changes), nil)
    }

    /// The source's column whose cells all rows carry into this one, and the numbers that change in it; nil where there
    /// is none.
    private func origin(of name: String, in pass: RowPass) -> (name: String, numbers: [Int64: Int64])? {
        guard let column = pass.destinationColumns.firstIndex(where: { $0.lowercased() == name.lowercased() }),
            let found = carried(column, of: pass).map({ ($0, [:]) }) ?? entities(column, of: pass),
            case .column(let origin) = pass.shape.cells[found.0]
        else { return nil }
        return (origin.name, found.1)
    }

    /// The cell with the entities of the rows, and those that get other numbers; nil for other columns, also where
    /// links have their targets' entities: some may end.
    private func entities(_ column: Int, of pass: RowPass) -> (Int, [Int64: Int64])? {
        guard let fate = ColumnFate(column, of: pass), let cell = fate.cell, cell == pass.discriminator else {
            return nil
        }
        return (cell, fate.numbers)
    }

    /// The cell that all rows carry into a column, perhaps as a link's key; nil where there is none.
    private func carried(_ column: Int, of pass: RowPass) -> Int? {
        let cells = Set(
            pass.projections.values.map { projection -> Int? in
                guard projection.cells.indices.contains(column) else { return nil }
                switch projection.cells[column] {
                case .carry(let cell): return cell
                case .key(let cell, _, let dropped): return dropped.isEmpty ? cell : nil
                default: return nil
                }
            })
        return cells.count == 1 ? cells.first.flatMap(\.self) : nil
    }
}
