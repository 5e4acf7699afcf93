import CausewayPlanning
import CausewayPreparation
import CausewayStores

/// A store that is replaced: owned from the first row to the swap (InsideCrashSafety §4.2).
extension Migration {
    func runInPlace(_ location: StoreLocation) throws(EngineError) -> MigrationOutcome {
        let history = try versions()
        let directory: WorkDirectory
        do throws(EngineError) {
            directory = try WorkDirectory.taken(at: location.workDirectory)
        } catch {
            return try doneWithoutWork(location, location, error)
        }
        // Only under the lock: opening the file would drop the locks that another migration of this process has on it.
        var before: StoreTrace?
        let run = reporting(to: directory)
        var outcome: MigrationOutcome?
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
            // The run that began the work has folded the -wal in, and the work depends on it.
            if failure?.error.state == .untouched, ended.keepsWork, keepsFolded(location) {
                failure?.error.state = .settled("it stays in rollback-journal mode while there is unfinished work")
            }
        }
        let work = directory.path
        let isKept = failure.map { $0.keepsWork && WorkDirectory.hasRecords(at: work) } ?? false
        if !isKept, let done = OriginalMode(of: location, work: work).settle() {
            if failure?.error.state == .untouched { failure?.error.state = .settled(done) }
            outcome?.modeChange = done
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

    /// Plans without touching the store: a store that needs no migration, or can't be migrated, keeps every byte.
    ///
    /// - Returns: the outcome if there is nothing to do, else the warnings of the check of the rows.
    private func preview(
        _ location: StoreLocation, _ history: ModelHistory, in directory: borrowing WorkDirectory
    ) throws(EngineError) -> (MigrationOutcome?, notices: [String]?) {
        try refuseHardLinks(location)
        let hasRolledBack = try rollBackHotJournal(location, in: directory)
        let preview = try checkedPreview(location, history) { () throws(EngineError) in
            try refuseUnreplaceable(location)
            try refuseTakenSideFiles()
            try directory.tryAttributes(of: location, ignoringOwner: request.ignoresOwnership)
        }
        guard !preview.steps.isEmpty else {
            var outcome = MigrationOutcome(
                store: location.path, backup: nil, prepared: preview, warnings: preview.warnings)
            outcome.hasRolledBack = hasRolledBack
            outcome.warnings += try rollbackWarning(location, in: directory)
            return (outcome, nil)
        }
        return (nil, preview.notices)
    }

    /// Copies a hot journal durably, then lets SQLite roll it back; the store can't be read before.
    ///
    /// - Returns: whether there was one.
    func rollBackHotJournal(
        _ location: StoreLocation, in directory: borrowing WorkDirectory
    ) throws(EngineError) -> Bool {
        guard try StoreFile.hasHotJournal(location) else { return false }
        try refuseUnreplaceable(location)
        try SidecarCopies(work: directory.path).keep(.journal, of: location)
        try StoreFile.rollBackHotJournal(location)
        return true
    }

    /// The warning about a rollback by this run or an earlier one; the copy of the journal shows it.
    func rollbackWarning(
        _ location: StoreLocation, in directory: borrowing WorkDirectory
    ) throws(EngineError) -> [String] {
        guard try !SidecarCopies(work: directory.path).paths(.journal).isEmpty else { return [] }
        return ["\(location.path): an unfinished transaction of another program was rolled back before it was read"]
    }

    /// A store that needs no migration needs no work directory either. If there is work to do, throws `refusal`, the
    /// reason why there is no directory, or the reason why that isn't known.
    func doneWithoutWork(
        _ source: StoreLocation, _ destination: StoreLocation, _ refusal: EngineError
    ) throws(EngineError) -> MigrationOutcome {
        var refusal = refusal
        let hasRecords = WorkDirectory.hasRecords(at: destination.workDirectory)
        refusal.work = refusal.kind == .busy ? .others : hasRecords ? .kept : .none
        guard [.cannotCreate, .inputOutput].contains(refusal.kind), refusal.work == .none else { throw refusal }
        let preview = try prepare(source, versions())
        guard preview.steps.isEmpty else {
            // The place's own problem says more than "no folder can be made there".
            guard source == destination else {
                try refuseUnusable(destination, for: source)
                throw refusal
            }
            try refuseUnreplaceable(source)
            throw refusal
        }
        return MigrationOutcome(store: source.path, backup: nil, prepared: preview, warnings: preview.warnings)
    }

    /// Removes the work directory if nothing in it is needed any more.
    ///
    /// - Throws: the failure, completed with what is left of the work.
    func settled(
        _ directory: consuming WorkDirectory, _ outcome: MigrationOutcome?, _ failure: RunFailure?
    ) throws(EngineError) -> MigrationOutcome {
        if let failure {
            var error = failure.error
            let isKept = failure.keepsWork && WorkDirectory.hasRecords(at: directory.path)
            error.work = isKept ? .kept : failure.hasPlan ? .discarded : .none
            // The thrown failure matters; the next run removes what can't be removed now.
            if !isKept { try? directory.remove() }
            throw error
        }
        guard var outcome else { preconditionFailure("a run ends with an outcome or an error") }
        let path = directory.path
        do throws(EngineError) {
            try SidecarCopies(work: path).removeSettled()
            try directory.remove()
        } catch {
            // The new store is in place and complete; only the work directory couldn't be removed.
            outcome.warnings.append("\(path) couldn't be removed: \(error.message)")
        }
        return outcome
    }

    private func replace(
        _ location: StoreLocation, _ history: ModelHistory, in directory: borrowing WorkDirectory, notices: [String]?
    ) -> (MigrationOutcome?, RunFailure?) {
        var run = InPlaceRun(migration: self, location: location, history: history, notices: notices)
        do throws(EngineError) {
            return (try run.run(in: directory), nil)
        } catch {
            return (nil, RunFailure(error: error, keepsWork: run.keepsWork(after: error), hasPlan: run.hasPlan))
        }
    }
}

/// Why a run failed, and how far it got.
struct RunFailure {
    var error: EngineError
    /// Whether the work directory's content is useful.
    let keepsWork: Bool
    /// Whether this run has begun work, or resumed some.
    let hasPlan: Bool
}

extension Migration {
    /// Writes the plan: from now on the work can be resumed. `isWAL`: whether the app had the store in WAL mode;
    /// `externalBytes` will be copied beside the new store at the end.
    func begin(
        _ prepared: PreparedMigration, _ fingerprint: PlanFingerprint, _ identity: SourceIdentity, isWAL: Bool,
        externalBytes: Int = 0, in directory: borrowing WorkDirectory
    ) throws(EngineError) -> PlanRecord {
        let (needed, overflow) = prepared.diskBytes.addingReportingOverflow(externalBytes)
        try DiskRoom.require(overflow ? .max : needed, at: directory.path)
        // Once there is a plan, existing files count as its own.
        try refuseTakenSideFiles()
        let plan = PlanRecord(
            fingerprint: fingerprint, source: identity, sourceIsWAL: isWAL, migration: RandomIdentifier.make(),
            now: request.options.now.bitPattern, path: prepared.path, steps: prepared.steps.map(\.versions),
            output: request.output, sideFiles: [request.rejects, request.keyMap].compactMap { $0 },
            notices: prepared.notices)
        try directory.write(plan)
        return plan
    }
}

/// A random UUID without its dashes: names a migration, so that its backup and checkpoints are unique.
enum RandomIdentifier {
    static func make() -> String {
        Hexadecimal.text((0..<16).map { _ in UInt8.random(in: .min ... .max) })
    }
}
