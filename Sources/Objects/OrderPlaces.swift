import CausewaySQLite

/// Places in ordered relationships (InsideStoreFormat §5.4).
enum OrderPlace {
    static let first: Int64 = 2_048
    static let step: Int64 = 1_024

    /// The place of the n-th member of a fresh list, counted from 0.
    static func at(_ index: Int) -> Int64 { first + Int64(index) * step }
}

/// Gives places after all others of a column: an ordered relationship's members sort as they were added.
struct OrderPlaces {
    private let keys: KeySource
    private let statements: StatementCache

    init(_ keys: KeySource, _ statements: StatementCache) {
        self.keys = keys
        self.statements = statements
    }

    /// The place after every place of the column; `known` is the largest of the rows so far, where that isn't asked of
    /// the store.
    func next(
        _ table: SQLIdentifier, _ column: SQLIdentifier, known: Int64? = nil
    ) throws(SQLiteError) -> Int64 {
        let name = KeySource.PlaceColumn(table: table.name, column: column.name)
        let (next, overflow) = max(try last(name, table, column, known), OrderPlace.step)
            .addingReportingOverflow(OrderPlace.step)
        guard !overflow else {
            throw SQLiteError(
                code: .mismatch,
                message: "\(table.name).\(column.name) holds the largest possible place, so no object can come after "
                    + "it; fix the row")
        }
        keys.places[name] = next
        return next
    }

    /// Notes an explicit place: later ones come after it.
    func note(
        _ place: Int64, _ table: SQLIdentifier, _ column: SQLIdentifier, known: Int64? = nil
    ) throws(SQLiteError) {
        let name = KeySource.PlaceColumn(table: table.name, column: column.name)
        keys.places[name] = max(try last(name, table, column, known), place)
    }

    /// The largest place of the column, read from the store once.
    private func last(
        _ name: KeySource.PlaceColumn, _ table: SQLIdentifier, _ column: SQLIdentifier, _ known: Int64?
    ) throws(SQLiteError) -> Int64 {
        if let last = keys.places[name] { return last }
        let last: Int64
        if let known {
            last = known
        } else {
            last = try statements.statement("SELECT max(\(column)) FROM \(table)").number() ?? 0
        }
        keys.places[name] = last
        return last
    }
}
