import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// One run in place; knows how far it got, and so what happens to the work when it fails.
struct InPlaceRun {
    let migration: Migration
    let location: StoreLocation
    let history: ModelHistory
    /// Warnings of the check of the rows; nil if it hasn't run.
    private var notices: [String]?
    /// There is work of an earlier run that hasn't been taken over.
    private var hasForeignWork = true
    private(set) var hasPlan = false
    /// The work explains why the store has two names; without it the store would be refused.
    private var hasSecondName = false
    /// Another program's unfinished transaction.
    private var hasRolledBack = false
    /// Copies of a -wal beside the backup of the migration before this one.
    private var earlierCopies: [String] = []

    init(migration: Migration, location: StoreLocation, history: ModelHistory, notices: [String]?) {
        self.migration = migration
        self.location = location
        self.history = history
        self.notices = notices
    }

    private var request: MigrationRequest { migration.request }

    func keepsWork(after error: EngineError) -> Bool {
        hasForeignWork || hasSecondName || error.state == .alreadyNew
            || (hasPlan && (error.isPassing || error.kind == .undecided))
    }

    mutating func run(in directory: borrowing WorkDirectory) throws(EngineError) -> MigrationOutcome {
        var found = try UnfinishedWork(
            in: directory.path, for: location, isOutput: false, discards: request.resume == .restart)
        if found.state == .swapped {
            // The run that swapped may have ended before this.
            try StoreSwap.proveDurable(location)
            let backup = found.intent.map { location.directory + "/" + $0.backup }
            if let outcome = try finished(backup, found.plan) { return outcome }
            // An earlier migration is complete, and this one continues from its version.
            if let backup { earlierCopies = try StoreBackups(location: location).walCopies(of: backup) }
            try SidecarCopies(work: directory.path).removePublished()
            try directory.clear()
            found = try UnfinishedWork(in: directory.path, for: location, isOutput: false)
        }
        try found.requireKnown()
        if request.resume == .never { try found.requireNone() }
        // Folding the -wal in has changed the header's flag.
        let mode = OriginalMode(of: location, work: directory.path)
        let wasWAL = if let plan = found.plan { plan.sourceIsWAL } else { try mode.isNoted() }
        if request.resume == .restart || !found.isResumable {
            hasForeignWork = false
            // Without a plan nothing else would record it.
            if wasWAL { try mode.note() }
            try found.discard(directory)
            found = try UnfinishedWork(in: directory.path, for: location, isOutput: false)
        }
        KillPoint.reach(.recovered)
        if found.plan == nil {
            try migration.refuseUnreplaceable(location)
            try directory.tryAttributes(of: location, ignoringOwner: request.ignoresOwnership)
            hasRolledBack = try migration.rollBackHotJournal(location, in: directory)
            // Owning the store folds the -wal in and removes it.
            let file = try StoreFile(checking: location)
            if try file.walBreak(location) != nil { try SidecarCopies(work: directory.path).keep(.wal, of: location) }
            if file.header.isWAL { try mode.note() }
        }
        // Opened first, closed last.
        let descriptor = try StoreDescriptor(location)
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

    private mutating func owned(
        _ found: UnfinishedWork, wasWAL: Bool?, _ descriptor: StoreDescriptor, _ directory: borrowing WorkDirectory
    ) throws(EngineError) -> MigrationOutcome {
        let store = try takenOver(wasWAL: wasWAL, hasWork: found.plan != nil)
        KillPoint.reach(.storeOwned)
        do throws(EngineError) {
            // Again: until the lock was held, a program could finish its transaction.
            try found.requireSource(descriptor, isGuarded: true)
            let outcome = try migrate(store, found, descriptor, directory)
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
            try UnfinishedWork.removeSecondName(location.path + plan.backupSuffix, of: location)
            return true
        } catch {
            // The first failure is reported; the next run, which finds the work, tries this again.
            return false
        }
    }

    private func takenOver(wasWAL: Bool?, hasWork: Bool) throws(EngineError) -> SourceStore {
        do throws(EngineError) {
            return try SourceStore.owning(location, wasWAL: wasWAL, hasWork: hasWork)
        } catch {
            var error = error
            // The store is open already, and its folder was just written to: if it can't be opened now, descriptors or
            // memory are missing, or the disk has failed.
            if error.kind == .missing { error.kind = .inputOutput }
            throw error
        }
    }

    private mutating func migrate(
        _ store: SourceStore, _ found: UnfinishedWork, _ descriptor: StoreDescriptor,
        _ directory: borrowing WorkDirectory
    ) throws(EngineError) -> MigrationOutcome {
        try found.requireStore(store.metadata.uuid, location)
        var prepared = try PreparedMigration(request, history: history, store: store)
        var outcome = MigrationOutcome(
            store: location.path, backup: nil, prepared: prepared, warnings: prepared.warnings)
        guard !prepared.steps.isEmpty else {
            try found.requireNoOther(than: prepared)
            hasForeignWork = false
            outcome.hasRolledBack = hasRolledBack
            outcome.warnings += try migration.rollbackWarning(location, in: directory)
            return outcome
        }
        let fingerprint = PlanFingerprint(prepared, request)
        try found.requirePlan(
            fingerprint, steps: prepared.steps.map(\.versions), verification: request.verification)
        hasForeignWork = false
        prepared.notices = found.plan?.notices ?? notices ?? []
        if found.plan != nil || notices == nil { migration.events(.prepared(prepared)) }
        if found.plan == nil, notices == nil { prepared.notices = try migration.check(prepared, store) }
        outcome.warnings += prepared.notices
        outcome.warnings += try migration.rollbackWarning(location, in: directory)
        let plan: PlanRecord
        if let begun = found.plan {
            plan = begun
        } else {
            let identity = try SourceIdentity(descriptor, uuid: store.metadata.uuid, isGuarded: true)
            plan = try migration.begin(prepared, fingerprint, identity, isWAL: store.isWAL, in: directory)
        }
        hasPlan = true
        let steps = StepSequence(
            request: request, cancellation: migration.cancellation, events: migration.events, prepared: prepared,
            plan: plan, external: location, isResumed: found.plan != nil)
        let staging = try steps.build(from: store, isWAL: plan.sourceIsWAL, in: directory, &outcome)
        migration.events(.phaseBegan("swap"))
        try migration.cancellation.check()
        let swap = StoreSwap(
            staging: staging, plan: plan, timeout: request.swapTimeout, ignoresOwnership: request.ignoresOwnership,
            cancellation: migration.cancellation)
        let result = try steps.condemning(in: directory) { () throws(EngineError) in
            try swap.replace(store, descriptor, in: directory)
        }
        outcome.backup = result.backup
        outcome.warnings += result.warnings
        outcome.tellCopies(earlierCopies + result.walCopies, of: location, pageSize: Int(store.pageSize))
        return outcome
    }

    /// The new store is in place since an earlier run; nil if it isn't the requested one.
    private mutating func finished(_ backup: String?, _ plan: PlanRecord?) throws(EngineError) -> MigrationOutcome? {
        let prepared: PreparedMigration
        do throws(EngineError) {
            prepared = try migration.prepare(location, history)
        } catch {
            var error = error
            // Whatever is wrong with this run: this work's migration is done.
            error.state = .alreadyNew
            throw error
        }
        hasForeignWork = false
        guard prepared.steps.isEmpty else {
            notices = nil
            return nil
        }
        var outcome = MigrationOutcome(
            store: location.path, backup: nil, prepared: prepared, warnings: prepared.warnings)
        // Another program may have put another version into the same file since.
        if let plan, try !plan.leads(to: location) { return outcome }
        outcome.wasSwapped = true
        if let backup, let old = try? Files.statusIfExists(backup) {
            outcome.backup = backup
            if let header = (try? StoreFile(checking: location))?.header {
                let copies = (try? StoreBackups(location: location).walCopies(of: backup)) ?? []
                outcome.tellCopies(copies, of: location, pageSize: header.pageSize)
            }
            // Programs that had it open when that run ended.
            let users = StoreHandover.waitForUsers(of: old)
            if !users.isEmpty { outcome.warnings.append(StoreHandover.warning(users, location.path)) }
        }
        return outcome
    }

    /// Another program may have migrated a changed store: then there is nothing to do.
    private func alreadyThere() throws(EngineError) -> MigrationOutcome? {
        guard let prepared = try? migration.prepare(location, history), prepared.steps.isEmpty else { return nil }
        return MigrationOutcome(store: location.path, backup: nil, prepared: prepared, warnings: prepared.warnings)
    }
}

extension MigrationOutcome {
    /// Names the copies of an incomplete -wal, with what each of them holds. The new store is in place: a copy that
    /// can't be read now isn't a failure.
    fileprivate mutating func tellCopies(_ copies: [String], of location: StoreLocation, pageSize: Int) {
        for copy in copies {
            guard let found = try? WALBreak(in: copy, pageSize: pageSize) else { continue }
            (walBreak, walCopy) = (found, copy)
            warnings.append("\(found.sentence(location.wal)); a copy of it is kept as \(copy)")
        }
    }
}
