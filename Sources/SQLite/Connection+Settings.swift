internal import CausewayCSQLite

extension Connection {
    /// `PRAGMA journal_mode` (https://www.sqlite.org/pragma.html#pragma_journal_mode).
    package enum JournalMode: String, Hashable, Sendable {
        case delete, truncate, persist, memory, wal, off
    }

    /// Milliseconds to wait for another connection's lock; 0 fails at once.
    package func setBusyTimeout(milliseconds: Int32) throws(SQLiteError) {
        try check(unsafe sqlite3_busy_timeout(handle, milliseconds))
    }

    /// No statement of this connection may change the database from now on.
    package func setQueryOnly(_ isOn: Bool) throws(SQLiteError) {
        try setPragma("query_only", to: isOn ? 1 : 0)
    }

    /// The last connection of a WAL database folds the log in when it closes; with `true` the log stays as it is.
    package func setNoCheckpointOnClose(_ isOn: Bool) throws(SQLiteError) {
        try unsafe Hardening.configure(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, name: "NO_CKPT_ON_CLOSE", to: isOn)
    }

    /// Changes the journal mode and proves it.
    ///
    /// Leaving WAL folds the log in and removes `-wal` and `-shm`.
    /// - Throws: `.busy` when another connection holds the file open; `.error` when SQLite stays with another mode.
    package func setJournalMode(_ mode: JournalMode) throws(SQLiteError) {
        let inForce = try pragmaValue("journal_mode", argument: mode.rawValue)
        if inForce != mode.rawValue {
            throw SQLiteError(
                code: .error,
                message: "the journal mode stays “\(inForce ?? "unknown")” instead of “\(mode.rawValue)”; close other "
                    + "programs that use the store and check that the file is writable", path: path)
        }
    }

    package func journalMode() throws(SQLiteError) -> JournalMode? {
        try pragmaText("journal_mode").flatMap { JournalMode(rawValue: $0) }
    }

    /// `PRAGMA data_version`: changes when another connection has committed since it was last read here.
    package func dataVersion() throws(SQLiteError) -> Int64 {
        try pragmaInteger("data_version")
    }

    /// The number that a pragma gives.
    /// - Throws: `.mismatch` when it gives no row or no integer.
    package func pragmaInteger(_ name: String) throws(SQLiteError) -> Int64 {
        let sql = "PRAGMA " + (try Self.checkedWord(name))
        var statement = try prepare(sql)
        guard try statement.step(), statement.type(at: 0) == .integer else {
            throw SQLiteError(
                code: .mismatch, message: "the pragma gives no integer; this SQLite library doesn't know it", sql: sql,
                path: path)
        }
        return statement.int64(at: 0)
    }

    /// The text that a pragma gives; nil when it gives no row or NULL.
    package func pragmaText(_ name: String) throws(SQLiteError) -> String? {
        try pragmaValue(name, argument: nil)
    }

    /// Sets a pragma to a number. SQLite ignores names that it doesn't know.
    package func setPragma(_ name: String, to value: Int64) throws(SQLiteError) {
        try execute("PRAGMA " + (try Self.checkedWord(name)) + "=" + String(value))
    }

    /// Sets a pragma to a word (`NORMAL`, `EXCLUSIVE`).
    package func setPragma(_ name: String, to word: String) throws(SQLiteError) {
        _ = try pragmaValue(name, argument: word)
    }

    private func pragmaValue(_ name: String, argument: String?) throws(SQLiteError) -> String? {
        var sql = "PRAGMA " + (try Self.checkedWord(name))
        if let argument { sql += "=" + (try Self.checkedWord(argument)) }
        var statement = try prepare(sql)
        // To the end: some pragmas do their work while they are stepped.
        let values = try statement.rows { row throws(SQLiteError) -> String?? in try row.string(at: 0) }
        return values.first ?? nil
    }

    /// Pragma names and words are unquoted in SQL, so they may have letters, digits, `_` and `-` only.
    private static func checkedWord(_ word: String) throws(SQLiteError) -> String {
        guard !word.isEmpty, word.utf8.allSatisfy({ $0.isLetterOrDigit || "_-".utf8.contains($0) }) else {
            throw SQLiteError(code: .misuse, message: "“\(word)” isn't a name or word of a pragma")
        }
        return word
    }
}
