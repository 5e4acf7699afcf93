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

    /// Opens a store, has it read and releases it.
    ///
    /// - Throws: what `body` throws, or `.busy` where the store was written to meanwhile and no lock could prevent it.
    package static func reading<Answer>(
        _ location: StoreLocation, removesEmptyLog: Bool = false, shouldStop: (() -> Bool)? = nil,
        _ body: (SourceStore) throws(EngineError) -> Answer
    ) throws(EngineError) -> Answer {
        let store = try reading(location, removesEmptyLog: removesEmptyLog, shouldStop: shouldStop)
        defer { store.release() }
        let answer: Answer
        do throws(EngineError) {
            answer = try body(store)
        } catch {
            // A file that changes while it is read may look damaged in any way.
            if !error.isInterrupt { try store.requireUnchanged() }
            throw error.isOfPages && store.hasNewerPages ? ForeignLog.explained(error, location) : error
        }
        try store.requireUnchanged()
        return answer
    }

    /// Refuses what was read without locks if the file has changed since it was opened.
    ///
    /// In WAL mode a writer changes the file only at a checkpoint: until then it holds one complete state.
    package func requireUnchanged() throws(EngineError) {
        guard isUnlocked else { return }
        let now = try EngineError.reading(location.path) { try Files.status(of: location.path) }
        guard
            !now.isSameFile(as: identity) || now.size != identity.size
                || now.modificationTime != identity.modificationTime
        else { return }
        throw EngineError(
            .busy, "\(location.path): another program wrote to the store while it was read",
            remedy: "run again when no other program uses it")
    }
}
