import CausewayPlatform
import CausewayPreparation
import CausewaySQLiteFile
import CausewayStores

/// A store that is replaced: owned from the first row to the swap.
extension MigrationRun {
    mutating func inPlace(
        _ found: UnfinishedWork, wasWAL: Bool, _ directory: borrowing WorkDirectory
    ) throws(EngineError) -> MigrationOutcome {
        ignoresOwnership = request.ignoresOwnership
        if found.plan == nil {
            try migration.refuseUnreplaceable(source)
            try directory.tryAttributes(of: source, ignoringOwner: ignoresOwnership)
            hasRolledBack = try rollBackHotJournal(in: directory)
            // Owning the store folds the -wal in and removes it.
            let file = try StoreFile(checking: source)
            if try file.walBreak(source) != nil { try SidecarCopies(work: directory.path).keep(.wal, of: source) }
            if file.header.isWAL { try originalMode.note() }
        }
        // Opened first, closed last.
        let descriptor = try StoreDescriptor(source)
        defer { withExtendedLifetime(descriptor) {} }
        if found.plan != nil {
            do throws(EngineError) {
                try found.requireSource(descriptor, isGuarded: true)
            } catch {
                guard var outcome = try alreadyThere() else { throw error }
                outcome.warnings.append(found.discardWarning)
                hasForeignWork = false
                try found.discard(directory)
                return outcome
            }
        }
        return try owned(found, wasWAL: wasWAL, descriptor, directory)
    }

    /// Copies a hot journal durably, then lets SQLite roll it back; the store can't be read before.
    ///
    /// - Returns: whether there was one.
    func rollBackHotJournal(in directory: borrowing WorkDirectory) throws(EngineError) -> Bool {
        guard try StoreFile.hasHotJournal(source) else { return false }
        try migration.refuseUnreplaceable(source)
        try SidecarCopies(work: directory.path).keep(.journal, of: source)
        try StoreFile.rollBackHotJournal(source)
        return true
    }

    /// The warning about a rollback by this run or an earlier one; the copy of the journal shows it.
    func rollbackWarning(in directory: borrowing WorkDirectory) throws(EngineError) -> [String] {
        guard !isOutput, try !SidecarCopies(work: directory.path).paths(.journal).isEmpty else { return [] }
        return ["\(source.path): an unfinished transaction of another program was rolled back before it was read"]
    }

    private mutating func owned(
        _ found: UnfinishedWork, wasWAL: Bool?, _ descriptor: StoreDescriptor, _ directory: borrowing WorkDirectory
    ) throws(EngineError) -> MigrationOutcome {
        let store = try takenOver(wasWAL: wasWAL, hasWork: found.plan != nil)
        KillPoint.reach(.storeOwned)
        do throws(EngineError) {
            // Again: until the lock was held, a program could finish its transaction.
            try found.requireSource(descriptor, isGuarded: true)
            let outcome = try migrate(store, nil, found, descriptor, directory)
            store.release()
            return outcome
        } catch {
            if !keepsWork(after: error) { hasSecondName = !takesBackSecondName(directory) }
            let keepsWork = keepsWork(after: error)
            // Before the header changes back: existing work expects it as it is. The next run handles what can't be
            // removed now.
            if !keepsWork { try? directory.clear() }
            store.release(keepingWork: keepsWork)
            throw error
        }
    }

    /// Removes the second name that an incomplete swap gave the store; returns whether there is none left.
    private func takesBackSecondName(_ directory: borrowing WorkDirectory) -> Bool {
        do throws(EngineError) {
            guard let plan = try WorkDirectory.plan(in: directory.path) else { return true }
            try UnfinishedWork.removeSecondName(source.path + plan.backupSuffix, of: source)
            return true
        } catch {
            // The first failure is reported; the next run, which finds the work, tries this again.
            return false
        }
    }

    private func takenOver(wasWAL: Bool?, hasWork: Bool) throws(EngineError) -> SourceStore {
        do throws(EngineError) {
            return try SourceStore.owning(source, wasWAL: wasWAL, hasWork: hasWork)
        } catch {
            var error = error
            // The store is open already, and its folder was just written to: if it can't be opened now, descriptors or
            // memory are missing, or the disk has failed.
            if error.kind == .missing { error.kind = .inputOutput }
            throw error
        }
    }

    func replace(
        _ store: SourceStore, _ swap: StoreSwap, _ descriptor: StoreDescriptor, _ directory: borrowing WorkDirectory,
        _ outcome: inout MigrationOutcome
    ) throws(EngineError) {
        let result = try swap.replace(store, descriptor, in: directory)
        outcome.backup = result.backup
        outcome.warnings += result.warnings
        outcome.tellCopies(earlierCopies + result.walCopies, of: source, pageSize: Int(store.pageSize))
    }

    /// The new store is in place since an earlier run; nil if it isn't the requested one.
    mutating func finishedInPlace(_ found: UnfinishedWork) throws(EngineError) -> MigrationOutcome? {
        let backup = found.intent.map { source.directory + "/" + $0.backup }
        let prepared: PreparedMigration
        do throws(EngineError) {
            prepared = try migration.prepare(source, versions())
        } catch {
            var error = error
            // Whatever is wrong with this run: this work's migration is done.
            error.state = .alreadyNew
            throw error
        }
        hasForeignWork = false
        guard prepared.steps.isEmpty else {
            check = nil
            if let backup { earlierCopies = try StoreBackups(location: source).walCopies(of: backup) }
            return nil
        }
        var outcome = MigrationOutcome(store: source.path, prepared: prepared, warnings: prepared.warnings)
        // Another program may have put another version into the same file since.
        if let plan = found.plan, try !plan.leads(to: source) { return outcome }
        outcome.wasSwapped = true
        if let backup, let old = try? Files.statusIfExists(backup) {
            outcome.backup = backup
            if let header = (try? StoreFile(checking: source))?.header {
                let copies = (try? StoreBackups(location: source).walCopies(of: backup)) ?? []
                outcome.tellCopies(copies, of: source, pageSize: header.pageSize)
            }
            // Programs that had it open when that run ended.
            let users = StoreHandover.waitForUsers(of: old)
            if !users.isEmpty { outcome.warnings.append(StoreHandover.warning(users, source.path)) }
        }
        return outcome
    }

    /// Another program may have migrated a changed store: then there is nothing to do.
    private mutating func alreadyThere() throws(EngineError) -> MigrationOutcome? {
        guard let prepared = try? migration.prepare(source, versions()), prepared.steps.isEmpty else { return nil }
        return MigrationOutcome(store: source.path, prepared: prepared, warnings: prepared.warnings)
    }
}

extension MigrationOutcome {
    /// Names the copies of an incomplete -wal, with what each of them holds. The new store is in place: a copy that
    /// can't be read now isn't a failure.
    fileprivate mutating func tellCopies(_ copies: [String], of location: StoreLocation, pageSize: Int) {
        for copy in copies {
            guard let found = try? WALBreak(in: copy, pageSize: pageSize) else { continue }
            walBreak = found
            walBreak?.copy = copy
            warnings.append("\(found.sentence(location.wal)); a copy of it is kept as \(copy)")
        }
    }
}
