import CausewayPlatform
import CausewaySQLite
import CausewayStores

/// The connection on a staging file, for all that statements do. It is in a transaction, which `ProgressRow` commits
/// and reopens.
///
/// Appending needs little cache and no WAL: the rollback journal stays a few pages long, because appended pages are
/// never journalled. PERSIST with synchronous FULL loses no commit to a power cut (InsideCrashSafety §3.2); with one
/// commit per second it costs almost nothing (InsideSpeed §2.2).
///
/// Sendable although its connection isn't: only the thread that runs the migration uses it.
final class StagingConnection: @unchecked Sendable {
    /// KiB of page cache: a larger one makes appending and CREATE INDEX slower (InsideSpeed §1.2).
    private static let cacheKibibytes: Int64 = 2_000

    let path: String
    let connection: Connection
    private let cancellation: Cancellation
    private let events: (EngineEvent) -> Void

    /// Creates the file, which must not exist; nothing is committed yet.
    ///
    /// - Parameters:
    ///   - file: where.
    ///   - source: the store whose page size and `auto_vacuum` it gets.
    ///   - cancellation: ends long statements.
    ///   - events: told of statements.
    /// - Throws: `.cannotCreate`, or `.inputOutput` where the disk is full.
    init(
        creating file: StagingFile, like source: SourceStore, cancellation: Cancellation,
        events: @escaping (EngineEvent) -> Void
    ) throws(EngineError) {
        (path, self.cancellation, self.events) = (file.path, cancellation, events)
        do {
            connection = try Connection(path: path, mode: .create, hardening: .own)
            // Both have effect only before the first table.
            try connection.setPragma("page_size", to: source.pageSize)
            try connection.setPragma("auto_vacuum", to: source.autoVacuum)
            // The first page is written on its own: by what was set above, or by this.
            if try connection.pragmaInteger("page_count") == 0 { try connection.setPragma("user_version", to: 0) }
            try Self.configure(connection)
        } catch {
            throw EngineError(creating: error, at: path)
        }
        try StagingJournal(of: path).keep(on: connection)
        try begin()
    }

    /// Opens a file that an earlier run left; nil if it is damaged. SQLite rolls back what wasn't committed.
    init?(
        resuming file: StagingFile, cancellation: Cancellation, events: @escaping (EngineEvent) -> Void
    ) throws(EngineError) {
        (path, self.cancellation, self.events) = (file.path, cancellation, events)
        do {
            connection = try Connection(path: path, mode: .readWrite, hardening: .own)
            try Self.configure(connection)
            // Reads the schema, and rolls back what wasn't committed.
            try connection.setJournalMode(.persist)
        } catch {
            if Self.isTorn(error) { return nil }
            throw EngineError(writing: error, during: path)
        }
        try StagingJournal(of: path).keep(on: connection)
        try begin()
    }

    private func begin() throws(EngineError) {
        try EngineError.writing(path) { try connection.begin(.immediate) }
    }

    /// Whether an error is about the file's content, not the system: then the file can't be used.
    static func isTorn(_ error: SQLiteError) -> Bool {
        switch error.code {
        case .ioErrorShortRead, .corrupt, .notADatabase, .error, .mismatch, .schemaChanged, .tooBig: true
        default: false
        }
    }

    private static func configure(_ connection: borrowing Connection) throws(SQLiteError) {
        try connection.setPragma("locking_mode", to: "EXCLUSIVE")
        try connection.setPragma(
            "synchronous", to: Mutant.isOn(.noStagingSync) || RunSetting.isOn(.withoutCheckpoints) ? "OFF" : "FULL")
        try connection.setPragma("cache_size", to: -cacheKibibytes)
        // Not every SQLite is compiled with it: what is deleted, as the progress, must not stay in free pages.
        try connection.setPragma("secure_delete", to: 1)
        // Each sorter thread takes a cache and gains nothing (InsideSpeed §1.2).
        try connection.setPragma("threads", to: 0)
    }

    /// Runs what may take long: a request to stop interrupts this connection's statements.
    func interruptibly<Result>(_ body: () throws(EngineError) -> Result) throws(EngineError) -> Result {
        try cancellation.interrupting(connection.interruptHandle, body)
    }

    /// Runs exactly one statement, which may take long and returns no rows. Parts of the text come from the source's
    /// schema, so it could contain a second one.
    func execute(_ sql: String) throws(EngineError) {
        try cancellation.check()
        events(.statement(sql))
        try interruptibly { () throws(EngineError) in
            try EngineError.writing(Self.schema) {
                var statement = try connection.prepare(sql)
                try statement.run()
            }
        }
    }

    /// Makes a table of the app's own, which may name functions that only the app has: the plan has checked that its
    /// rows don't need them.
    func makeAppTable(_ sql: String) throws(EngineError) {
        try cancellation.check()
        events(.statement(sql))
        try EngineError.writing(Self.schema) {
            try connection.lendingStandIns { () throws(SQLiteError) in
                var statement = try connection.prepare(sql)
                try statement.run()
            }
        }
    }

    private static let schema = "the new store's schema"

    /// Whether a table has no row; nil where the file is too damaged to tell.
    func isEmpty(_ table: String) throws(EngineError) -> Bool? {
        do throws(SQLiteError) {
            var statement = try connection.prepare("SELECT 1 FROM \(try SQLIdentifier(table)) LIMIT 1")
            return try !statement.step()
        } catch {
            if Self.isTorn(error) { return nil }
            throw EngineError(writing: error, during: Self.schema)
        }
    }

    /// Takes over what the app keeps in the database's header.
    func setHeader(userVersion: Int64, applicationID: Int64) throws(EngineError) {
        try EngineError.writing("the new store's header") {
            try connection.setPragma("user_version", to: userVersion)
            try connection.setPragma("application_id", to: applicationID)
        }
    }

    /// Whether SQLite takes free pages out of the file at every commit, as in the source: a copy doesn't while its free
    /// pages are filled.
    func setAutoVacuum(_ mode: Int64) throws(EngineError) {
        try EngineError.writing("the new store's header") { try connection.setPragma("auto_vacuum", to: mode) }
    }

    /// `PRAGMA auto_vacuum` where every commit takes free pages out of the file.
    static let fullAutoVacuum: Int64 = 1

    /// How many pages of the file are free.
    func freePages() throws(EngineError) -> Int {
        try EngineError.writing("the new store's free pages") { Int(try connection.pragmaInteger("freelist_count")) }
    }

    /// Takes free pages out of the file, whose `auto_vacuum` is incremental.
    func removeFreePages(_ most: Int) throws(EngineError) {
        try interruptibly { () throws(EngineError) in
            try EngineError.writing("the new store's free pages") {
                try connection.execute("PRAGMA incremental_vacuum(\(most))")
            }
        }
    }

    /// Ends the last transaction, and lets go of the file: it is written without SQLite from now on. This connection
    /// isn't used again.
    func release() throws(EngineError) {
        try close()
        try EngineError.writing("committing the new store") {
            try connection.setPragma("locking_mode", to: "NORMAL")
            // The lock goes with the end of the next statement that reads
            // (https://www.sqlite.org/pragma.html#pragma_locking_mode).
            _ = try connection.pragmaInteger("schema_version")
        }
    }

    /// Ends the last transaction and the connection.
    func close() throws(EngineError) {
        try EngineError.writing("committing the new store") {
            try connection.commit()
        }
        try StagingJournal(of: path).remove(on: connection)
    }
}
