package import CausewaySQLite
import CausewayStoreFormat

extension Connection {
    /// A connection to a user's store, to own it: before it sets anything, it reads the schema within the limits of
    /// every store.
    ///
    /// `PRAGMA journal_mode` has SQLite parse the whole schema first, which a malicious store can make slow
    /// (InsideCrashSafety §2.4); the connection keeps what it has parsed here. A hot journal is rolled back.
    ///
    /// - Throws: `.sourceData` where the schema is beyond the limits or damaged, `.busy` where it can't be read now.
    package static func owning(_ location: StoreLocation) throws(EngineError) -> Connection {
        try EngineError.at(location.path) {
            var connection = try Connection(path: location.path, mode: .readWrite, hardening: .untrusted)
            try connection.setAuthorization(.readOnly)
            // A store that can't be read is left as it is: its -wal may be what is wrong with it.
            try connection.setNoCheckpointOnClose(true)
            // Reads the header and parses nothing; before it, the page size is SQLite's own.
            _ = try connection.pragmaInteger("schema_version")
            try connection.loadStoreSchema(pageSize: Int(clamping: try connection.pragmaInteger("page_size")))
            try connection.setAuthorization(.unrestricted)
            try connection.setNoCheckpointOnClose(false)
            return connection
        }
    }

    /// Has SQLite parse the schema, within the limits of every store.
    ///
    /// - Parameter pageSize: the database's, in bytes.
    /// - Throws: `StoreFormatError` beyond the limits, `SQLiteError` where the file can't be read.
    mutating func loadStoreSchema(pageSize: Int) throws {
        do throws(SQLiteError) {
            try loadSchema(
                maximumRows: StoreSchema.maximumObjects, maximumBytes: StoreSchema.maximumBytes, pageSize: pageSize)
        } catch {
            guard error.code == .tooBig else { throw error }
            throw StoreFormatError(.limitExceeded, error.message)
        }
    }
}
