import CausewayPlanning
import CausewayPlatform
import CausewaySQLiteFile
import CausewayStoreFormat

/// A store that is replaced: owned from the first row to the swap (reliability.md §4.2).
extension Migration {
    func runInPlace(_ location: StoreLocation) throws(EngineError) -> Outcome {
        let history = try versions()
        let directory: WorkDirectory
        do throws(EngineError) {
            directory = try WorkDirectory.taken(at: location.workDirectory)
        } catch {
            return try doneWithoutWork(location, location, error)
        }
        // Only under the lock: looking at the file would end the locks that another migrator of this process has on it.
        var before: StoreTrace?
        let run = reporting(to: directory)
        var outcome: Outcome?
        var failure: RunFailure?
        var notices: [String]?
        do throws(EngineError) {
            before = try StoreTrace(location)
            if try !directory.hasWork() { (outcome, notices) = try run.preview(location, history, in: directory) }
        } catch {
            failure = RunFailure(error: error, keepsWork: true, hasPlan: false)
        }
        if outcome == nil, failure == nil {
            (outcome, failure) = run.replace(location, history, in: directory, notices: notices)
        }
        if let ended = failure, ended.error.state == .untouched {
            failure?.error.state = before?.state() ?? .untouched
            // The run that began the work has folded the -wal in, and the work counts on it.
            if failure?.error.state == .untouched, ended.keepsWork, keepsFolded(location) {
                failure?.error.state = .settled("it stays in rollback-journal mode while there is unfinished work")
            }
        }
        let work = directory.path
        let isKept = failure.map { $0.keepsWork && WorkDirectory.hasRecords(at: work) } ?? false
        if !isKept, let done = OriginalMode(of: location, work: work).settle(), failure?.error.state == .untouched {
            failure?.error.state = .settled(done)
        }
        if case .settled(let what)? = failure?.error.state {
            let copies = SidecarCopies(work: work).all
            if !copies.isEmpty { failure?.error.state = .settled("\(what) (kept: \(copies.joined(separator: ", ")))") }
        }
        return try settled(directory, outcome, failure)
    }

    private func keepsFolded(_ location: StoreLocation) -> Bool {
        guard let plan = try? WorkDirectory.plan(in: location.workDirectory) else { return false }
        return plan.sourceIsWAL
    }

    /// Plans without touching the store: what needs nothing, or can't be migrated, stays as it is to the byte.
    ///
    /// - Returns: the outcome where nothing is to be done, or else what the check of the rows has counted.
    private func preview(
        _ location: StoreLocation, _ history: ModelHistory, in directory: borrowing WorkDirectory
    ) throws(EngineError) -> (Outcome?, notices: [String]?) {
        try refuseHardLinks(location)
        let hasRolledBack = try rollBackHotJournal(location, in: directory)
        let preview = try checkedPreview(location, history) { () throws(EngineError) in
            try refuseUnreplaceable(location)
            try directory.tryAttributes(of: location, ignoringOwner: request.ignoresOwnership)
        }
        guard !preview.steps.isEmpty else {
            var outcome = Outcome(store: location.path, backup: nil, prepared: preview, warnings: preview.warnings)
            outcome.hasRolledBack = hasRolledBack
            outcome.warnings += try rollbackWarning(location, in: directory)
            return (outcome, nil)
        }
        return (nil, preview.notices)
    }

    /// Has SQLite play a hot journal back, of which a copy is durable by then: before that nobody can read the store.
    ///
    /// - Returns: whether there was one.
    fileprivate func rollBackHotJournal(
        _ location: StoreLocation, in directory: borrowing WorkDirectory
    ) throws(EngineError) -> Bool {
        guard try StoreFile.hasHotJournal(location) else { return false }
        try refuseUnreplaceable(location)
        try SidecarCopies(work: directory.path).keep(.journal, of: location)
        try StoreFile.rollBackHotJournal(location)
        return true
    }

    /// What this run, or one before it, has rolled back; the copy of the journal tells.
    fileprivate func rollbackWarning(
        _ location: StoreLocation, in directory: borrowing WorkDirectory
    ) throws(EngineError) -> [String] {
        guard try !SidecarCopies(work: directory.path).paths(.journal).isEmpty else { return [] }
        return ["\(location.path): an unfinished transaction of another program was rolled back before it was read"]
    }

    /// A store that needs nothing needs no work directory beside the destination either. Throws `refusal`, which says why
    /// there is none, where there is something to do, or why that can't be told.
    func doneWithoutWork(
        _ source: StoreLocation, _ destination: StoreLocation, _ refusal: EngineError
    ) throws(EngineError) -> Outcome {
        var refusal = refusal
        let hasRecords = WorkDirectory.hasRecords(at: destination.workDirectory)
        refusal.work = refusal.kind == .busy ? .others : hasRecords ? .kept : .none
        guard [.cannotCreate, .inputOutput].contains(refusal.kind), refusal.work == .none else { throw refusal }
        let preview = try prepare(source, versions())
        guard preview.steps.isEmpty else {
            // What is known of the place says more than that no folder can be made there.
            if source == destination { try refuseUnreplaceable(source) } else { try refuseUnusable(destination) }
            throw refusal
        }
        return Outcome(store: source.path, backup: nil, prepared: preview, warnings: preview.warnings)
    }

