import CausewayPlatform
import CausewaySQLiteFile
import CausewayStoreFormat

/// A `-wal` that doesn't belong to the file beside it: another store's, or that of another moment of the store.
///
/// SQLite takes every log whose own checksums are right: nothing in it names the database. Then its pages replace some
/// of the store's, which looks like damage. Two things prove that a log is foreign: pages of another size, which a
/// database in WAL mode can't get, and another store's UUID. A store that is damaged with its log and sound without it
/// makes it likely.
enum ForeignLog {
    /// Refuses a log whose pages have another size. Before SQLite opens the store.
    static func refuseOtherPages(_ location: StoreLocation, pageSize: Int) throws(EngineError) {
        let size: Int? = try EngineError.reading(location.wal) {
            guard let status = try Files.statusIfExists(location.wal), status.kind == .regular,
                status.size > WriteAheadLogScan.headerLength
            else { return nil }
            let header = try Files.readPrefix(of: location.wal, length: WriteAheadLogScan.headerLength)
            return WriteAheadLogScan(header: header, pageSize: pageSize).statedPageSize
        }
        guard let size, size != pageSize else { return }
        throw refusal(location, "its pages have \(size) bytes, those of the store \(pageSize)")
    }

    /// The UUID of a store that has a log, as its file alone has it; nil where that can't be read. Before SQLite opens
    /// the store: closing another descriptor of the file would drop its locks (InsideCrashSafety §2.1).
    static func uuidWithoutLog(_ location: StoreLocation) -> String? {
        guard hasLog(location), let alone = try? SourceStore.withoutLog(location) else { return nil }
        defer { alone.release() }
        return alone.metadata.uuid
    }

    /// Refuses a log with which the store has another UUID than without it.
    static func refuseOtherStore(_ location: StoreLocation, without uuid: String?, with other: String)
        throws(EngineError)
    {
        guard let uuid, uuid != other else { return }
        throw refusal(location, "with it the store's UUID is \(other), without it \(uuid)")
    }

    private static func hasLog(_ location: StoreLocation) -> Bool {
        ((try? Files.statusIfExists(location.wal))?.size ?? 0) > 0
    }

    /// - Parameters:
    ///   - error: why the store can't be read.
    ///   - location: where it is.
    /// - Returns: that its log doesn't belong to it, if it is sound without the log; else the same error.
    static func explained(_ error: EngineError, _ location: StoreLocation) -> EngineError {
        guard error.kind == .sourceData, isSoundWithoutLog(location) else { return error }
        return refusal(location, "the store is damaged with it", details: [error.message] + error.details)
    }

    /// Whether there is a log without which SQLite finds no damage.
    static func isSoundWithoutLog(_ location: StoreLocation) -> Bool {
        guard hasLog(location), let alone = try? SourceStore.withoutLog(location) else { return false }
        defer { alone.release() }
        do throws(EngineError) {
            try alone.checkIntegrity()
            return true
        } catch {
            return false
        }
    }

    private static func refusal(
        _ location: StoreLocation, _ reason: String, details: [String] = []
    ) -> EngineError {
        EngineError(
            .sourceData,
            "\(location.wal): doesn't belong to this store: \(reason); the store by itself \(soundness(location))",
            details: details,
            remedy: """
                put the -wal that belongs to the store in its place; or, if there is none, work on a copy of the store's \
                file alone, without -wal and -shm: it lacks what was written since the last checkpoint
                """)
    }

    private static func soundness(_ location: StoreLocation) -> String {
        isSoundWithoutLog(location) ? "is sound" : "can't be read as a sound one"
    }
}

extension SourceStore {
    /// Whether the store has a log without which SQLite finds no damage. Reads every page of its file.
    package var isSoundWithoutLog: Bool { hasNewerPages && ForeignLog.isSoundWithoutLog(location) }
}
