import CausewayCheckpoint
import CausewayPlatform
import CausewaySQLite
import CausewayStores

/// The new store under construction: one file in the work directory, one writer connection.
///
/// Appending needs little cache and no WAL: the rollback journal stays a few pages long, because appended pages are never
/// journalled. PERSIST with synchronous FULL loses no commit to a power cut (InsideCrashSafety §3.2); with a commit a
/// second it costs next to nothing (InsideSpeed §2.2).
///
/// Until it is sealed it holds a table of one row, the progress: what is in the store and what the row says are committed
/// together (InsideCrashSafety §4.3).
///
/// Sendable although its connection isn't: only the thread that runs the migration uses it.
final class StagingStore: @unchecked Sendable {
    /// KiB of page cache: a larger one makes appending and CREATE INDEX slower (InsideSpeed §1.2).
    private static let cacheKibibytes: Int64 = 2_000
    /// The table with the progress; no entity's, whose tables begin with Z.
    static let progressTable = "zz_causeway_progress"

    let path: String
    let connection: Connection

    /// Creates the file, with its progress table; nothing is committed yet.
    ///
    /// - Parameters:
    ///   - path: where; nothing may be there.
    ///   - pageSize: the source's, in bytes.
    ///   - autoVacuum: the source's `PRAGMA auto_vacuum`.
    ///   - room: bytes that the progress will take at most, about.
    /// - Throws: `.cannotCreate`, or `.inputOutput` where the disk is full.
    init(creating path: String, pageSize: Int64, autoVacuum: Int64, room: Int) throws(EngineError) {
        self.path = path
        do {
            connection = try Connection(path: path, mode: .create, hardening: .own)
            // Both have effect only before the first table.
            try connection.setPragma("page_size", to: pageSize)
            try connection.setPragma("auto_vacuum", to: autoVacuum)
            try Self.configure(connection)
            try connection.begin(.immediate)
            try connection.execute(
                "CREATE TABLE \(Self.progressTable) (id INTEGER PRIMARY KEY CHECK (id = 1), state BLOB NOT NULL)")
            var insert = try connection.prepare("INSERT INTO \(Self.progressTable) VALUES (1, ?)")
            try insert.bind([UInt8](repeating: 0, count: room), at: 1)
            try insert.run()
        } catch {
            throw EngineError(creating: error, at: path)
        }
    }

    /// Takes over a file that an ended run left; nil where it is torn. SQLite rolls back what wasn't committed.
    init?(resuming path: String) throws(EngineError) {
        self.path = path
        do {
            connection = try Connection(path: path, mode: .readWrite, hardening: .own)
            try Self.configure(connection)
            try connection.begin(.immediate)
        } catch {
            if Self.isTorn(error) { return nil }
            throw EngineError(writing: error, during: path)
        }
    }

    /// Whether an error speaks of what is in the file, not of the system: then nothing of the file can be used.
    private static func isTorn(_ error: SQLiteError) -> Bool {
        switch error.code {
        case .ioErrorShortRead: true
        case .corrupt, .notADatabase, .error, .mismatch, .schemaChanged, .tooBig: true
        default: false
        }
    }

    private static func configure(_ connection: borrowing Connection) throws(SQLiteError) {
        try connection.setPragma("locking_mode", to: "EXCLUSIVE")
        try connection.setJournalMode(.persist)
        try connection.setPragma("synchronous", to: Mutant.isOn(.noStagingSync) || UnsafeBaseline.isOn ? "OFF" : "FULL")
        try connection.setPragma("cache_size", to: -cacheKibibytes)
        // Sorter threads take a cache each and gain nothing (InsideSpeed §1.2).
        try connection.setPragma("threads", to: 0)
    }

    /// The progress that was committed last; nil where there is none that can be read: what the file holds is then of no
    /// use.
    func progress(_ identity: CheckpointIdentity) throws(EngineError) -> CheckpointContainer.Content? {
        let stored: [UInt8]
        do {
            stored = try storedProgress()
        } catch {
            if Self.isTorn(error) { return nil }
            throw EngineError(writing: error, during: path)
        }
        var reader = FieldReader(stored)
        guard let length = try? reader.fixed(), length > 0, length <= UInt64(stored.count) - 8 else { return nil }
        // Damaged, or of another plan: both mean that this file can't be resumed.
        return try? CheckpointContainer.decode(
            Array(stored[8..<8 + Int(length)]), expecting: Mutant.isOn(.noPlanCheck) ? nil : identity)
    }

    /// Empty where there is no row, or none that holds bytes.
    private func storedProgress() throws(SQLiteError) -> [UInt8] {
        var statement = try connection.prepare("SELECT state FROM \(Self.progressTable) WHERE id = 1")
        guard try statement.step(), statement.type(at: 0) == .blob, let bytes = statement.bytes(at: 0), bytes.count > 8
        else { return [] }
        return bytes
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

    /// Runs exactly one statement: for SQL of the source's schema, whose text could hold a second one.
    func executeOne(_ sql: String) throws(EngineError) {
        do {
            var statement = try connection.prepare(sql)
            try statement.run()
        } catch {
            throw EngineError(writing: error, during: "the new store's schema")
        }
    }

    /// Makes a table of the app's own, which may name what only the app has: the plan has seen that its rows don't need it.
    func makeAppTable(_ sql: String) throws(EngineError) {
        do {
            try connection.lendingStandIns { () throws(SQLiteError) in
                var statement = try connection.prepare(sql)
                try statement.run()
            }
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

    /// Commits what was written together with the progress, and begins anew.
    func commit(progress: [UInt8]) throws(EngineError) {
        do {
            if Mutant.isOn(.progressAfter) {
                try connection.commit()
                try connection.begin(.immediate)
            }
            try write(progress)
            KillPoint.reach(.committing)
            try connection.commit()
            KillPoint.reach(.committed)
            try connection.begin(.immediate)
        } catch {
            throw EngineError(writing: error, during: "committing the new store")
        }
    }

    /// The length in 8 bytes, the container, zeros: a value of the same length is overwritten where it stands, so the
    /// number of commits decides nothing about the pages of the store.
    private func write(_ progress: [UInt8]) throws(SQLiteError) {
        var writer = FieldWriter()
        writer.write(fixed: UInt64(progress.count))
        var state = writer.bytes + progress
        var measure = try connection.prepare("SELECT length(state) FROM \(Self.progressTable) WHERE id = 1")
        let room: Int64 = try measure.step() ? measure.int64(at: 0) : 0
        measure.reset()
        state += [UInt8](repeating: 0, count: max(0, Int(clamping: room) - state.count))
        var update = try connection.prepare("UPDATE \(Self.progressTable) SET state = ?1 WHERE id = 1")
        try update.bind(state, at: 1)
        try update.run()
    }

    /// Ends the last transaction and the connection.
    func close() throws(EngineError) {
        do {
            try connection.commit()
            // PERSIST leaves its journal; who only reads would have to look into it.
            try connection.setJournalMode(.delete)
        } catch {
            throw EngineError(writing: error, during: "committing the new store")
        }
    }
}