    /// Removes the work directory where nothing in it is of use any more.
    ///
    /// - Throws: the failure, which then says what is left of the work.
    func settled(
        _ directory: consuming WorkDirectory, _ outcome: Outcome?, _ failure: RunFailure?
    ) throws(EngineError) -> Outcome {
        if let failure {
            var error = failure.error
            let isKept = failure.keepsWork && WorkDirectory.hasRecords(at: directory.path)
            error.work = isKept ? .kept : failure.hasPlan ? .discarded : .none
            // The failure that counts is the one that is thrown; the next run clears what can't be removed now.
            if !isKept { try? directory.remove() }
            throw error
        }
        guard var outcome else { preconditionFailure("a run ends with an outcome or an error") }
        let path = directory.path
        do throws(EngineError) {
            try SidecarCopies(work: path).removeSettled()
            try directory.remove()
        } catch {
            // The new store is in place and complete; only what built it couldn't be cleared away.
            outcome.warnings.append("\(path) couldn't be removed: \(error.message)")
        }
        return outcome
    }

    private func replace(
        _ location: StoreLocation, _ history: ModelHistory, in directory: borrowing WorkDirectory, notices: [String]?
    ) -> (Outcome?, RunFailure?) {
        var run = InPlaceRun(migration: self, location: location, history: history, notices: notices)
        do throws(EngineError) {
            return (try run.run(in: directory), nil)
        } catch {
            return (nil, RunFailure(error: error, keepsWork: run.keepsWork(after: error), hasPlan: run.hasPlan))
        }
    }
}

/// Why a run ended, and how far it had come.
struct RunFailure {
    var error: EngineError
    /// Whether what is in the work directory is of use.
    let keepsWork: Bool
    /// Whether this run has begun work, or resumed some.
    let hasPlan: Bool
}

/// One run in place; knows how far it came, and so what becomes of the work when it fails.
private struct InPlaceRun {
    let migration: Migration
    let location: StoreLocation
    let history: ModelHistory
    /// What the check of the rows has counted; nil where it hasn't run.
    private var notices: [String]?
    /// There is work of an earlier run that hasn't been taken over.
    private var hasForeignWork = true
    private(set) var hasPlan = false
    /// The work says why the store has two names; without it the store would be refused.
    private var hasSecondName = false
    /// Another program's unfinished transaction.
    private var hasRolledBack = false
    /// Copies of a -wal beside the backup of a migration that this one leads on from.
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

