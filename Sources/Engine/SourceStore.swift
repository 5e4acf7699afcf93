import CausewayPlatform
package import CausewaySQLite
import CausewaySQLiteFile
package import CausewayStoreFormat

/// A store that is read: a connection with an open transaction, so that every statement sees the same rows.
///
/// Three ways to hold one:
/// - `reading`: for a plan, an inspection or `--output`. No byte of the store changes; writers may go on.
/// - `owning`: in place. The WAL is folded in by SQLite, and a guard connection holds RESERVED from now to the swap:
///   readers work, writers are told that it is busy (reliability.md §4.2).
/// - `staged`: a staging store of an earlier step.
///
/// Sendable although its connections aren't: the reader of a pass uses `connection` while the pass runs, the thread that
/// runs the migration uses it between passes; nobody else has it.
package final class SourceStore: @unchecked Sendable {
    /// How long to wait for another program's lock.
    private static let busyTimeout: Int32 = 5_000

    package let location: StoreLocation
    /// Journal flag of the header when it was opened.
    package let isWAL: Bool
    package let pageSize: Int64
    package let autoVacuum: Int64
    package let isUTF8: Bool
    /// Bytes of the store, its -wal included.
    package let bytes: Int
    /// The file that was opened.
    let identity: FileStatus
    /// `PRAGMA user_version` and `application_id`: the app's own, 0 in stores that Core Data alone writes.
    let userVersion: Int64
    let applicationID: Int64
    package let metadata: StoreMetadata
    package let schema: StoreSchema
    package let connection: Connection
    private var guardian: Guardian?
    /// Connections that were opened with the store, for whoever needs them.
    var waiting: [SourceReader] = []
    /// The -wal as it was before the transaction began; nil without one.
    let walBefore: FileStatus?

    /// Opens a store to read it; its bytes stay as they are.
    package static func reading(_ location: StoreLocation) throws(EngineError) -> SourceStore {
        let file = try StoreFile(checking: location)
        return try SourceStore(location, file: file, connection: try file.readingConnection(location), guardian: nil)
    }

    /// Opens a store to read it with several connections, all of which see the same rows although others write.
    ///
    /// The connections begin one after the other: where somebody has written in between, all begin again.
    static func reading(_ location: StoreLocation, companions count: Int) throws(EngineError) -> SourceStore {
        var attempt = 1
        while true {
            let store = try reading(location)
            do throws(EngineError) {
                store.waiting = try store.companions(count)
                return store
            } catch {
                store.release()
                guard error.kind == .busy, attempt < openingAttempts else { throw error }
                attempt += 1
            }
        }
    }

    /// Opening takes milliseconds: a program that writes in each of so many intervals writes all the time.
    private static let openingAttempts = 50

    /// Opens a store to replace it.
    static func owning(_ location: StoreLocation) throws(EngineError) -> SourceStore {
        let file = try StoreFile(checking: location)
        let guardian = try Guardian(location, restoringWAL: file.header.isWAL)
        let connection: Connection
        do {
            connection = try Connection(path: location.path, mode: .readOnly, hardening: .untrusted)
        } catch {
            throw EngineError(reading: error, during: location.path)
        }
        return try SourceStore(location, file: file, connection: connection, guardian: guardian)
    }

    /// Opens a finished staging store.
    static func staged(_ path: String) throws(EngineError) -> SourceStore {
        let location = try StoreLocation(existing: path)
        let file = try StoreFile(checking: location)
        do {
            let connection = try Connection(path: location.path, mode: .readOnly, hardening: .untrusted)
            return try SourceStore(location, file: file, connection: connection, guardian: nil)
        } catch {
            throw EngineError(error, during: path)
        }
    }

    private init(
        _ location: StoreLocation, file: StoreFile, connection: consuming Connection, guardian: consuming Guardian?
    ) throws(EngineError) {
        self.location = location
        isWAL = file.header.isWAL
        bytes = Int(file.bytes)
        identity = file.status
        walBefore = try Self.walStatus(location)
        do {
            try connection.setBusyTimeout(milliseconds: Self.busyTimeout)
            try connection.begin(.deferred)
            pageSize = try connection.pragmaInteger("page_size")
            autoVacuum = try connection.pragmaInteger("auto_vacuum")
            userVersion = try connection.pragmaInteger("user_version")
            applicationID = try connection.pragmaInteger("application_id")
            isUTF8 = try connection.pragmaText("encoding") == "UTF-8"
            metadata = try StoreMetadata(reading: connection)
            schema = try StoreSchema(reading: connection)
        } catch {
            throw EngineError(error, during: location.path)
        }
        self.connection = connection
        self.guardian = guardian
    }

    /// Ends the read transaction and lets a guarded store take back its journal mode.
    package func release() {
        waiting.removeAll()
        // Nothing was written through this connection; a failing ROLLBACK of a read can't lose anything.
        try? connection.rollback()
        guardian?.release()
        guardian = nil
    }

    /// Ends reading and takes the exclusive lock, so that nobody can write between the last check and the rename.
    func lockForSwap() throws(EngineError) {
        guard let guardian else { preconditionFailure("only an owned store is swapped") }
        do {
            try connection.rollback()
        } catch {
            throw EngineError(reading: error, during: location.path)
        }
        try guardian.lockExclusively()
    }

    /// The store at the path is the new one: the guard has nothing left to restore.
    func swapped() {
        guardian?.abandon()
        guardian = nil
    }

    /// Reads every page and every row's structure; content can't be checked, SQLite has no checksums.
    func checkIntegrity() throws(EngineError) {
        do {
            var statement = try connection.prepare("PRAGMA quick_check(20)")
            var findings: [String] = []
            while try statement.step() { findings.append(try statement.string(at: 0) ?? "") }
            guard findings == ["ok"] else {
                throw EngineError(
                    .sourceData, "\(location.path): the store is damaged", details: findings,
                    remedy: "recover it with sqlite3's .recover, or restore a backup")
            }
        } catch {
            throw EngineError(error, during: location.path)
        }
    }
}
