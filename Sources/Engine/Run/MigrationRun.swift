import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewayStoreFormat
import CausewayStores

/// One run; knows how far it came, and so what becomes of the work when it fails.
///
/// In place and with `--output` it is the same run. What differs is how the source is held, and how the new store gets
/// its name: `MigrationRun+InPlace` and `MigrationRun+Output`.
struct MigrationRun {
    let migration: Migration
    let source: StoreLocation
    /// Where the new store goes; the source's place without `--output`.
    let destination: StoreLocation
    /// The versions, once they are read.
    private var history: ModelHistory?
    /// What the check of the source has found; nil if it hasn't run.
    var check: Migration.SourceCheck?
    /// What was planned before anything was written, and the store then.
    private var previewed: (prepared: PreparedMigration, store: SourceIdentity)?
    /// There is work of an earlier run that hasn't been taken over.
    var hasForeignWork = true
    private(set) var hasPlan = false
    /// The work explains why the store has two names; without it the store would be refused.
    var hasSecondName = false
    /// Another program's unfinished transaction.
    var hasRolledBack = false
    /// Copies of a -wal beside the backup of the migration before this one.
    var earlierCopies: [String] = []
    /// The new store need not get the source's owner.
    var ignoresOwnership = false

    init(migration: Migration, source: StoreLocation, destination: StoreLocation, history: ModelHistory?) {
        self.migration = migration
        self.source = source
        self.destination = destination
        self.history = history
    }

    var request: MigrationRequest { migration.request }

    var isOutput: Bool { request.output != nil }

    mutating func versions() throws(EngineError) -> ModelHistory {
        if let history { return history }
        let found = try migration.versions()
        history = found
        return found
    }

    func keepsWork(after error: EngineError) -> Bool {
        hasForeignWork || hasSecondName || error.state == .alreadyNew
            || (hasPlan && (error.isPassing || error.kind == .undecided))
    }

    mutating func outcome(in directory: borrowing WorkDirectory) throws(EngineError) -> MigrationOutcome {
        if try !directory.hasWork(), let outcome = try preview(in: directory) { return outcome }
        return try replaced(in: directory)
    }

    // MARK: - Before anything is written

    /// Plans without touching the store: a store that needs no migration, or can't be migrated, keeps every byte.
    ///
    /// - Returns: the outcome where nothing is to be done.
    private mutating func preview(in directory: borrowing WorkDirectory) throws(EngineError) -> MigrationOutcome? {
        if isOutput {
            if let outcome = try migration.madeBefore(from: source, at: destination) {
                hasForeignWork = false
                return outcome
            }
        } else {
            try migration.refuseHardLinks(source)
            hasRolledBack = try rollBackHotJournal(in: directory)
        }
        let (source, destination, isOutput) = (source, destination, isOutput)
        let identity = try identityOfFile()
        let (prepared, check) = try migration.checkedPreview(source, try versions()) {
            [migration] () throws(EngineError) in
            try migration.refusePlace(destination, for: source)
            try migration.refuseTakenSideFiles()
            if !isOutput {
                try directory.tryAttributes(of: source, ignoringOwner: migration.request.ignoresOwnership)
            }
        }
        guard !prepared.steps.isEmpty else { return try nothingToDo(prepared, in: directory) }
        self.check = check
        previewed = identity.map { (prepared, $0) }
        return nil
    }

    /// What the store is before it is opened, so that no lock on it is dropped; nil for what is no file, and is
    /// refused.
    private func identityOfFile() throws(EngineError) -> SourceIdentity? {
        let status = try EngineError.at(source.path) { try Files.statusIfExists(source.path) }
        guard status?.kind == .regular else { return nil }
        return try SourceIdentity(StoreDescriptor(source), uuid: "", isGuarded: false)
    }

    func nothingToDo(
        _ prepared: PreparedMigration, in directory: borrowing WorkDirectory
    ) throws(EngineError) -> MigrationOutcome {
        var outcome = MigrationOutcome(store: source.path, prepared: prepared, warnings: prepared.warnings)
        outcome.hasRolledBack = hasRolledBack
        outcome.warnings += try rollbackWarning(in: directory)
        return outcome
    }

    // MARK: - Resuming and beginning

    private mutating func replaced(in directory: borrowing WorkDirectory) throws(EngineError) -> MigrationOutcome {
        var found = try UnfinishedWork(
            in: directory.path, for: destination, isOutput: isOutput, discards: request.resume == .restart)
        if found.state == .swapped {
            // The run that swapped may have ended before this.
            try StoreSwap.proveDurable(destination)
            if isOutput { return try finishedOutput(found.plan) }
            if let outcome = try finishedInPlace(found) { return outcome }
            // An earlier migration is complete, and this one continues from its version.
            try SidecarCopies(work: directory.path).removePublished()
            try directory.clear()
            found = try UnfinishedWork(in: directory.path, for: destination, isOutput: false)
        }
        try found.requireKnown()
        if request.resume == .refuse { try found.requireNone() }
        // Folding the -wal in has changed the header's flag.
        let wasWAL = isOutput ? false : try wasWAL(found.plan)
        if request.resume == .restart || !found.isResumable {
            hasForeignWork = false
            // Without a plan nothing else would record it.
            if wasWAL { try originalMode.note() }
            try found.discard(directory)
            found = try UnfinishedWork(in: directory.path, for: destination, isOutput: isOutput)
        }
        KillPoint.reach(.recovered)
        return isOutput ? try output(found, directory) : try inPlace(found, wasWAL: wasWAL, directory)
    }

