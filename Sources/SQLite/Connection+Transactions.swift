extension Connection {
    /// When the locks are taken (https://www.sqlite.org/lang_transaction.html).
    package enum TransactionKind: String, Hashable, Sendable {
        /// With the first read or write.
        case deferred = "DEFERRED"
        /// The right to write at once; others may read.
        case immediate = "IMMEDIATE"
        /// No other connection reads (rollback journal) or writes.
        case exclusive = "EXCLUSIVE"
    }

    package func begin(_ kind: TransactionKind = .deferred) throws(SQLiteError) {
        try execute("BEGIN " + kind.rawValue)
    }

    package func commit() throws(SQLiteError) {
        try execute("COMMIT")
    }

    /// Does nothing when there is no transaction: SQLite rolls some errors (disk full, I/O) back by itself.
    package func rollback() throws(SQLiteError) {
        if isInTransaction { try execute("ROLLBACK") }
    }

    /// Commits what `body` did, or rolls it back when `body` throws or the commit fails.
    package func transaction<Result>(
        _ kind: TransactionKind = .immediate, _ body: () throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        try begin(kind)
        do throws(SQLiteError) {
            let result = try body()
            try commit()
            return result
        } catch {
            do {
                try rollback()
            } catch let second {
                throw SQLiteError(
                    code: error.code, message: error.message + "; the rollback failed too: " + second.message,
                    sql: error.sql, path: error.path)
            }
            throw error
        }
    }
}
