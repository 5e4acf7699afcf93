import CausewayPlatform
import CausewayPreparation
import CausewayStores

/// What an earlier run has left in a work directory, read before anything changes.
struct UnfinishedWork {
    let state: RecoveryDecision
    let plan: PlanRecord?
    let intent: SwapIntent?
    private let work: String
    private let location: StoreLocation

    /// - Parameters:
    ///   - work: the work directory.
    ///   - location: where the new store goes. No connection of this process has it open.
    ///   - isOutput: whether it differs from the source: then the file need not exist.
    ///   - discards: whether the work is only read to be discarded: then its plan may have another format.
    /// - Throws: `.foreignCheckpoint` for such a plan, `.inputOutput` if the work can't be read.
    init(in work: String, for location: StoreLocation, isOutput: Bool, discards: Bool = false) throws(EngineError) {
        self.work = work
        self.location = location
        do throws(EngineError) {
            plan = try WorkDirectory.plan(in: work)
        } catch {
            guard discards, error.kind == .foreignCheckpoint else { throw error }
            plan = nil
        }
        let intent = try WorkDirectory.intent(in: work).flatMap { $0.store == location.name ? $0 : nil }
        self.intent = intent
        var facts = RecoveryDecision.Facts(
            plan: plan == nil ? .absent : .readable, intent: intent == nil ? .absent : .readable, store: .other,
            hasStaging: false, hasBackup: false)
        if let intent { try Self.look(&facts, intent, work, location, isOutput: isOutput) }
        state = RecoveryDecision(facts)
    }

    private static func look(
        _ facts: inout RecoveryDecision.Facts, _ intent: SwapIntent, _ work: String, _ location: StoreLocation,
        isOutput: Bool
    ) throws(EngineError) {
        try EngineError.at(location.path) {
            if let store = try FileIdentity(of: location.path) {
                if store.isSameFile(as: intent.destination) {
                    facts.store = .destination
                } else if !isOutput, store.isSameContent(as: intent.source) || store.isSameFile(as: intent.source) {
                    // The same file with other content was written to since: `requireSource` reports it.
                    facts.store = .source
                }
            } else {
                // Before it is published, an output isn't there.
                facts.store = isOutput ? .source : .absent
            }
            let staging = try FileIdentity(of: work + "/" + intent.staging)
            facts.hasStaging =
                staging.map { $0.isSameFile(as: intent.destination) && $0.isSameContent(as: intent.destination) }
                ?? false
            // The rename removes it. If there is another one, it was started over since, and the intent is void.
            if !isOutput, staging != nil, !facts.hasStaging, [.source, .other].contains(facts.store) {
                facts.intent = .absent
            }
            let backup = try FileIdentity(of: location.directory + "/" + intent.backup)
            facts.hasBackup = backup?.isSameContent(as: intent.source) ?? false
        }
    }

    /// Whether there is work that can be resumed.
    var isResumable: Bool { plan != nil && [.unfinished, .readyToSwap].contains(state) }

    /// Throws if no run leaves such a state.
    func requireKnown() throws(EngineError) {
        guard state == .unknown || state == .storeMissing, let intent else { return }
        var found = "nothing"
        if let identity = try? FileIdentity(of: location.path) { found = Self.words(identity) }
        throw EngineError(
            .undecided, "\(location.path): is neither the store that was migrated nor the new one; nothing was touched",
            details: [
                "there is \(found)", "the old store was \(Self.words(intent.source))",
                "the new store was \(Self.words(intent.destination))",
            ],
            remedy: """
                put the right file in place, or move \(work) away if the file there is right; the backup is \
                \(intent.backup)
                """)
    }

    private static func words(_ identity: FileIdentity) -> String {
        "a file of \(identity.bytes) bytes with inode \(identity.inode)"
    }

    /// Whether the source is still the one that the work began with, judged by its file: it isn't open yet.
    func requireSource(_ descriptor: StoreDescriptor, isGuarded: Bool) throws(EngineError) {
        guard let plan, !Mutant.isOn(.noSourceCheck) else { return }
        let now = try SourceIdentity(descriptor, uuid: plan.source.uuid, isGuarded: isGuarded)
        var differences = now.differences(from: plan.source)
        if isGuarded {
            // Owned stores have no -wal while they are migrated: an existing one was written since.
            let source = descriptor.location
            for path in [source.wal, source.journal] {
                try EngineError.at(path) {
                    guard let status = try Files.statusIfExists(path), try !source.isSpent(path, status) else { return }
                    differences.append("\(Paths.name(of: path)) holds data")
                }
            }
        }
        guard differences.isEmpty else { throw Self.changed(descriptor.location, differences) }
    }

    /// Whether it is the same store, now that it is open: another store may have the same header.
    func requireStore(_ uuid: String, _ location: StoreLocation) throws(EngineError) {
        guard let plan, plan.source.uuid != uuid, !Mutant.isOn(.noSourceCheck) else { return }
        throw Self.changed(location, ["it is another store: its NSStoreUUID was \(plan.source.uuid) and is \(uuid)"])
    }

