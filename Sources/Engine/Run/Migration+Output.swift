import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewayStoreFormat
import CausewayStores

/// A new store beside the old one, which keeps every byte: read through one consistent snapshot.
extension Migration {
    func runToOutput(_ output: String, from source: StoreLocation) throws(EngineError) -> MigrationOutcome {
        let destination = try StoreLocation(new: output)
        try ExternalFiles.refuseShared(from: source, to: destination)
        let hasFolder = try EngineError.at(destination.workDirectory, as: .cannotCreate) {
            try Files.exists(destination.workDirectory)
        }
        // Before anything is made beside existing files.
        if !hasFolder { try refuseExisting(destination) }
        let directory: WorkDirectory
        do throws(EngineError) {
            directory = try WorkDirectory.taken(at: destination.workDirectory)
        } catch {
            return try doneWithoutWork(source, destination, error)
        }
        let migration = reporting(to: directory)
        var outcome: MigrationOutcome?
        var failure: RunFailure?
        var notices: [String]?
        do throws(EngineError) {
            if try !directory.hasWork() { (outcome, notices) = try migration.preview(source, destination) }
        } catch {
            failure = RunFailure(error: error, keepsWork: true, hasPlan: false)
        }
        if outcome == nil, failure == nil {
            var run = OutputRun(migration: migration, source: source, destination: destination, notices: notices)
            do throws(EngineError) {
                outcome = try run.run(in: directory)
            } catch {
                failure = RunFailure(error: error, keepsWork: run.keepsWork(after: error), hasPlan: run.hasPlan)
            }
        }
        return try settled(directory, outcome, failure)
    }

    /// The outcome if there is nothing to do, else the warnings of the check of the rows.
    private func preview(
        _ source: StoreLocation, _ destination: StoreLocation
    ) throws(EngineError) -> (MigrationOutcome?, notices: [String]?) {
        try refuseExisting(destination)
        let preview = try checkedPreview(source, try versions()) { () throws(EngineError) in
            try refuseUnusable(destination, for: source)
            try refuseTakenSideFiles()
        }
        guard !preview.steps.isEmpty else {
            return (
                MigrationOutcome(store: source.path, backup: nil, prepared: preview, warnings: preview.warnings), nil
            )
        }
        return (nil, preview.notices)
    }
}

/// One run to another path; knows how far it got, and so what happens to the work when it fails.
private struct OutputRun {
    let migration: Migration
    let source: StoreLocation
    let destination: StoreLocation
    /// Warnings of the check of the rows; nil if it hasn't run.
    private let notices: [String]?
    private var hasForeignWork = true
    private(set) var hasPlan = false
    /// The new store need not get the source's owner.
    private var ignoresOwnership = false

    init(migration: Migration, source: StoreLocation, destination: StoreLocation, notices: [String]?) {
        self.migration = migration
        self.source = source
        self.destination = destination
        self.notices = notices
    }

    private var request: MigrationRequest { migration.request }

    func keepsWork(after error: EngineError) -> Bool {
        hasForeignWork || error.state == .alreadyNew || (hasPlan && (error.isPassing || error.kind == .undecided))
    }

    mutating func run(in directory: borrowing WorkDirectory) throws(EngineError) -> MigrationOutcome {
        var found = try UnfinishedWork(
            in: directory.path, for: destination, isOutput: true, discards: request.resume == .restart)
        if found.state == .swapped {
            // The run that published it may have ended before this.
            try StoreSwap.proveDurable(destination)
            return try finished(found.plan)
        }
        try found.requireKnown()
        if request.resume == .never { try found.requireNone() }
        if request.resume == .restart || !found.isResumable {
            hasForeignWork = false
            try found.discard(directory)
            found = try UnfinishedWork(in: directory.path, for: destination, isOutput: true)
        }
        KillPoint.reach(.recovered)
        try migration.refuseUnusable(destination, for: source)
        let foreignness = try migration.foreignness(of: source)
        ignoresOwnership = request.ignoresOwnership || foreignness != .none
        if found.plan == nil { try directory.tryAttributes(of: source, ignoringOwner: ignoresOwnership) }
        // Before the first connection: a later run sees what is written from now on as a change.
        let descriptor = try StoreDescriptor(source)
        defer { withExtendedLifetime(descriptor) {} }
        let identity = try SourceIdentity(descriptor, uuid: "", isGuarded: false)
        try found.requireSource(descriptor, isGuarded: false)
        // Mapping models look rows up while others are streamed.
        let store = try SourceStore.reading(source, companions: 1 + max(1, request.options.jobs))
        defer { store.release() }
        // Again: a program may have written before the snapshot began.
        try found.requireSource(descriptor, isGuarded: false)
        do throws(EngineError) {
            return try migrate(store, identity, found, descriptor, directory)
        } catch {
            // A file that changes while it is read may look damaged in any way.
            if !error.state.isReplaced { try requireUnchanged(store) }
            throw error
        }
    }

