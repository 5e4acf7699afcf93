import CausewayCheckpoint
import CausewayPlatform
import CausewaySQLite
import CausewayStores

/// Where a step's progress is kept: a table of one row in the store that the step makes. What is in the store and what
/// the row says are committed together (InsideCrashSafety §4.3). Only the ledger knows that it is a row. While pages
/// are written, checkpoint files are newer than it (InsideTheHouse §4).
struct ProgressRow {
    /// Not an entity's table, which would begin with Z.
    private static let table = "zz_causeway_progress"

    private let staging: StagingConnection

    /// The progress in a file of an earlier run, if it has one.
    init(in staging: StagingConnection) {
        self.staging = staging
    }

    /// Makes room for the progress in a fresh store.
    ///
    /// - Parameters:
    ///   - room: approximately the most bytes that it will take.
    ///   - staging: the store's connection, inside its first transaction.
    /// - Throws: `.cannotCreate`, or `.inputOutput` where the disk is full.
    init(reserving room: Int, in staging: StagingConnection) throws(EngineError) {
        self.staging = staging
        do {
            try Self.reserve(room, on: staging.connection)
        } catch {
            throw EngineError(creating: error, at: staging.path)
        }
    }

    /// Makes the table, with a row of as many zeros.
    static func reserve(_ room: Int, on connection: borrowing Connection) throws(SQLiteError) {
        try connection.execute("CREATE TABLE \(table) (id INTEGER PRIMARY KEY CHECK (id = 1), state BLOB NOT NULL)")
        var insert = try connection.prepare("INSERT INTO \(table) VALUES (1, ?)")
        try insert.bind([UInt8](repeating: 0, count: room), at: 1)
        try insert.run()
    }

    /// Whether the table is there.
    static func isReserved(on connection: borrowing Connection) throws(SQLiteError) -> Bool {
        try connection.integer("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '\(table)'") != nil
    }

    /// Whether nothing was committed to it so far; false where that can't be read.
    func isBlank() throws(EngineError) -> Bool {
        do {
            guard try Self.isReserved(on: staging.connection) else { return true }
            var reader = FieldReader(try stored())
            return (try? reader.fixed()) == 0
        } catch {
            if StagingConnection.isTorn(error) { return false }
            throw EngineError(writing: error, during: path)
        }
    }

    /// Where it is kept, for messages.
    var path: String { staging.path }

    /// False after an error with which SQLite rolled everything back: a full disk, a failing one.
    var canCommit: Bool { staging.connection.isInTransaction }

    /// The last commit; nil if nothing can be read: then the store's content is useless.
    func read(_ identity: CheckpointIdentity) throws(EngineError) -> CheckpointContainer.Content? {
        let stored: [UInt8]
        do {
            stored = try self.stored()
        } catch {
            if StagingConnection.isTorn(error) { return nil }
            throw EngineError(writing: error, during: path)
        }
        var reader = FieldReader(stored)
        guard let length = try? reader.fixed(), length > 0, length <= UInt64(stored.count) - 8 else { return nil }
        // Damaged, or of another plan: both mean that this file can't be resumed.
        return try? CheckpointContainer.decode(
            Array(stored[8..<8 + Int(length)]), expecting: Mutant.isOn(.noPlanCheck) ? nil : identity)
    }

    /// Empty where there is no row, or none that holds bytes.
    private func stored() throws(SQLiteError) -> [UInt8] {
        var statement = try staging.connection.prepare("SELECT state FROM \(Self.table) WHERE id = 1")
        guard try statement.step(), statement.type(at: 0) == .blob, let bytes = statement.bytes(at: 0), bytes.count > 8
        else { return [] }
        return bytes
    }

    /// Saves the progress, durable together with all that was written before.
    func commit(_ container: [UInt8]) throws(EngineError) {
        try EngineError.writing("committing the new store") {
            if Mutant.isOn(.progressAfter) {
                try staging.connection.commit()
                try staging.connection.begin(.immediate)
            }
            try write(container)
            KillPoint.reach(.committing)
            try staging.connection.commit()
            KillPoint.reach(.committed)
            try staging.connection.begin(.immediate)
        }
    }

    /// The length in 8 bytes, the container, zeros: a value of the same length is overwritten in place, so the number
    /// of commits doesn't affect the store's pages.
    private func write(_ container: [UInt8]) throws(SQLiteError) {
        var writer = FieldWriter()
        writer.write(fixed: UInt64(container.count))
        var state = writer.bytes + container
        let room = try staging.connection.count("SELECT length(state) FROM \(Self.table) WHERE id = 1")
        state += [UInt8](repeating: 0, count: max(0, room - state.count))
        var update = try staging.connection.prepare("UPDATE \(Self.table) SET state = ?1 WHERE id = 1")
        try update.bind(state, at: 1)
        try update.run()
    }

    // MARK: - When the step is done

    /// Removes the progress from a finished store. A store that was sealed before isn't written to: it may be in WAL
    /// mode by now, and would get a -wal.
    static func remove(on connection: borrowing Connection) throws(SQLiteError) {
        guard try isReserved(on: connection) else { return }
        try connection.begin(.immediate)
        try connection.execute("DROP TABLE \(table)")
        if try connection.pragmaInteger("auto_vacuum") == incremental {
            // Frees the row's pages.
            try connection.execute("PRAGMA incremental_vacuum(\(vacuumedPages))")
        }
        try connection.commit()
    }

    /// `PRAGMA auto_vacuum` of all stores that Core Data makes.
    private static let incremental: Int64 = 2

    /// Most pages to free: a progress row takes a few, and moving many would take long.
    private static let vacuumedPages = 64
}
