import CausewayPlatform
package import CausewaySQLite
import CausewayStoreFormat

/// Another connection to a source store, on the same rows: for look-ups while the store's own connection streams.
///
/// Sendable although its connection isn't: only one thread uses it.
package final class SourceReader: @unchecked Sendable {
    package let connection: Connection

    package init(_ connection: consuming Connection) {
        self.connection = connection
    }
}

extension SourceStore {
    /// Connections that see exactly what this store's own connection sees.
    ///
    /// In rollback mode its SHARED lock keeps every writer out. In WAL mode another program may write when the store
    /// isn't owned: if the -wal has changed since our transaction began, that is refused.
    package func companions(_ count: Int) throws(EngineError) -> [SourceReader] {
        if waiting.count >= count { return Array(waiting.prefix(count)) }
        var result: [SourceReader] = []
        for _ in 0..<count {
            try EngineError.reading(location.path) {
                var connection = try Connection(
                    path: location.path, mode: isUnlocked ? .immutable : .readOnly, hardening: .untrusted)
                try connection.setAuthorization(.readOnlyTables(Set(schema.tables.keys)))
                try connection.begin(.deferred)
                _ = try connection.pragmaInteger("schema_version")
                result.append(SourceReader(connection))
            }
        }
        guard try Self.walStatus(location) == walBefore else {
            throw EngineError(
                .busy, "\(location.path): another program writes to the store",
                remedy: "run again when no other program uses it")
        }
        return result
    }

    /// nil where there is none, or an empty one: SQLite makes that for a reader.
    static func walStatus(_ location: StoreLocation) throws(EngineError) -> FileStatus? {
        try EngineError.reading(location.wal) {
            guard let status = try Files.statusIfExists(location.wal), status.size > 0 else { return nil }
            return status
        }
    }
}
