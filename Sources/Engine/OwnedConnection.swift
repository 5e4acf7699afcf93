import CausewaySQLite
import CausewayStoreFormat

extension Connection {
    /// A connection to a store that somebody gave us and that is to be owned: before it sets anything, its schema is read
    /// within the limits of every store.
    ///
    /// `PRAGMA journal_mode` has SQLite parse the whole schema first, which a store that was made to do harm can drag out
    /// (reliability.md §2.4); the connection keeps what it has parsed here. A hot journal is rolled back.
    ///
    /// - Throws: `.sourceData` where the schema is beyond the limits or damaged, `.busy` where it can't be read now.
    static func owning(_ location: StoreLocation) throws(EngineError) -> Connection {
        do throws(SQLiteError) {
            var connection = try Connection(path: location.path, mode: .readWrite, hardening: .untrusted)
            try connection.setAuthorization(.readOnly)
            // Reads the header and parses nothing; before it, the page size is SQLite's own.
            _ = try connection.pragmaInteger("schema_version")
            let pageSize = try connection.pragmaInteger("page_size")
            try connection.loadSchema(
                maximumRows: StoreSchema.maximumObjects, maximumBytes: StoreSchema.maximumBytes,
                pageSize: Int(clamping: pageSize))
            try connection.setAuthorization(.unrestricted)
            return connection
        } catch {
            guard error.code == .tooBig else { throw EngineError(reading: error, during: location.path) }
            throw EngineError(StoreFormatError(.limitExceeded, error.message), path: location.path)
        }
    }
}
