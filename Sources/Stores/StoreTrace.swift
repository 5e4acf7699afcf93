import CausewayPlatform

/// What a store's files show before a run, so that the run can say afterwards what it did to them.
///
/// Taken only under the work directory's lock, and while no connection of this process has the store open: closing a
/// file drops SQLite's locks on it.
package struct StoreTrace {
    private let location: StoreLocation
    private let status: FileStatus
    private let isWAL: Bool
    private let walBytes: Int64
    /// A journal that SQLite may play into the store; one that PERSIST mode has ended is none.
    private let hasJournal: Bool

    /// - Throws: why the store can't be read; the run would fail for the same reason.
    package init(_ location: StoreLocation) throws(EngineError) {
        self.location = location
        do {
            status = try Files.status(of: location.path)
            isWAL = status.kind == .regular ? try location.saysWAL() : false
            walBytes = try Files.statusIfExists(location.wal)?.size ?? 0
            let journal = try Files.statusIfExists(location.journal)
            hasJournal = if let journal { try !location.isSpent(location.journal, journal) } else { false }
        } catch {
            throw EngineError(reading: error, at: location.path)
        }
    }

    /// What a run that has replaced nothing did to the store. It folds a `-wal` in and rolls a journal back, as every
    /// program does that opens the store; other programs made all other changes.
    package func state() -> EngineError.StoreState {
        guard let now = try? StoreTrace(location), now.status.isSameFile(as: status) else { return .untouched }
        var done: [String] = []
        if hasJournal, !now.hasJournal {
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
