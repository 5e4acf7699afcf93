package import CausewayPlanning
package import CausewaySQLite
import CausewayStoreFormat
package import CausewayStores

/// Digests recomputed from what SQLite reads, independent of the passes' code.
extension PassDigest {
    /// Of the rows that the pass's statement gives; both sides are as the recipes carry them.
    ///
    /// - Parameters:
    ///   - pass: whose statement is run.
    ///   - source: the store that the pass reads.
    ///   - isUTF8: the store's encoding; texts of others are converted, as the passes do.
    ///   - leftOut: keys of rows that the pass has quarantined.
    ///   - cancellation: checked regularly.
    /// - Throws: `SQLiteError`; `EngineError` where the run was asked to stop.
    package init(
        rereading pass: RowPass, in source: borrowing Connection, isUTF8: Bool,
        leavingOut leftOut: SortedKeys = SortedKeys([]), cancellation: Cancellation? = nil
    ) throws {
        var sums = SideSums(DigestShape(pass))
        let groups = Dictionary(sums.shape.groups.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        var statement = try source.prepare(pass.shape.sql)
        var rows = 0
        while try statement.step() {
            try cancellation?.check(afterRow: &rows)
            guard let number = pass.number(of: statement), let group = groups[number] else { continue }
            if !leftOut.isEmpty, let key = pass.key, leftOut.contains(statement.int64(at: key)) { continue }
            sums.add(group: group, key: pass.key.map { statement.int64(at: $0) } ?? 0) { place in
                StatementContent.content(statement, group.cells[place], isUTF8: isUTF8)
            }
        }
        self.init(sums.shape, source: sums.values, destination: sums.values)
    }

    /// Of the rows in the table that the pass fills, other passes' rows of it included.
    package init(
        rereadingDestinationOf pass: RowPass, in result: borrowing Connection, cancellation: Cancellation? = nil
    ) throws {
        var sums = SideSums(DigestShape(pass))
        let reading = try DestinationReading(pass, sums.shape)
        var statement = try result.prepare(reading.sql(ordered: false))
        var rows = 0
        while try statement.step() {
            try cancellation?.check(afterRow: &rows)
            guard let group = reading.group(of: statement) else { continue }
            sums.add(group: group, key: reading.key(of: statement)) { place in
                StatementContent.content(statement, reading.position(group.cells[place]), isUTF8: true)
            }
        }
        self.init(sums.shape, source: sums.values, destination: sums.values)
    }

    /// Takes over the sums of columns that can't be compared; their number of values stays.
    mutating func adoptSums(of other: PassDigest, columns: Set<String>) {
        guard !columns.isEmpty else { return }
        adoptSums(of: other) { $0.map(columns.contains) ?? true }
    }

    /// Takes over the sums of all columns, and only them.
    mutating func adoptSums(of other: PassDigest) { adoptSums(of: other) { _ in true } }

    private mutating func adoptSums(of other: PassDigest, where isOne: (String?) -> Bool) {
        for group in shape.summed {
            for (name, place) in shape.columns(of: group) where isOne(name) {
                for lane in [place, place + 1] {
                    source[lane] = other.source[lane]
                    destination[lane] = other.destination[lane]
                }
            }
        }
    }
}

/// Sums of one side of a pass.
private struct SideSums {
    let shape: DigestShape
    private(set) var values: [UInt64]

    init(_ shape: DigestShape) {
        self.shape = shape
        values = Array(repeating: 0, count: shape.valueCount)
    }

    /// Adds a row; `content` gives the group's cells by their place.
    mutating func add(group: DigestShape.Group, key: Int64, _ content: (Int) -> CellContent?) {
        values[group.offset] &+= 1
        if shape.key != nil {
            let row = CellHash.row(key: key)
            for place in group.cells.indices {
                guard let content = content(place) else { continue }
                add(CellHash.lanes(of: content, in: row), at: group.offset + 1 + place * DigestShape.valuesPerColumn)
            }
            return
        }
        var row = CellHash.start
        for place in group.cells.indices { row = CellHash.lanes(of: content(place) ?? CellHash.null, in: row) }
        add(row, at: group.offset + 1)
    }

    private mutating func add(_ lanes: HashLanes, at place: Int) {
        values[place] &+= lanes.first
        values[place + 1] &+= lanes.second
        values[place + 2] &+= 1
    }
}

extension RowPass {
    /// The number of a source row's projection; nil where the discriminator is no integer: SQLite would make 2 of 2.5.
    func number(of row: borrowing Statement) -> Int? {
        guard let discriminator else { return 0 }
        return row.type(at: discriminator) == .integer ? Int(clamping: row.int64(at: discriminator)) : nil
    }
}
