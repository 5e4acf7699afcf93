import CausewayPlatform
import CausewaySQLiteFile

/// What a store's files show before a run, so that the run can say afterwards what it did to them.
///
/// Only asked for under the work directory's lock, and where no connection of this process has the store open: closing a
/// file ends SQLite's locks on it.
struct StoreTrace {
    private let location: StoreLocation
    private let status: FileStatus
    private let isWAL: Bool
    private let walBytes: Int64
    private let journalBytes: Int64

    /// nil where there is no store that can be looked at.
    init?(_ location: StoreLocation) {
        self.location = location
        guard let status = try? Files.statusIfExists(location.path),
            let head = try? Files.readPrefix(of: location.path, length: DatabaseHeader.length)
        else { return nil }
        self.status = status
        isWAL = DatabaseHeader(head)?.isWAL ?? false
        walBytes = Self.bytes(location.wal)
        journalBytes = Self.bytes(location.journal)
    }

    private static func bytes(_ path: String) -> Int64 {
        ((try? Files.statusIfExists(path)) ?? nil)?.size ?? 0
    }

    /// What a run that has replaced nothing did to the store. It folds a `-wal` in and plays a journal back, as every
    /// program does that opens the store; changes to anything else are other programs'.
    func state() -> EngineError.StoreState {
        guard let now = StoreTrace(location), now.status.isSameFile(as: status) else { return .untouched }
        var done: [String] = []
        if journalBytes > 0, now.journalBytes == 0 {
            done.append("an unfinished transaction of another program was rolled back")
        }
        if walBytes > 0, now.walBytes == 0 { done.append("its -wal was written into it") }
        if isWAL, !now.isWAL {
            done.append("it is in rollback-journal mode")
        } else if isWAL, done.isEmpty, now.status.modificationTime != status.modificationTime {
            done.append("its journal mode was changed and changed back")
        }
        return done.isEmpty ? .untouched : .settled(done.joined(separator: ", and "))
    }
}