    static func changed(_ location: StoreLocation, _ differences: [String]) -> EngineError {
        EngineError(
            .undecided, "\(location.path): the store has changed since its migration began", details: differences,
            remedy: "migrate it as it is now with --restart, which discards the unfinished work")
    }

    /// Whether the work is of the same plan.
    ///
    /// Another revision of the tool might do the rest differently. If the last store is complete and verified, there is
    /// no rest: it only has to be the requested one.
    ///
    /// - Parameters:
    ///   - fingerprint: of what is asked for now.
    ///   - steps: the versions of each step of what is asked for.
    ///   - verification: how thoroughly the store must have been verified.
    /// - Throws: `.foreignCheckpoint` with what differs.
    func requirePlan(
        _ fingerprint: PlanFingerprint, steps: [[String]], verification: VerificationLevel
    ) throws(EngineError) {
        guard let plan, plan.fingerprint != fingerprint, !Mutant.isOn(.noPlanCheck) else { return }
        if fingerprint.asksForTheSame(as: plan.fingerprint), plan.steps == steps, try isComplete(plan, verification) {
            return
        }
        throw EngineError(
            .foreignCheckpoint, "\(work): the unfinished work belongs to another plan; nothing was touched",
            details: fingerprint.differences(from: plan.fingerprint),
            remedy: "run again with the same models and options as before, or discard the work with --restart")
    }

    /// Whether work on a store that CloudKit mirrors is to go on as it began: without the option there is no plan to
    /// compare with it.
    ///
    /// - Throws: `.foreignCheckpoint` where it was carried, and isn't to be any more.
    func requireChoice(_ choice: CloudKitPolicy) throws(EngineError) {
        let part = PlanFingerprint.Part(name: "--cloudkit", value: CloudKitPolicy.carry.rawValue)
        guard choice == .refuse, let plan, plan.fingerprint.parts.contains(part) else { return }
        throw EngineError(
            .foreignCheckpoint, "\(work): the unfinished work belongs to another plan; nothing was touched",
            details: ["\(part.name): was “\(part.value)”, is “\(choice.rawValue)”"],
            remedy: "run again with the same models and options as before, or discard the work with --restart")
    }

    /// Whether only the swap is left to do.
    private func isComplete(_ plan: PlanRecord, _ verification: VerificationLevel) throws(EngineError) -> Bool {
        let last = plan.steps.count - 1
        guard let record = try WorkDirectory.verified(last, of: plan, in: work), record.verification >= verification
        else { return false }
        let staging = work + "/" + WorkFile.staging(last)
        return try EngineError.at(staging) { try Files.exists(staging) }
    }

    /// Refuses to discard work silently if the request needs no migration.
    func requireNoOther(than prepared: PreparedMigration) throws(EngineError) {
        guard let plan else { return }
        throw EngineError(
            .foreignCheckpoint, "\(work): the unfinished work belongs to another plan; nothing was touched",
            details: [
                "the path: was “\(plan.path.joined(separator: " → "))”; \(prepared.targetVersion) needs no migration"
            ], remedy: "run again with the same models and options as before, or discard the work with --restart")
    }

    /// Refuses to resume work if the user doesn't want it.
    func requireNone() throws(EngineError) {
        guard isResumable else { return }
        throw EngineError(
            .undecided, "\(work): there is unfinished work of an earlier run, and --no-resume is given",
            remedy: "resume it by leaving out --no-resume, or discard it with --restart")
    }

    /// Says that the work is discarded, if the run has nothing to do.
    var discardWarning: String {
        let path = plan?.path.joined(separator: " → ") ?? ""
        return """
            \(work): the unfinished work of an earlier run (\(path)) was discarded: the store has changed since then
            """
    }

    /// Removes everything in the folder, and the files that the work has written elsewhere.
    func discard(_ directory: borrowing WorkDirectory) throws(EngineError) {
        for path in plan?.sideFiles ?? [] { try EngineError.at(path) { try Files.unlink(path) } }
        if [.unfinished, .readyToSwap, .stagingLost, .fresh].contains(state) {
            if let intent {
                try Self.removeSecondName(location.directory + "/" + intent.backup, of: location)
            } else if let plan, plan.output == nil {
                // If the new store is started over, the swap's record is removed before it.
                try Self.removeSecondName(location.path + plan.backupSuffix, of: location)
            }
        }
        try directory.clear()
    }

    /// Removes a backup's name if it is a second name of the store itself: it isn't needed, and a store with two names
    /// is refused. It only reads the files' status: opening the store could drop locks of this process.
    static func removeSecondName(_ backup: String, of location: StoreLocation) throws(EngineError) {
        try EngineError.at(location.path) {
            guard let found = try Files.statusIfExists(backup), let store = try Files.statusIfExists(location.path),
                found.isSameFile(as: store), backup != location.path, store.linkCount > 1
            else { return }
            try Files.unlink(backup)
            try Files.syncDirectory(location.directory)
        }
    }
}

extension FileIdentity {
    /// The same bytes by the header, whatever the file system says: a copied store is the same store.
    func isSameContent(as other: FileIdentity) -> Bool { bytes == other.bytes && header == other.header }
}
