import CausewayPlatform
import CausewaySQLite
package import CausewayStores

/// What a rollback has done.
public struct RollbackOutcome: Hashable, Sendable, Codable {
    /// The store's path, where the original is back.
    public var store: String
    /// The name that the original had as a backup.
    public var restored: String
    /// The new path of the migrated store; nil if there was none.
    public var keptAt: String?
    /// Copies of the original's `-wal`, which couldn't be read to its end when it was migrated.
    public var walCopies: [String] = []
    /// What the user should know.
    public var warnings: [String] = []
}

/// Puts a backup back in the store's place.
///
/// The migrated store gets a new name, so that nothing is lost: `<store>.rolledback-<digits>`. One rename is the commit
/// point, as in the swap; meanwhile both files are locked, so that no program writes to one of them. A store that
/// SQLite can't read is moved as it is: that is when a backup is needed.
package struct BackupRollback {
    private let store: String
    private let backup: String?

    /// - Parameters:
    ///   - store: the store's path.
    ///   - backup: which backup; nil where there is only one.
    package init(store: String, backup: String? = nil) {
        self.store = store
        self.backup = backup
    }

    /// - Throws: `.missing` without a backup, `.busy` if a program uses the store or the backup, `.sourceData` where
    ///   the backup is damaged, `.undecided` where a migration of the store isn't finished. The error's state is
    ///   `.restored` if the backup is in place, but may not survive a power loss.
    package func run() throws(EngineError) -> RollbackOutcome {
        let location = try Self.place(of: store)
        let backups = StoreBackups(location: location)
        let chosen = try backups.chosen(backup)
        let original = try StoreLocation(existing: chosen)
        let isThere = try Self.isThere(location)
        for path in isThere ? [location.path, original.path] : [original.path] { try refuseReadOnly(path) }
        let directory = try backups.lock(needsLinks: true)
        let sidecars = SidecarCopies(work: directory.path)
        var before: StoreTrace?
        var kept: [String] = []
        var outcome: RollbackOutcome
        do throws(EngineError) {
            if isThere { before = try StoreTrace(location) }
            try refuseOtherNames(of: location, chosen, original)
            let copies = try backups.walCopies(of: chosen)
            var defect = isThere ? nil : "\(location.path): no store was there"
            try reading(&defect) { () throws(EngineError) in _ = try StoreFile(checking: location) }
            var rolledBack =
                try reading(&defect) { () throws(EngineError) in
                    try rollBackHotJournal(location, directory.path, &kept)
                } ?? []
            let journals = try sidecars.paths(.journal)
            rolledBack += try rollBackHotJournal(original, directory.path, &kept)
            outcome = try replace(location, with: original, &defect, &kept)
            outcome.walCopies = copies
            outcome.warnings = rolledBack + outcome.warnings
            settle(sidecars, defect == nil ? [] : journals, &outcome)
        } catch {
            var error = error
            if error.state == .untouched { error.state = before?.state() ?? .untouched }
            error.details += kept.map { "an unfinished transaction's log is kept as \($0)" }
            // The thrown failure matters.
            try? directory.remove()
            throw error
        }
        outcome.warnings += backups.unlock(directory)
        return outcome
    }

    /// Removes the copies of sidecars. A store that can't be read keeps those of its journals: playing them into it may
    /// have been what broke it.
    private func settle(_ sidecars: SidecarCopies, _ journals: [String], _ outcome: inout RollbackOutcome) {
        do throws(EngineError) {
            if let kept = outcome.keptAt {
                outcome.warnings += try sidecars.publish(journals, .journal, beside: kept).map {
                    "\(outcome.store): the journal that SQLite played into it is kept as \($0)"
                }
            }
            try sidecars.removeSettled()
        } catch {
            outcome.warnings.append("\(error.message); the copies are kept in \(sidecars.work)")
        }
    }

    /// Where the store is, or was: backups stay beside a store that is gone.
    static func place(of store: String) throws(EngineError) -> StoreLocation {
        do throws(EngineError) {
            return try StoreLocation(existing: store)
        } catch {
            // A dangling link doesn't say where the store was.
            guard let location = try? StoreLocation(new: store), try !isThere(location),
                try !StoreBackups(location: location).paths().isEmpty
            else { throw error }
            return location
        }
    }

    static func isThere(_ location: StoreLocation) throws(EngineError) -> Bool {
        try EngineError.reading(location.path) { try Files.statusIfExists(location.path) != nil }
    }

    /// Runs what needs a readable database; nil without one, with the reason in `defect`.
    @discardableResult
    func reading<Value>(
        _ defect: inout String?, _ body: () throws(EngineError) -> Value
    ) throws(EngineError) -> Value? {
        guard defect == nil else { return nil }
        do throws(EngineError) {
            return try body()
        } catch {
            guard error.kind == .sourceData else { throw error }
            defect = error.message
            return nil
        }
    }

    /// Checked before anything changes: the exchange locks both files for writing.
    private func refuseReadOnly(_ path: String) throws(EngineError) {
        guard !Files.mayWrite(to: path) else { return }
        throw EngineError(
            .cannotCreate, "\(path): the file is read-only for you",
            remedy: "change its permissions (chmod u+w), then run again")
    }

    /// A backup that is only another name of a file: a rename would do nothing, or move a link.
    private func refuseOtherNames(
        of location: StoreLocation, _ backup: String, _ original: StoreLocation
    ) throws(EngineError) {
        guard original.path == backup else {
            throw EngineError(
                .undecided, "\(backup): is a symbolic link to \(original.path)", remedy: "put the file itself there")
        }
        let isOther = try EngineError.reading(backup) {
            guard let store = try Files.statusIfExists(location.path) else { return true }
            return try !Files.status(of: backup).isSameFile(as: store)
        }
        if isOther { return }
        throw EngineError(
            .undecided, "\(backup): is the store itself under another name; there is nothing to roll back",
            remedy: "remove that name if it isn't needed")
    }

    /// Copies a hot journal durably into the work directory, then lets SQLite roll it back.
    ///
    /// - Returns: a warning that says so.
    private func rollBackHotJournal(
        _ place: StoreLocation, _ work: String, _ kept: inout [String]
    ) throws(EngineError) -> [String] {
        guard try StoreFile.hasHotJournal(place) else { return [] }
        kept.append(try SidecarCopies(work: work).keep(.journal, of: place))
        try StoreFile.rollBackHotJournal(place)
        return ["\(place.path): an unfinished transaction of another program was rolled back"]
    }

    /// `defect` says why the store can't be read; `copies` gets the paths of copied logs.
    private func replace(
        _ location: StoreLocation, with backup: StoreLocation, _ defect: inout String?, _ copies: inout [String]
    ) throws(EngineError) -> RollbackOutcome {
        // Before any lock: opening the file again would drop it.
        let wasWAL = try requireSound(backup)
        let kept = location.path + ".rolledback-" + String(backup.path.suffix(8))
        var warnings =
            try reading(&defect) { () throws(EngineError) in try keepBrokenLogs(location, as: kept, &copies) } ?? []
        warnings += try keepBrokenLogs(backup, as: backup.path, &copies)
        let isThere = try Self.isThere(location)
        let isWAL = isThere ? try EngineError.reading(location.path) { try location.saysWAL() } : false
        let (users, moved) = try exchange(location, backup, areWAL: (isWAL, wasWAL), keepingAs: kept, &defect)
        var outcome = RollbackOutcome(store: location.path, restored: backup.path, keptAt: isThere ? kept : nil)
        if let defect { warnings.append(isThere ? "\(defect); the file is kept as it is" : defect) }
        outcome.warnings = warnings + moved
        if !users.isEmpty { outcome.warnings.append(StoreHandover.warning(users, location.path)) }
        // A migration keeps its original in rollback mode, and gives the new store the original's.
        if wasWAL || isWAL { outcome.warnings += restoreWAL(location) }
        return outcome
    }

    /// Copies a -wal that can't be read to its end, before it is folded in.
    ///
    /// - Returns: a warning that says so.
    private func keepBrokenLogs(
        _ place: StoreLocation, as name: String, _ copies: inout [String]
    ) throws(EngineError) -> [String] {
        guard let found = try StoreFile(checking: place).walBreak(place) else { return [] }
        let copy = try SidecarCopies.copy(place.wal, to: name)
        copies.append(copy)
        return ["\(found.sentence(place.wal)); a copy of it is kept as \(copy)"]
    }

    /// Refuses to put an unreadable backup in place of a readable store.
    ///
    /// - Returns: whether its header says WAL: a backup that a program has opened since the migration may be in that
    ///   mode.
    private func requireSound(_ backup: StoreLocation) throws(EngineError) -> Bool {
        try SourceStore.reading(backup) { store throws(EngineError) in
            try store.checkIntegrity()
            return store.isWAL
        }
    }

    // MARK: - After it

    /// Gives the store the original's mode. A run that is killed before leaves rollback mode, which Core Data changes
    /// by itself. SQLite increments the change counter and writes its own version into the header, so that readers
    /// notice. Every other byte stays the backup's.
    ///
    /// - Returns: a warning if that fails.
    private func restoreWAL(_ location: StoreLocation) -> [String] {
        do {
            let connection = try Connection.owning(location)
            try connection.setJournalMode(.wal)
            try connection.close()
            return []
        } catch {
            let reason = EngineError(error, during: location.path).message
            return ["\(location.path): isn't in WAL mode any more, though the backup was: \(reason)"]
        }
    }
}