    mutating func run(in directory: borrowing WorkDirectory) throws(EngineError) -> Migration.Outcome {
        var found = try UnfinishedWork(
            in: directory.path, for: location, isOutput: false, discards: request.resume == .restart)
        if found.state == .swapped {
            // The run that swapped may have been ended before it did this.
            try StoreSwap.proveDurable(location)
            let backup = found.intent.map { location.directory + "/" + $0.backup }
            if let outcome = try finished(backup) { return outcome }
            // An earlier migration is complete, and this one leads on from it.
            if let backup { earlierCopies = try StoreBackups(location: location).walCopies(of: backup) }
            try SidecarCopies(work: directory.path).removePublished()
            try directory.clear()
            found = try UnfinishedWork(in: directory.path, for: location, isOutput: false)
        }
        try found.requireKnown()
        if request.resume == .never { try found.requireNone() }
        // The fold has taken the header's flag away.
        let mode = OriginalMode(of: location, work: directory.path)
        let wasWAL = if let plan = found.plan { plan.sourceIsWAL } else { try mode.isNoted() }
        if request.resume == .restart || !found.isResumable {
            hasForeignWork = false
            // Without its plan nothing else would say so.
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
                guard let outcome = try alreadyThere() else { throw error }
                try found.removeSecondName()
                hasForeignWork = false
                return outcome
            }
        }
        return try owned(found, wasWAL: wasWAL, descriptor, directory)
    }

    private mutating func owned(
        _ found: UnfinishedWork, wasWAL: Bool?, _ descriptor: StoreDescriptor, _ directory: borrowing WorkDirectory
    ) throws(EngineError) -> Migration.Outcome {
        let store = try takenOver(wasWAL: wasWAL, hasWork: found.plan != nil)
        KillPoint.reach(.storeOwned)
        do throws(EngineError) {
            // Again: until the lock was held, a program could end a transaction that it had begun before.
            try found.requireSource(descriptor, isGuarded: true)
            let outcome = try migrate(store, found, descriptor, directory)
            store.release()
            return outcome
        } catch {
            if !keepsWork(after: error) { hasSecondName = !takesBackSecondName(directory) }
            let keepsWork = keepsWork(after: error)
            // Before the header changes back: work that is there counts on it as it is. What can't be cleared now is met
            // by the next run.
            if !keepsWork { try? directory.clear() }
            store.release(keepingWork: keepsWork)
            throw error
        }
    }

    /// Whether the store has no name any more that a swap which didn't come about has given it.
    private func takesBackSecondName(_ directory: borrowing WorkDirectory) -> Bool {
        do throws(EngineError) {
            guard let plan = try WorkDirectory.plan(in: directory.path) else { return true }
            try UnfinishedWork.removeSecondName(location.path + plan.backupSuffix, of: location)
            return true
        } catch {
            // The failure that counts is told; the next run, which finds the work, tries this again.
            return false
        }
    }

    private func takenOver(wasWAL: Bool?, hasWork: Bool) throws(EngineError) -> SourceStore {
        do throws(EngineError) {
            return try SourceStore.owning(location, wasWAL: wasWAL, hasWork: hasWork)
        } catch {
            var error = error
            // The store is open already, and its folder was just written to: what can't be opened now is for want of
            // descriptors or memory, or the disk's fault.
            if error.kind == .missing { error.kind = .inputOutput }
            throw error
        }
    }

    private mutating func migrate(
        _ store: SourceStore, _ found: UnfinishedWork, _ descriptor: StoreDescriptor,
        _ directory: borrowing WorkDirectory
    ) throws(EngineError) -> Migration.Outcome {
        try found.requireStore(store.metadata.uuid, location)
        var prepared = try PreparedMigration(request, history: history, store: store)
        var outcome = Migration.Outcome(
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
            plan = try migration.begin(prepared, fingerprint, identity, store, in: directory)
        }
        hasPlan = true
        let steps = StepSequence(
            migration: migration, prepared: prepared, plan: plan, external: location, isResumed: found.plan != nil)
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

    /// The new store is in place since an earlier run; nil where it isn't the one that is asked for.
    private mutating func finished(_ backup: String?) throws(EngineError) -> Migration.Outcome? {
        let prepared: PreparedMigration
        do throws(EngineError) {
            prepared = try migration.prepare(location, history)
        } catch {
            var error = error
            // Whatever is wrong with this run: the migration whose work this is has been done.
            error.state = .alreadyNew
            throw error
        }
        hasForeignWork = false
        guard prepared.steps.isEmpty else {
            notices = nil
            return nil
        }
        var outcome = Migration.Outcome(
            store: location.path, backup: nil, prepared: prepared, warnings: prepared.warnings)
        outcome.wasSwapped = true
        if let backup, let old = try? Files.statusIfExists(backup) {
            outcome.backup = backup
            if let header = (try? StoreFile(checking: location))?.header {
                let copies = (try? StoreBackups(location: location).walCopies(of: backup)) ?? []
                outcome.tellCopies(copies, of: location, pageSize: header.pageSize)
            }
            // Whoever had it open when the run was ended.
            let users = StoreHandover.waitForUsers(of: old)
            if !users.isEmpty { outcome.warnings.append(StoreHandover.warning(users, location.path)) }
        }
        return outcome
    }

    /// A store that has changed may have been migrated by somebody else: then nothing is to be done.
    private func alreadyThere() throws(EngineError) -> Migration.Outcome? {
        guard let prepared = try? migration.prepare(location, history), prepared.steps.isEmpty else { return nil }
        return Migration.Outcome(store: location.path, backup: nil, prepared: prepared, warnings: prepared.warnings)
    }
}

extension Migration {
    /// Writes the plan: from now on there is work that can be gone on with. `externalBytes` are what will be copied beside
    /// the new store at the end.
    func begin(
        _ prepared: PreparedMigration, _ fingerprint: PlanFingerprint, _ identity: SourceIdentity, _ store: SourceStore,
        externalBytes: Int = 0, in directory: borrowing WorkDirectory
    ) throws(EngineError) -> PlanRecord {
        let (needed, overflow) = prepared.diskBytes.addingReportingOverflow(externalBytes)
        try requireSpace(overflow ? .max : needed, at: directory.path)
        // Once there is a plan, what lies there counts as its own.
        try SideFiles.requireAbsent([("--rejects", request.rejects), ("--key-map", request.keyMap)])
        let plan = PlanRecord(
            fingerprint: fingerprint, source: identity, sourceIsWAL: store.isWAL, migration: RandomIdentifier.make(),
            now: request.options.now.bitPattern, path: prepared.path, steps: prepared.steps.map(\.versions),
            output: request.output, sideFiles: [request.rejects, request.keyMap].compactMap { $0 },
            notices: prepared.notices)
        try directory.write(plan)
        return plan
    }
}

extension Migration.Outcome {
    /// Names the copies of a -wal that broke off, with what each of them holds. The new store is in place: what can't be
    /// read now is no failure.
    fileprivate mutating func tellCopies(_ copies: [String], of location: StoreLocation, pageSize: Int) {
        for copy in copies {
            guard let found = try? WALBreak(in: copy, pageSize: pageSize) else { continue }
            (walBreak, walCopy) = (found, copy)
            warnings.append("\(found.sentence(location.wal)); a copy of it is kept as \(copy)")
        }
    }
}

/// A random UUID without its dashes: names a migration, so that its backup and its checkpoints are no other's.
enum RandomIdentifier {
    static func make() -> String {
        Hexadecimal.text((0..<16).map { _ in UInt8.random(in: .min ... .max) })
    }
}