    private func wasWAL(_ plan: PlanRecord?) throws(EngineError) -> Bool {
        if let plan { plan.sourceIsWAL } else { try originalMode.isNoted() }
    }

    var originalMode: OriginalMode { OriginalMode(of: source, work: source.workDirectory) }

    /// In a large store once: a run that goes on with earlier work has the numbers of its plan.
    private func countLosses(
        of prepared: inout PreparedMigration, _ begun: PlanRecord?, in store: SourceStore
    ) throws(EngineError) {
        guard let begun else { return try migration.countLosses(of: &prepared, in: store) }
        prepared.lossCounts = begun.lossCounts ?? []
    }

    /// A run in place that was ended may have folded its -wal in.
    private func isWAL(_ store: SourceStore) throws(EngineError) -> Bool {
        if store.isWAL { true } else { try originalMode.isNoted() }
    }

    /// `identity` is that of a source to which others may write, as it was before it was opened; nil for one that is
    /// owned.
    mutating func migrate(
        _ store: SourceStore, _ identity: SourceIdentity?, _ found: UnfinishedWork, _ descriptor: StoreDescriptor,
        _ directory: borrowing WorkDirectory
    ) throws(EngineError) -> MigrationOutcome {
        try found.requireStore(store.metadata.uuid, source)
        try found.requireChoice(request.cloudKit)
        let isUnchanged = try previewed?.store == SourceIdentity(descriptor, uuid: "", isGuarded: false)
        var prepared = try PreparedMigration(
            request, history: try versions(), store: store, counted: isUnchanged ? previewed?.prepared : nil)
        guard !prepared.steps.isEmpty else {
            try found.requireNoOther(than: prepared)
            hasForeignWork = false
            return try nothingToDo(prepared, in: directory)
        }
        prepared.countLosses(
            in: store, upTo: PreparedMigration.quicklyCounted, as: isUnchanged ? previewed?.prepared : nil)
        var outcome = MigrationOutcome(store: destination.path, prepared: prepared, warnings: prepared.warnings)
        let fingerprint = PlanFingerprint(prepared, request)
        try found.requirePlan(fingerprint, steps: prepared.steps.map(\.versions), verification: request.verification)
        hasForeignWork = false
        if found.plan != nil || check == nil { migration.events(.prepared(prepared)) }
        if found.plan == nil, check == nil { check = try migration.check(prepared, store) }
        try countLosses(of: &prepared, found.plan, in: store)
        outcome.prepared.lossCounts = prepared.lossCounts
        prepared.notices = found.plan?.notices ?? check?.notices ?? []
        outcome.warnings += prepared.notices
        outcome.warnings += try rollbackWarning(in: directory)
        let externalBytes = isOutput ? try ExternalFiles(from: source, to: destination).bytes : 0
        let plan: PlanRecord
        if let begun = found.plan {
            plan = begun
        } else {
            var source = if let identity { identity } else { try SourceIdentity(descriptor, uuid: "", isGuarded: true) }
            source.uuid = store.metadata.uuid
            plan = try migration.begin(
                prepared, fingerprint, source, isWAL: try isWAL(store), externalBytes: externalBytes, in: directory)
        }
        hasPlan = true
        if isOutput { try tellOfSource(store, &outcome) }
        let steps = StepSequence(
            request: request, cancellation: migration.cancellation, events: migration.events, prepared: prepared,
            plan: plan, external: source, isResumed: found.plan != nil,
            checked: check?.structure ?? .none, furtherBytes: externalBytes)
        let staging = try steps.build(from: store, isWAL: plan.sourceIsWAL, in: directory, &outcome)
        if isOutput { try requireUnchanged(store) }
        migration.events(.phaseBegan("swap"))
        try migration.cancellation.check()
        if isOutput { try copyExternalFiles(&outcome) }
        let swap = StoreSwap(
            staging: staging, plan: plan, timeout: request.swapTimeout, ignoresOwnership: ignoresOwnership,
            verification: request.verification, cancellation: migration.cancellation)
        try steps.condemning(in: directory) { () throws(EngineError) in
            if isOutput {
                outcome.warnings += try swap.publish(at: destination, like: source, descriptor, in: directory)
            } else {
                try replace(store, swap, descriptor, directory, &outcome)
            }
        }
        return outcome
    }
}
