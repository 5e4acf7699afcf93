#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif
internal import CausewayPlatform
internal import CausewaySQLite

/// An application that writes rows into the store, in a process of its own. It acknowledges every row that SQLite has
/// committed: one line in a file, written after the commit. An acknowledged row must never be lost.
package struct StoreWriter {
    /// How the application uses its connections.
    package enum Style: String, CaseIterable, Sendable {
        /// A connection for every row.
        case fresh
        /// One connection for all rows, opened anew only when SQLite says that the file was moved away.
        case kept
        /// As in Core Data: a connection for some rows, switched to WAL when it is opened.
        case coreData
    }

    package var store: String
    package var acknowledgements: String
    /// The writer works while this file exists.
    package var whileExists: String
    package var name: String
    package var style: Style
    /// Milliseconds.
    package var busyTimeout: Int32
    package var seed: UInt64

    package init(
        store: String, acknowledgements: String, whileExists: String, name: String, style: Style, busyTimeout: Int32,
        seed: UInt64
    ) {
        self.store = store
        self.acknowledgements = acknowledgements
        self.whileExists = whileExists
        self.name = name
        self.style = style
        self.busyTimeout = busyTimeout
        self.seed = seed
    }

    /// Rows that one connection of the Core Data style writes.
    private static let rowsPerConnection = 8

    /// Writes until told to stop.
    ///
    /// - Throws: an error that a store in use may not give: a corrupt file, a missing table.
    package func run() throws {
        let file = try OpenFile(acknowledgements, mode: .createNew)
        var end: Int64 = 0
        var number = 0
        var random = SeededRandom(seed: seed)
        while try Files.exists(whileExists) {
            do {
                let connection = try open()
                var written = 0
                while style != .fresh || written == 0, style != .coreData || written < Self.rowsPerConnection {
                    guard try Files.exists(whileExists) else { break }
                    number += 1
                    if try write("\(name)-\(number)", connection) {
                        let line = Array("\(name)-\(number)\n".utf8)
                        try unsafe line.withUnsafeBytes { bytes in try unsafe file.write(bytes, at: end) }
                        end += Int64(line.count)
                    }
                    written += 1
                    // Between 0 and 3 milliseconds: other processes get their turn, and no two run in step.
                    usleep(UInt32.random(in: 0...3_000, using: &random))
                }
            } catch let error as SQLiteError where Self.isExpected(error) {
                // The file was moved away, or is locked while it is opened: it is opened again.
                usleep(500)
            }
        }
    }

    private func open() throws(SQLiteError) -> Connection {
        let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
        try connection.setBusyTimeout(milliseconds: busyTimeout)
        if style == .coreData { try connection.setJournalMode(.wal) }
        return connection
    }

    /// One transaction as in Core Data: reads the key from Z_PRIMARYKEY, writes the row, increments the key.
    ///
    /// - Returns: whether it was committed; false if the store is busy.
    private func write(_ marker: String, _ connection: borrowing Connection) throws(SQLiteError) -> Bool {
        do throws(SQLiteError) {
            try connection.begin(.immediate)
        } catch {
            if case .busy = error.code { return false }
            throw error
        }
        do throws(SQLiteError) {
            try insert(marker, connection)
            try connection.commit()
            return true
        } catch {
            // The first error is the one that matters; the connection may have rolled back by itself.
            do { try connection.rollback() } catch {}
            if case .busy = error.code { return false }
            throw error
        }
    }

    private func insert(_ marker: String, _ connection: borrowing Connection) throws(SQLiteError) {
        let (entity, key) = try nextKey(connection)
        var row = try connection.prepare("INSERT INTO ZENTRY (Z_PK, Z_ENT, Z_OPT, ZMARKER) VALUES (?, ?, 1, ?)")
        try row.bind(key, at: 1)
        try row.bind(entity, at: 2)
        try row.bind(marker, at: 3)
        try row.run()
        var count = try connection.prepare("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?")
        try count.bind(key, at: 1)
        try count.bind(entity, at: 2)
        try count.run()
    }

    private func nextKey(_ connection: borrowing Connection) throws(SQLiteError) -> (entity: Int64, key: Int64) {
        var statement = try connection.prepare("SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Entry'")
        guard try statement.step() else {
            throw SQLiteError(code: .corrupt, message: "Z_PRIMARYKEY has no row for Entry", path: store)
        }
        return (statement.int64(at: 0), statement.int64(at: 1) + 1)
    }

    /// Errors that a store may give while other processes use, move or replace it.
    static func isExpected(_ error: SQLiteError) -> Bool {
        switch error.code {
        case .busy, .locked, .readOnlyMoved, .lockProtocol: true
        // A sidecar was removed while it was opened, or a file was renamed between two looks at it.
        case .cannotOpen, .schemaChanged: true
        // A connection to the file that is now the backup took the new store's journal for its own, and the new store's
        // writer removed it first (IOERR_DELETE_NOENT).
        case ResultCode(rawValue: 10 | 23 << 8): true
        default: false
        }
    }
}
