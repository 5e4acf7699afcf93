package import CausewayPlatform
package import CausewaySQLite
import CausewaySQLiteFile
package import CausewayStoreFormat

/// A store that is read: a connection with an open transaction, so that every statement sees the same rows.
///
/// Three ways to hold one:
/// - `reading`: for a plan, an inspection or `--output`. No byte of the store changes; other programs may write. If
///   SQLite can't take locks, the file is checked again after reading (`requireUnchanged`).
/// - `owning`: in place. The WAL is folded in by SQLite, and a guard connection holds RESERVED from now to the swap:
///   readers work, writers are told that it is busy (InsideCrashSafety §4.2).
/// - `staged`: a staging store of an earlier step.
///
/// Sendable although its connections aren't: the reader of a pass uses `connection` while the pass runs, the thread
/// that runs the migration uses it between passes.
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
    package let identity: FileStatus
    /// `PRAGMA user_version` and `application_id`: the app's own, 0 in stores that Core Data alone writes.
    package let userVersion: Int64
    package let applicationID: Int64
    /// Other programs may write to the file while it is read.
    let isUnlocked: Bool
    package let metadata: StoreMetadata
    package let schema: StoreSchema
    package let connection: Connection
    private var guardian: Guardian?
    /// See `pageFile`.
    var opened: OpenedPages?
    /// Connections that were opened with the store.
    package var waiting: [SourceReader] = []
    /// The -wal as it was before the transaction began; nil without one.
    let walBefore: FileStatus?
    /// Where the -wal breaks off; nil where it can be read to its end, and in an owned store, which has none.
    package let walBreak: WALBreak?

    /// Opens a store to read it; its bytes stay as they are.
    ///
    /// - Parameters:
    ///   - location: where it is.
    ///   - removesEmptyLog: whether a `-wal` without content, and its `-shm`, go when the store is released, if no
    ///     other program uses them: the reader of a migration that was killed leaves such. Otherwise they stay.
    ///   - shouldStop: asked every few milliseconds while a statement runs; true ends it with `.interrupted`.
    /// - Returns: the store, open until it is released.
    /// - Throws: why it can't be read: `.sourceData`, `.busy` where another program holds it alone, and others.
    package static func reading(
        _ location: StoreLocation, removesEmptyLog: Bool = false, shouldStop: (() -> Bool)? = nil
    ) throws(EngineError) -> SourceStore {
        let file = try StoreFile(checking: location)
        // Before SQLite opens it: a writer may restart the log.
        try ForeignLog.refuseOtherPages(location, pageSize: file.header.pageSize)
        let walBreak = try file.walBreak(location)
        let keepsLog = try file.keepsLog(location, removesEmptyLog: removesEmptyLog)
        let mode = try file.readingMode(location)
        let uuid = ForeignLog.uuidWithoutLog(location)
        let store = try SourceStore(
            location, file: file, walBreak: walBreak, sight: mode == .immutable ? .unlocked : .locked,
            connection: try file.readingConnection(location, mode, keepsLog: keepsLog), guardian: nil,
            shouldStop: shouldStop)
        do throws(EngineError) {
            try ForeignLog.refuseOtherStore(location, without: uuid, with: store.metadata.uuid)
            return store
        } catch {
            store.release()
            throw error
        }
    }

    /// Opens a store as its file alone has it, without what is in its -wal, and without locks.
    static func withoutLog(_ location: StoreLocation) throws(EngineError) -> SourceStore {
        let file = try StoreFile(checking: location)
        let connection = try EngineError.reading(location.path) {
            try Connection(path: location.path, mode: .immutable, hardening: .untrusted)
        }
        return try SourceStore(
            location, file: file, sight: .withoutLog, connection: connection, guardian: nil)
    }

    /// Between two looks whether a statement should stop.
    package static let instructionsBetweenLooks: Int32 = 100_000

    /// Opens a store to read it with several connections, all of which see the same rows although others write.
    ///
    /// The connections begin one after the other: if a program wrote in between, all begin again.
    package static func reading(
        _ location: StoreLocation, removesEmptyLog: Bool, companions count: Int
    ) throws(EngineError) -> SourceStore {
        var attempt = 1
        while true {
            let store = try reading(location, removesEmptyLog: removesEmptyLog)
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

    /// Opening takes milliseconds: a program that writes in every one of these intervals never stops writing.
    private static let openingAttempts = 50

    /// Opens a store to replace it.
    ///
    /// - Parameters:
    ///   - location: where it is.
    ///   - wasWAL: what the header said before earlier work folded the `-wal` in; nil: what it says now.
    ///   - hasWork: whether unfinished work expects the store as it is.
    /// - Returns: the store, with writers kept away from it until it is released.
    /// - Throws: `.busy` where others use it, or why it can't be opened.
    package static func owning(
        _ location: StoreLocation, wasWAL: Bool? = nil, hasWork: Bool = false
    ) throws(EngineError) -> SourceStore {
        let file = try StoreFile(checking: location)
        // SQLite would fold it in.
        try ForeignLog.refuseOtherPages(location, pageSize: file.header.pageSize)
        let isWAL = file.header.isWAL || wasWAL == true
        let guardian = try Guardian(location, restoringWAL: isWAL, hasWork: hasWork)
        let connection = try EngineError.reading(location.path) {
            try Connection(path: location.path, mode: .readOnly, hardening: .untrusted)
        }
        return try SourceStore(location, file: file, isWAL: isWAL, connection: connection, guardian: guardian)
    }

    /// Opens a finished staging store.
    package static func staged(_ path: String) throws(EngineError) -> SourceStore {
        let location = try StoreLocation(existing: path)
        let file = try StoreFile(checking: location)
        return try EngineError.at(path) {
            let connection = try Connection(path: location.path, mode: .readOnly, hardening: .untrusted)
            return try SourceStore(location, file: file, connection: connection, guardian: nil)
        }
    }

    /// What a connection sees of a store, and whether others may change it meanwhile.
    private enum Sight {
        case locked, unlocked
        /// As if it had no `-wal`.
        case withoutLog
    }

    private init(
        _ location: StoreLocation, file: StoreFile, isWAL: Bool? = nil, walBreak: WALBreak? = nil,
        sight: Sight = .locked, connection: consuming Connection,
        guardian: consuming Guardian?,
        shouldStop: (() -> Bool)? = nil
    ) throws(EngineError) {
        self.location = location
        self.isWAL = isWAL ?? file.header.isWAL
        bytes = Int(file.bytes)
        identity = file.status
        isUnlocked = sight != .locked
        self.walBreak = walBreak
        walBefore = sight == .withoutLog ? nil : try Self.walStatus(location)
        var connection = connection
        do {
            // From the first statement on: nothing that this connection runs may write, attach or set.
            try connection.setAuthorization(.readOnly)
            try connection.setBusyTimeout(milliseconds: Self.busyTimeout)
            try connection.begin(.deferred)
            try connection.loadStoreSchema(pageSize: file.header.pageSize)
            connection.setProgressHandler(everyInstructions: Self.instructionsPerLook, shouldStop: Self.budget())
            pageSize = try connection.pragmaInteger("page_size")
            autoVacuum = try connection.pragmaInteger("auto_vacuum")
            userVersion = try connection.pragmaInteger("user_version")
            applicationID = try connection.pragmaInteger("application_id")
            isUTF8 = try connection.pragmaText("encoding") == "UTF-8"
            // The schema first: the metadata are read only where they are an ordinary table.
            schema = try StoreSchema(reading: connection)
            metadata = try StoreMetadata(reading: connection)
            if let shouldStop {
                connection.setProgressHandler(everyInstructions: Self.instructionsBetweenLooks, shouldStop: shouldStop)
            } else {
                connection.removeProgressHandler()
            }
            // Virtual tables and table-valued functions are left out: they run code.
            try connection.setAuthorization(.readOnlyTables(Set(schema.tables.keys)))
        } catch {
            let failure = Self.failure(error, location)
            throw sight != .withoutLog && Self.isOfContent(error) ? ForeignLog.explained(failure, location) : failure
        }
        self.connection = connection
        self.guardian = guardian
    }

    /// A failure to open is the system's if the store was read a moment ago and files can be made beside it: SQLite
    /// needs a `-shm` there, and doesn't say why it has none.
    private static func failure(_ error: any Error, _ location: StoreLocation) -> EngineError {
        var failure = EngineError(error, during: location.path)
        if case .cannotOpen? = (error as? SQLiteError)?.code, Files.mayWrite(in: location.directory) {
            failure.kind = .inputOutput
            failure.remedy = "check the disk, then run again"
        }
        return failure
    }

    /// Whether an error is about what the pages hold.
    private static func isOfContent(_ error: any Error) -> Bool {
        switch error {
        case let error as SQLiteError: error.isDamage
        case let error as StoreFormatError:
            [.unusableMetadata, .notACoreDataStore].contains(error.code) || error.cause?.isDamage == true
        default: false
        }
    }

    /// Steps of SQLite's virtual machine between two checks of the budget: about a tenth of a second.
    private static let instructionsPerLook: Int32 = 10_000_000
    /// Checks until schema and metadata must be read. A schema at its limits takes less than one.
    private static let looksAtMost = 50

    /// Limits what a malicious store can make us compute before its first row is read.
    private static func budget() -> () -> Bool {
        var looks = 0
        return {
            looks += 1
            return looks > looksAtMost
        }
    }

    /// Ends the read transaction and lets a guarded store take back its journal mode; where unfinished work is kept, it
    /// stays as that work expects it.
    package func release(keepingWork: Bool = false) {
        waiting.removeAll()
        // Nothing was written through this connection; a failing ROLLBACK of a read can't lose anything.
        try? connection.rollback()
        guardian?.release(keepingWork: keepingWork)
        guardian = nil
    }

    /// Ends reading and takes the exclusive lock, so that no one can write between the last check and the rename.
    /// The timeout, in seconds, is for other readers to end.
    package func lockForSwap(timeout: Double, cancellation: Cancellation) throws(EngineError) {
        guard let guardian else { preconditionFailure("only an owned store is swapped") }
        try EngineError.reading(location.path) { try connection.rollback() }
        waiting.removeAll()
        try guardian.lockExclusively(timeout: timeout, cancellation: cancellation)
    }

    /// The store at the path is the new one: the guard has nothing left to restore.
    package func swapped() {
        guardian?.release(keepingWork: true)
        guardian = nil
    }

    /// Reads every page and every row's structure; content can't be checked, SQLite has no checksums.
    ///
    /// - Parameters:
    ///   - tables: in lower case, whose pages others check, with those of their indexes, and with the free pages. If
    ///     there are any, nothing is said about pages that nobody uses.
    ///   - cancellation: checked before each table.
    /// - Returns: a warning about space that holds no rows.
    /// - Throws: `.sourceData` with what SQLite finds.
    @discardableResult
    package func checkIntegrity(
        except tables: Set<String> = [], _ cancellation: Cancellation = Cancellation()
    ) throws(EngineError) -> String? {
        if !tables.isEmpty, StructureCheck.knowsTables, try areSound(except: tables, cancellation) { return nil }
        try cancellation.check()
        return try EngineError.at(location.path) {
            let findings = try StructureCheck.sorted(connection, withIndexes: false, tables: tableNames)
            guard findings.damage.isEmpty else {
                let error = EngineError(
                    .sourceData, "\(location.path): the store is damaged", details: findings.damage + findings.space,
                    remedy: "restore a backup, or save what can be read with causeway export --salvage")
                throw hasNewerPages ? ForeignLog.explained(error, location) : error
            }
            guard let first = findings.space.first else { return nil }
            let more = findings.space.count - 1
            let least = findings.space.count < StructureCheck.namedFindings ? "" : "at least "
            return """
                \(location.path): rows and indexes are sound, but not the space that holds none: \(first)\
                \(more > 0 ? ", and \(least)\(more) more" : ""); the new store is made without it
                """
        }
    }

    private var tableNames: [String] { schema.tables.values.map(\.name).sorted() }

    /// Whether SQLite can go on writing into a copy of the file: the list of free pages and the largest root page are
    /// right. Reads that list and the schema.
    package var canBeContinued: Bool {
        hasRightLargestRoot
            && (!StructureCheck.knowsTables
                || StructureCheck.isSound(connection, withIndexes: false, "sqlite_schema"))
    }

    private func areSound(except tables: Set<String>, _ cancellation: Cancellation) throws(EngineError) -> Bool {
        guard hasRightLargestRoot else { return false }
        let others = schema.tables.filter { !tables.contains($0.key) }.map(\.value.name).sorted()
        for table in others + ["sqlite_schema"] {
            try cancellation.check()
            guard StructureCheck.isSound(connection, withIndexes: false, table) else { return false }
        }
        return true
    }

    /// Has SQLite check everything where the header says another largest root page than the schema has.
    ///
    /// - Returns: a warning about space that holds no rows.
    /// - Throws: `.sourceData` with what SQLite finds.
    package func checkLargestRoot(_ cancellation: Cancellation) throws(EngineError) -> String? {
        hasRightLargestRoot ? nil : try checkIntegrity(except: [], cancellation)
    }

    /// SQLite compares this number of the header with the schema only where it checks the whole database, and says that
    /// the disk is full where it makes a table behind a wrong one.
    private var hasRightLargestRoot: Bool {
        guard autoVacuum != 0 else { return true }
        let largest = schema.objects.map(\.rootPage).max() ?? 0
        return (try? pageFile()).map { $0.layout.header.largestRootPage == max(1, Int(clamping: largest)) } ?? false
    }
}
