package import CausewaySQLite

/// Queries about entity tables.
package enum EntityQuestions {
    /// The largest Z_PK of a table; 0 where it has no rows.
    package static func largestKey(of table: String, in database: borrowing Connection) throws(SQLiteError) -> Int64 {
        var statement = try database.prepare("SELECT max(Z_PK) FROM \(try SQLIdentifier(table))")
        return try statement.step() ? statement.int64(at: 0) : 0
    }
}

/// Rows that a query found: how many, and the keys of the first.
package struct FoundRows: Hashable {
    /// Keys that are kept and shown.
    package static let namedRows = 20
    /// Rows between two checks for cancellation.
    private static let rowsPerCheck = 4_096

    package private(set) var count = 0
    package private(set) var keys: [Int64] = []

    /// None yet.
    package init() {}

    /// Runs a statement whose first result column is a key.
    package init(_ sql: String, in database: borrowing Connection, _ cancellation: Cancellation?) throws {
        try cancellation?.check()
        var statement = try database.prepare(sql)
        while try statement.step() {
            add(statement.int64(at: 0))
            if count.isMultiple(of: Self.rowsPerCheck) { try cancellation?.check() }
        }
    }

    package mutating func add(_ key: Int64) {
        if count < Self.namedRows { keys.append(key) }
        count += 1
    }

    /// `3 rows (p1, p2, p3)`
    package var described: String { "\(count == 1 ? "1 row" : "\(count) rows") (\(list))" }

    /// `p1, p2, …`
    package var list: String {
        keys.map { "p\($0)" }.joined(separator: ", ") + (count > keys.count ? ", …" : "")
    }
}