    /// Refuses what was read without a lock if another program wrote meanwhile. The work is useless then.
    private func requireUnchanged(_ store: SourceStore) throws(EngineError) {
        do throws(EngineError) {
            try store.requireUnchanged()
        } catch {
            throw hasPlan && error.kind == .busy
                ? UnfinishedWork.changed(source, ["another program wrote to it while it was read"]) : error
        }
    }

    private mutating func migrate(
        _ store: SourceStore, _ identity: SourceIdentity, _ found: UnfinishedWork, _ descriptor: StoreDescriptor,
        _ directory: borrowing WorkDirectory
    ) throws(EngineError) -> MigrationOutcome {
        try found.requireStore(store.metadata.uuid, source)
        var prepared = try PreparedMigration(request, history: try migration.versions(), store: store)
        var outcome = MigrationOutcome(
            store: destination.path, backup: nil, prepared: prepared, warnings: prepared.warnings)
        guard !prepared.steps.isEmpty else {
            try found.requireNoOther(than: prepared)
            hasForeignWork = false
            outcome.store = source.path
            return outcome
        }
        let fingerprint = PlanFingerprint(prepared, request)
        try found.requirePlan(
            fingerprint, steps: prepared.steps.map(\.versions), verification: request.verification)
        hasForeignWork = false
        if let known = found.plan?.notices ?? notices {
            prepared.notices = known
        } else if found.plan == nil {
            prepared.notices = try migration.check(prepared, store)
        }
        outcome.warnings += prepared.notices
        var identity = identity
        identity.uuid = store.metadata.uuid
        let externalBytes = try ExternalFiles(from: source, to: destination).bytes
        let plan: PlanRecord
        if let begun = found.plan {
            plan = begun
        } else {
            // An interrupted run in place may have folded its -wal in.
            let wasWAL = try OriginalMode(of: source, work: source.workDirectory).isNoted()
            plan = try migration.begin(
                prepared, fingerprint, identity, isWAL: store.isWAL || wasWAL, externalBytes: externalBytes,
                in: directory)
        }
        hasPlan = true
        outcome.walBreak = store.walBreak
        outcome.warnings += try foreignOwnerWarning()
        let steps = StepSequence(
            request: request, cancellation: migration.cancellation, events: migration.events, prepared: prepared,
            plan: plan, external: source, isResumed: found.plan != nil,
            furtherBytes: externalBytes)
        let staging = try steps.build(from: store, isWAL: plan.sourceIsWAL, in: directory, &outcome)
        try requireUnchanged(store)
        migration.events(.phaseBegan("swap"))
        try migration.cancellation.check()
        outcome.warnings += try ExternalFiles(
            from: source, to: destination, ignoresOwnership: ignoresOwnership
        ).copy(cancellation: migration.cancellation)
        KillPoint.reach(.externalFilesLinked)
        let swap = StoreSwap(
            staging: staging, plan: plan, timeout: request.swapTimeout, ignoresOwnership: ignoresOwnership,
            cancellation: migration.cancellation)
        outcome.warnings += try steps.condemning(in: directory) { () throws(EngineError) in
            try swap.publish(at: destination, like: source, descriptor, in: directory)
        }
        return outcome
    }

    private func foreignOwnerWarning() throws(EngineError) -> [String] {
        guard !request.ignoresOwnership else { return [] }
        switch try migration.foreignness(of: source) {
        case .none: return []
        case .user: return ["\(destination.path): belongs to you; \(source.path) is another user's"]
        case .group(let number):
            return ["\(destination.path): belongs to your group; \(source.path) belongs to group \(number)"]
        }
    }

    /// The new store is in place since an earlier run.
    private mutating func finished(_ plan: PlanRecord?) throws(EngineError) -> MigrationOutcome {
        let prepared: PreparedMigration
        let rest: PreparedMigration
        let isNew: Bool
        do throws(EngineError) {
            rest = try migration.prepare(destination, migration.versions())
            prepared = try migration.prepare(source, migration.versions())
            isNew = try plan?.leads(to: destination) ?? true
        } catch {
            var error = error
            error.state = .alreadyNew
            throw error
        }
        hasForeignWork = false
        guard rest.steps.isEmpty, isNew else {
            throw EngineError(
                .cannotCreate, "\(destination.path): already exists, at \(rest.sourceVersion)",
                remedy: "give another --output, or move it away")
        }
        var outcome = MigrationOutcome(
            store: destination.path, backup: nil, prepared: prepared, warnings: prepared.warnings)
        outcome.wasSwapped = true
        return outcome
    }
}
