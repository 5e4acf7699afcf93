import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
package import CausewayStores

/// Puts a backup back in the store's place.
///
/// The store that is there keeps a name of its own, so that nothing is lost: `<store>.rolledback-<digits>`. One rename is
/// the commit point, as in the swap; meanwhile both files are locked, so that no program that has one of them open writes
/// to it.
package struct BackupRollback {
    private let store: String
    private let backup: String?

    package struct Outcome: Hashable, Sendable {
        package var store: String
        /// The backup, whose file is the store now.
        package var restored: String
        /// Where the store is that was there before.
        package var keptAt: String
        /// Copies of the original's -wal, which couldn't be read to its end.
        package var walCopies: [String] = []
        package var warnings: [String] = []
    }

    /// - Parameters:
    ///   - store: the store's path.
    ///   - backup: which backup; nil where there is only one.
    package init(store: String, backup: String? = nil) {
        self.store = store
        self.backup = backup
    }

    /// - Throws: `.missing` without a backup, `.busy` where somebody uses the store or the backup, `.sourceData` where the
    ///   backup is damaged, `.undecided` where a migration of the store isn't finished. The error's state is `.restored`
    ///   where the backup is in its place, but not provenly for good.
    package func run() throws(EngineError) -> Outcome {
        let location = try StoreLocation(existing: store)
        let backups = StoreBackups(location: location)
        let chosen = try backups.chosen(backup)
        let original = try StoreLocation(existing: chosen)
        for path in [location.path, original.path] { try refuseReadOnly(path) }
        let directory = try backups.lock(needsLinks: true)
        var before: StoreTrace?
        var kept: [String] = []
        var outcome: Outcome
        do throws(EngineError) {
            before = try StoreTrace(location)
            try refuseOtherNames(of: location, chosen, original)
            let copies = try backups.walCopies(of: chosen)
            let rolledBack = try rollBackHotJournals([location, original], directory.path, &kept)
            outcome = try replace(location, with: original, &kept)
            outcome.walCopies = copies
            outcome.warnings = rolledBack + outcome.warnings
        } catch {
            var error = error
            if error.state == .untouched { error.state = before?.state() ?? .untouched }
            error.details += kept.map { "what SQLite was to play into a file is kept as \($0)" }
            // The failure that counts is the one that is thrown.
            try? directory.remove()
            throw error
        }
        // What can't be removed stays in the folder, of which `unlock` tells.
        try? SidecarCopies(work: directory.path).removeSettled()
        outcome.warnings += backups.unlock(directory)
        return outcome
    }

    /// Found before anything is touched: the exchange locks both files for writing.
    private func refuseReadOnly(_ path: String) throws(EngineError) {
        guard !Files.mayWrite(to: path) else { return }
        throw EngineError(
            .cannotCreate, "\(path): the file is read-only for you",
            remedy: "change its permissions (chmod u+w), then run again")
    }

    /// A backup that is only another name of something, where a rename would do nothing, or move a link.
    private func refuseOtherNames(
        of location: StoreLocation, _ backup: String, _ original: StoreLocation
    ) throws(EngineError) {
        guard original.path == backup else {
            throw EngineError(
                .undecided, "\(backup): is a symbolic link to \(original.path)", remedy: "put the file itself there")
        }
        do {
            guard try Files.status(of: backup).isSameFile(as: Files.status(of: location.path)) else { return }
        } catch {
            throw EngineError(reading: error, at: backup)
        }
        throw EngineError(
            .undecided, "\(backup): is the store itself under another name; there is nothing to roll back",
            remedy: "remove that name if it isn't needed")
    }

    /// Has SQLite play hot journals back, of which copies are durable in the work directory by then.
    ///
    /// - Returns: warnings that say so.
    private func rollBackHotJournals(
        _ places: [StoreLocation], _ work: String, _ kept: inout [String]
    ) throws(EngineError) -> [String] {
        var warnings: [String] = []
        for place in places {
            guard try StoreFile.hasHotJournal(place) else { continue }
            kept.append(try SidecarCopies(work: work).keep(.journal, of: place))
            try StoreFile.rollBackHotJournal(place)
            warnings.append("\(place.path): an unfinished transaction of another program was rolled back")
        }
        return warnings
    }

    /// `copies` gets the paths of copies of what SQLite plays into a file.
    private func replace(
        _ location: StoreLocation, with backup: StoreLocation, _ copies: inout [String]
    ) throws(EngineError) -> Outcome {
        // Before any lock: looking at a file by another means would drop it.
        let wasWAL = try requireSound(backup)
        let kept = location.path + ".rolledback-" + String(backup.path.suffix(8))
        var warnings = try keepBrokenLogs(location, as: kept, &copies)
        warnings += try keepBrokenLogs(backup, as: backup.path, &copies)
        let isWAL = try Self.isWAL(location)
        let users = try exchange(location, backup, areWAL: (isWAL, wasWAL), keepingAs: kept)
        var outcome = Outcome(store: location.path, restored: backup.path, keptAt: kept)
        outcome.warnings = warnings
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

    /// A backup that can't be read isn't put in place of a store that can.
    ///
    /// - Returns: whether its header says WAL: a backup that somebody has opened since the migration may be in that mode.
    private func requireSound(_ backup: StoreLocation) throws(EngineError) -> Bool {
        try SourceStore.reading(backup) { store throws(EngineError) in
            try store.checkIntegrity()
            return store.isWAL
        }
    }

    // MARK: - The rename

    /// Seconds to wait for readers to end.
    private static let timeout = 10.0

    /// - Returns: who still has the file open that was the store.
    private func exchange(
        _ location: StoreLocation, _ backup: StoreLocation, areWAL: (store: Bool, backup: Bool), keepingAs kept: String
    ) throws(EngineError) -> [FileUser] {
        let descriptor = try StoreDescriptor(location)
        defer { withExtendedLifetime(descriptor) {} }
        // Each folds a -wal in, so that the file has all rows: those that the application has added to the store since are
        // in what is kept. Busy where somebody has one of them open in WAL mode; in rollback mode, whoever has it open is
        // told at his next write that it was moved.
        let backupGuard = try Guardian(backup, restoringWAL: areWAL.backup)
        let storeGuard = try Guardian(location, restoringWAL: areWAL.store)
        do throws(EngineError) {
            for (guardian, place) in [(backupGuard, backup), (storeGuard, location)] {
                try Self.lock(guardian, place)
                try Self.removeSidecars(of: place)
            }
            try Self.rename(backup, to: location, keepingAs: kept, descriptor)
        } catch {
            storeGuard.release(keepingWork: false)
            backupGuard.release(keepingWork: false)
            throw error
        }
        // Both have another name now: nothing may be written through the old one. The new store's lock is kept until nobody
        // has the old one open (`StoreHandover`).
        storeGuard.abandon()
        defer { backupGuard.abandon() }
        do {
            try Files.syncDirectory(location.directory)
            return StoreHandover.waitForUsers(of: try Files.status(of: kept))
        } catch {
            throw EngineError(
                .inputOutput, "\(location.path): the backup is in place, but not provenly for good: \(error.message)",
                remedy: "check the disk; the store that was there is at \(kept)", state: .restored)
        }
    }

    /// What the header says; a file that is no database is the guard's to refuse.
    private static func isWAL(_ location: StoreLocation) throws(EngineError) -> Bool {
        do {
            let head = try Files.readPrefix(of: location.path, length: DatabaseHeader.length)
            return DatabaseHeader(head)?.isWAL ?? false
        } catch {
            throw EngineError(reading: error, at: location.path)
        }
    }

    private static func lock(_ guardian: Guardian, _ place: StoreLocation) throws(EngineError) {
        do throws(EngineError) {
            try guardian.lockExclusively(timeout: timeout)
        } catch {
            guard error.kind == .undecided else { throw error }
            throw EngineError(
                .busy, "\(place.path): was written to just now",
                remedy: "close the program that uses it, then run again")
        }
    }

    /// Proves that nothing lies beside a locked file that SQLite would play into whatever gets its name, or that would stay
    /// behind when it goes.
    private static func removeSidecars(of place: StoreLocation) throws(EngineError) {
        do {
            for path in [place.wal, place.shm, place.journal] {
                guard let status = try Files.statusIfExists(path) else { continue }
                guard try path == place.shm || place.isSpent(path, status) else {
                    throw EngineError(
                        .busy, "\(path): appeared meanwhile", remedy: "close the application that uses the store")
                }
                try Files.unlink(path)
                guard try Files.statusIfExists(path) == nil else {
                    throw EngineError(.inputOutput, "\(path): can't be removed")
                }
            }
            try Files.syncDirectory(place.directory)
        } catch {
            throw EngineError(error, during: place.path)
        }
    }

    private static func rename(
        _ backup: StoreLocation, to location: StoreLocation, keepingAs kept: String, _ descriptor: StoreDescriptor
    ) throws(EngineError) {
        do {
            if let there = try Files.statusIfExists(kept) {
                // Of a rollback that was ended here: it is the same file.
                let store = try descriptor.identity()
                guard there.inode == store.inode, there.device == store.device else {
                    throw EngineError(.cannotCreate, "\(kept): is there already", remedy: "move it away")
                }
            } else {
                try Files.link(location.path, as: kept)
                try Files.syncDirectory(location.directory)
            }
            do throws(FileError) {
                try Files.rename(backup.path, to: location.path)
            } catch {
                // A store of two names would be refused by every migration.
                _ = try? Files.unlink(kept)
                throw error
            }
        } catch {
            throw EngineError(error, during: location.path)
        }
    }

    // MARK: - After it

    /// Gives the store the mode that the original had. A run that is killed before leaves rollback mode, which Core Data
    /// changes by itself. SQLite counts the change and writes its own version beside it: readers must see that the header
    /// isn't the one that they know. Every other byte stays the backup's.
    ///
    /// - Returns: a warning where it can't be done.
    private func restoreWAL(_ location: StoreLocation) -> [String] {
        do {
            let connection = try Connection.owning(location)
            try connection.setJournalMode(.wal)
            try connection.close()
            return []
        } catch {
            let reason = EngineError(error, during: location.path).message
            return ["\(location.path): is no longer in WAL mode, as the backup was: \(reason)"]
        }
    }
}
