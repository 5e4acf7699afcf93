import CausewayPlatform
import CausewayPreparation
import CausewayStores

/// A new store beside the old one, which keeps every byte: read through one consistent snapshot.
extension MigrationRun {
    mutating func output(
        _ found: UnfinishedWork, _ directory: borrowing WorkDirectory
    ) throws(EngineError) -> MigrationOutcome {
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
        let store = try SourceStore.reading(
            source, removesEmptyLog: true, companions: 1 + max(1, request.options.jobs))
        defer { store.release() }
        // Again: a program may have written before the snapshot began.
        try found.requireSource(descriptor, isGuarded: false)
        do throws(EngineError) {
            return try migrate(store, identity, found, descriptor, directory)
        } catch {
            // A file that changes while it is read may look damaged in any way.
            if !error.state.isReplaced, !error.isInterrupt { try requireUnchanged(store) }
            throw error
        }
    }

    /// Refuses what was read without a lock if another program wrote meanwhile. The work is useless then.
    func requireUnchanged(_ store: SourceStore) throws(EngineError) {
        do throws(EngineError) {
            try store.requireUnchanged()
        } catch {
            throw hasPlan && error.kind == .busy
                ? UnfinishedWork.changed(source, ["another program wrote to it while it was read"]) : error
        }
    }

    func tellOfSource(_ store: SourceStore, _ outcome: inout MigrationOutcome) throws(EngineError) {
        outcome.walBreak = store.walBreak
        outcome.warnings += try foreignOwnerWarning()
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

    func copyExternalFiles(_ outcome: inout MigrationOutcome) throws(EngineError) {
        outcome.warnings += try ExternalFiles(
            from: source, to: destination, ignoresOwnership: ignoresOwnership
        ).copy(cancellation: migration.cancellation)
        KillPoint.reach(.externalFilesLinked)
    }

    /// The new store is in place since an earlier run.
    mutating func finishedOutput(_ plan: PlanRecord?) throws(EngineError) -> MigrationOutcome {
        let prepared: PreparedMigration
        let rest: PreparedMigration
        let isNew: Bool
        do throws(EngineError) {
            rest = try migration.prepare(destination, versions())
            prepared = try migration.prepare(source, versions())
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
        var outcome = MigrationOutcome(store: destination.path, prepared: prepared, warnings: prepared.warnings)
        outcome.wasSwapped = true
        return outcome
    }
}
