import CausewaySQLite

/// The new store under construction: one file in the work directory, one writer connection.
///
/// Appending needs little cache and no WAL: the rollback journal stays a few pages long, because appended pages are never
/// journalled (performance.md §2.2: PERSIST, synchronous NORMAL, exclusive, a commit a second costs nothing that can be
/// measured against no journal at all).
///
/// Sendable although its connection isn't: only the thread that runs the migration uses it.
final class StagingStore: @unchecked Sendable {
    /// Time between commits.
    private static let commitInterval = Duration.seconds(1)
    /// KiB of page cache: a larger one makes appending and CREATE INDEX slower (performance.md §1b).
    private static let cacheKibibytes: Int64 = 2_000

    let path: String
    let connection: Connection
    private var lastCommit = ContinuousClock.now

    /// Creates the file.
    ///
    /// - Parameters:
    ///   - path: where; nothing may be there.
    ///   - pageSize: the source's, in bytes.
    ///   - autoVacuum: the source's `PRAGMA auto_vacuum`.
    /// - Throws: `.cannotCreate`, or `.inputOutput` where the disk is full.
    init(creating path: String, pageSize: Int64, autoVacuum: Int64) throws(EngineError) {
        self.path = path
        do {
            connection = try Connection(path: path, mode: .create, hardening: .own)
            // Both have effect only before the first table.
            try connection.setPragma("page_size", to: pageSize)
            try connection.setPragma("auto_vacuum", to: autoVacuum)
            try connection.setPragma("locking_mode", to: "EXCLUSIVE")
            try connection.setJournalMode(.persist)
            try connection.setPragma("synchronous", to: "NORMAL")
            try connection.setPragma("cache_size", to: -Self.cacheKibibytes)
            // Sorter threads take a cache each and gain nothing (performance.md §1b).
            try connection.setPragma("threads", to: 0)
            try connection.begin(.immediate)
        } catch {
            throw EngineError(creating: error, at: path)
        }
    }

    /// Takes over what the app keeps in the database's header.
    func setHeader(userVersion: Int64, applicationID: Int64) throws(EngineError) {
        do {
            try connection.setPragma("user_version", to: userVersion)
            try connection.setPragma("application_id", to: applicationID)
        } catch {
            throw EngineError(writing: error, during: "the new store's header")
        }
    }

    /// Runs statements that give no rows.
    func execute(_ sql: String) throws(EngineError) {
        do {
            try connection.execute(sql)
        } catch {
            throw EngineError(writing: error, during: "the new store's schema")
        }
    }

    /// Rows that the last statement changed.
    func changes() throws(EngineError) -> Int {
        do {
            var statement = try connection.prepare("SELECT changes()")
            return try statement.step() ? Int(statement.int64(at: 0)) : 0
        } catch {
            throw EngineError(writing: error, during: "counting changes")
        }
    }

    /// Commits if the last commit is long enough ago.
    func commitIfDue() throws(SQLiteError) {
        guard ContinuousClock.now - lastCommit >= Self.commitInterval else { return }
        try connection.commit()
        try connection.begin(.immediate)
        lastCommit = .now
    }

    /// Commits what was written and begins anew.
    func commit() throws(EngineError) {
        do {
            try connection.commit()
            try connection.begin(.immediate)
            lastCommit = .now
        } catch {
            throw EngineError(writing: error, during: "committing the new store")
        }
    }

    /// Ends the last transaction and leaves the file as Core Data would: with the journal flag of the source and no file
    /// beside it.
    func finish(inWALMode: Bool) throws(EngineError) {
        do {
            try connection.commit()
            // PERSIST leaves a journal file; DELETE removes it.
            try connection.setJournalMode(.delete)
            if inWALMode {
                // In exclusive mode there is no -shm; the switch to WAL is the last statement and leaves only the flag.
                try connection.setPragma("locking_mode", to: "NORMAL")
                _ = try connection.pragmaInteger("schema_version")
                try connection.setJournalMode(.wal)
            }
        } catch {
            throw EngineError(writing: error, during: "finishing the new store")
        }
    }
}
