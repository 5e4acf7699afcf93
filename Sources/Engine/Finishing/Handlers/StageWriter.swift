package import CausewaySQLite

/// The store on which handlers run: a staging store, inside its transaction, with its indexes and without its triggers.
package protocol StageWriter: AnyObject {
    /// Compiles a statement on the store's writer connection.
    func prepare(_ sql: String) throws(SQLiteError) -> Statement

    /// A handler has saved: its writes so far may be committed.
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

extension StagingConnection: StageWriter {
    package func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        try connection.prepare(sql, persistent: true)
    }

    /// A killed handler runs again from its beginning, so it must leave nothing: all handlers of a store are one
    /// transaction.
    package func commitIfDue() throws(SQLiteError) {}

    package var isInTransaction: Bool { connection.isInTransaction }
}
