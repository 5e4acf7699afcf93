package import CausewaySQLite

extension Connection {
    /// The integer in the first row of a query's result; nil without rows.
    package func integer(_ sql: String) throws(SQLiteError) -> Int64? {
        var statement = try prepare(sql)
        return try statement.step() ? statement.int64(at: 0) : nil
    }

    /// The number in the first row of a query's result; 0 without rows.
    package func count(_ sql: String) throws(SQLiteError) -> Int { Int(try integer(sql) ?? 0) }

    /// The largest Z_PK of a table; 0 where it has no rows.
    package func largestKey(of table: String) throws(SQLiteError) -> Int64 {
        try integer("SELECT max(Z_PK) FROM \(try SQLIdentifier(table))") ?? 0
    }

    /// The largest rowid of a table; 0 where it has no rows.
    package func largestRowid(of table: SQLIdentifier) throws(SQLiteError) -> Int64 {
        try integer("SELECT max(rowid) FROM \(table)") ?? 0
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

    package init(count: Int, keys: [Int64]) {
        (self.count, self.keys) = (count, keys)
    }

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
    package var described: String { "\(counted) (\(list))" }

    /// `3 rows`
    package var counted: String { count == 1 ? "1 row" : "\(count) rows" }

    /// `p1, p2, …`
    package var list: String {
        keys.map { "p\($0)" }.joined(separator: ", ") + (count > keys.count ? ", …" : "")
    }
}
