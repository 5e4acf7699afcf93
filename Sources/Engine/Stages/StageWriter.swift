package import CausewaySQLite

/// The store on which handlers run: a staging store, inside its transaction, with its indexes and without its triggers.
package protocol StageWriter: AnyObject {
    /// Compiles a statement on the store's writer connection.
    func prepare(_ sql: String) throws(SQLiteError) -> Statement

    /// Ends the transaction and begins another, if the last one is long enough ago.
    func commitIfDue() throws(SQLiteError)

    /// False after an error with which SQLite rolled everything back: a full disk, a failing one.
    var isInTransaction: Bool { get }
}

extension StageWriter {
    func run(_ sql: String) throws(SQLiteError) {
        var statement = try prepare(sql)
        try statement.run()
    }
}

extension StagingStore: StageWriter {
    package func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        try connection.prepare(sql, persistent: true)
    }

    package var isInTransaction: Bool { connection.isInTransaction }
}
