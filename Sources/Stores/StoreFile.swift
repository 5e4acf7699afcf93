package import CausewayPlatform
import CausewaySQLite
package import CausewaySQLiteFile

/// A store's main file, checked before SQLite opens it: opening and closing the file ourselves later would drop
/// SQLite's locks (InsideCrashSafety §1).
package struct StoreFile {
    package let header: DatabaseHeader
    package let status: FileStatus
    /// Bytes of the main file and the -wal.
    package let bytes: Int64
    private let walBytes: Int64

    /// Refuses what can't be a store, each with its own reason.
    package init(checking location: StoreLocation) throws(EngineError) {
        let path = location.path
        let look = try StoreLook.settled(location)
        status = look.status
        walBytes = look.walBytes
        bytes = status.size + walBytes
        guard !look.head.isEmpty else {
            throw EngineError(
                .sourceData, "\(path): the file is empty: SQLite accepts it as a database, but it holds no store",
                remedy: "restore the store from a backup")
        }
        guard let header = DatabaseHeader(look.head) else {
            throw EngineError(
                .sourceData,
                look.head.count < DatabaseHeader.length
                    ? "\(path): the file is too short for a database"
                    : "\(path): not an SQLite database, or an encrypted one",
                remedy: "give the path of a Core Data store of type SQLite")
        }
        guard header.hasKnownVersions else {
            throw EngineError(
                .sourceData, "\(path): the file is damaged: its header names a format that SQLite doesn't write",
                remedy: Self.damageRemedy)
        }
        if let length = look.missingLength {
            throw EngineError(
                .sourceData,
                "\(path): the file is truncated: its header says \(length) bytes, the file has \(status.size)",
                remedy: Self.damageRemedy)
        }
        self.header = header
    }

    /// Bytes that a `-shm` takes at first (https://www.sqlite.org/walformat.html, 2.2), and some for its name.
    private static let roomOfSharedMemory = 64 << 10

    private static let damageRemedy =
        "copy the store again, restore a backup, or save what can be read with causeway export --salvage"

    /// Whether the `-wal` beside the store stays when the last connection to it closes: one that holds rows does, and
    /// an empty one that was there before.
    func keepsLog(_ location: StoreLocation, removesEmptyLog: Bool) throws(EngineError) -> Bool {
        guard header.isWAL, walBytes == 0 else { return walBytes > 0 }
        if removesEmptyLog { return false }
        return try EngineError.reading(location.wal) { try Files.exists(location.wal) }
    }

    /// How SQLite can read the store and leave nothing behind.
    ///
    /// In WAL mode it makes a `-wal` and a `-shm` with the store's own permissions, and can't remove them without write
    /// access to the store: then the application couldn't write to them either. If they don't exist and can't be made,
    /// as on a full disk, a store without rows in a `-wal` needs neither.
    func readingMode(_ location: StoreLocation) throws(EngineError) -> Connection.Mode {
        guard header.isWAL else { return .readOnly }
        let (mayWrite, mayMakeFiles) = (Files.mayWrite(to: location.path), Files.mayWrite(in: location.directory))
        let (hasBoth, free) = try EngineError.reading(location.path) {
            try (
                Files.exists(location.wal) && Files.exists(location.shm),
                DiskSpace.available(at: location.directory)
            )
        }
        let isFull = walBytes == 0 && free < Self.roomOfSharedMemory
        if hasBoth || (mayWrite && mayMakeFiles && !isFull) { return .readWrite }
        guard walBytes > 0 else { return .immutable }
        let obstacle =
            mayMakeFiles
            ? "the store's file is read-only for you, and its -shm would be read-only for every program"
            : "you can't make files in its folder"
        throw EngineError(
            .cannotCreate,
            "\(location.path): its -wal holds data that SQLite can't read without a -shm: \(obstacle)",
            remedy: """
                change the permissions (chmod u+w), or copy the store with its -wal and its support folder to a place that \
                you can write
                """)
    }

    /// A connection that changes no byte of the store.
    func readingConnection(
        _ location: StoreLocation, _ mode: Connection.Mode, keepsLog: Bool
    ) throws(EngineError) -> Connection {
        try EngineError.at(location.path) {
            // Opened for writing, SQLite would play it back; opened as immutable, it wouldn't look at it.
            if header.isWAL, try Self.hasHotJournal(location) {
                throw SQLiteError(code: .readOnlyRollback, message: "there is a hot journal", path: location.path)
            }
            let connection = try Connection(path: location.path, mode: mode, hardening: .untrusted)
            if mode == .readWrite {
                // A WAL database needs its -shm, which a read-only connection would leave behind. Opened for writing,
                // SQLite removes what it made; it must write nothing, and leave a -wal that stays as it is.
                try connection.setQueryOnly(true)
                try connection.setNoCheckpointOnClose(keepsLog)
            }
            return connection
        }
    }

    /// Whether a file begins as every database does.
    package static func isDatabase(_ path: String) throws(FileError) -> Bool {
        try Files.readPrefix(of: path, length: 16) == Array("SQLite format 3\0".utf8)
    }

    /// Where the -wal breaks off although there is more of it; nil where it doesn't. Before SQLite opens it for
    /// writing.
    package func walBreak(_ location: StoreLocation) throws(EngineError) -> WALBreak? {
        walBytes > 0 ? try WALBreak(in: location.wal, pageSize: header.pageSize) : nil
    }

    // MARK: - Hot journals

    /// SQLite's lock of a connection that writes (os.h, `RESERVED_BYTE`).
    private static let reservedByte: Int64 = 0x4000_0001

    /// Whether a program that ended in the middle of a transaction has left its journal: one with content, while no
    /// transaction is running.
    package static func hasHotJournal(_ location: StoreLocation) throws(EngineError) -> Bool {
        do {
            guard let journal = try Files.statusIfExists(location.journal),
                try !location.isSpent(location.journal, journal)
            else { return false }
            return try !RangeLock.isHeldByOthers(location.path, start: reservedByte, length: 1)
        } catch {
            throw EngineError(reading: error, at: error.path)
        }
    }

    /// Lets SQLite roll an interrupted transaction back, which only a connection that may write can do. For a store
    /// that will be replaced: a read-only connection would refuse it. The journal was copied before.
    package static func rollBackHotJournal(_ location: StoreLocation) throws(EngineError) {
        do {
            let connection = try Connection(path: location.path, mode: .readWrite, hardening: .untrusted)
            _ = try connection.pragmaInteger("schema_version")
            try connection.close()
            try Files.syncDirectory(location.directory)
        } catch let error as SQLiteError where error.code == .readOnlyRollback {
            // SQLite opens for reading what it can't open for writing, and doesn't say why it can't.
            throw EngineError(
                Files.mayWrite(to: location.path) ? .inputOutput : .cannotCreate,
                "\(location.path): an unfinished transaction must be rolled back, and the store can't be written",
                remedy: "change the permissions, check the disk, or open it once with the application; then run again")
        } catch {
            throw EngineError(error, during: location.path)
        }
    }
}

extension StoreLocation {
    /// Whether the header says WAL; false if the file isn't a database.
    package func saysWAL() throws(FileError) -> Bool {
        DatabaseHeader(try Files.readPrefix(of: path, length: DatabaseHeader.length))?.isWAL ?? false
    }
}
