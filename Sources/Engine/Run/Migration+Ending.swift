import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewayStores

/// What a run begins with and ends with: the work directory, and what becomes of it.
extension Migration {
    /// In place both locations are the same, and the store is owned from the first row to the swap; with `--output` the
    /// source stays as it is to the byte, and is read through one consistent snapshot (InsideCrashSafety §4.2).
    func run(from source: StoreLocation, to destination: StoreLocation) throws(EngineError) -> MigrationOutcome {
        let isOutput = request.output != nil
        if isOutput, let outcome = try madeWithoutWork(from: source, at: destination) { return outcome }
        let history = isOutput ? nil : try versions()
        let directory: WorkDirectory
        do throws(EngineError) {
            directory = try WorkDirectory.taken(at: destination.workDirectory)
        } catch {
            return try doneWithoutWork(source, destination, error)
        }
        var run = MigrationRun(
            migration: reporting(to: directory), source: source, destination: destination, history: history)
        // Only under the lock: opening the file would drop the locks that another migration of this process has on it.
        var before: StoreTrace?
        var outcome: MigrationOutcome?
        var failure: RunFailure?
        do throws(EngineError) {
            if !isOutput {
                try BrokenStore.takeBack(source)
                before = try StoreTrace(source)
            }
            outcome = try run.outcome(in: directory)
        } catch {
            failure = RunFailure(error: error, keepsWork: run.keepsWork(after: error), hasPlan: run.hasPlan)
        }
        if !isOutput { settle(source, before, directory, &outcome, &failure) }
        return try settled(directory, outcome, failure)
    }

    /// Before anything is made beside existing files: without a work directory they are nobody's work.
    private func madeWithoutWork(
        from source: StoreLocation, at destination: StoreLocation
    ) throws(EngineError) -> MigrationOutcome? {
        try ExternalFiles.refuseShared(from: source, to: destination)
        let hasFolder = try EngineError.at(destination.workDirectory, as: .cannotCreate) {
            try Files.exists(destination.workDirectory)
        }
        return hasFolder ? nil : try madeBefore(from: source, at: destination)
    }

    /// The outcome where the new store is in place, made of this source by the same request, and no record is left: the
    /// run that made it was killed while it removed its work, or nobody waited for its answer.
    ///
    /// - Throws: `.cannotCreate` where anything else is there.
    func madeBefore(
        from source: StoreLocation, at destination: StoreLocation
    ) throws(EngineError) -> MigrationOutcome? {
        guard let prepared = try preparedBefore(source, destination) else {
            try refuseExisting(destination)
            return nil
        }
        var outcome = MigrationOutcome(store: destination.path, prepared: prepared, warnings: prepared.warnings)
        outcome.wasSwapped = true
        // Each is there, or is copied again: the source's are what they were.
        let isForeign = try foreignness(of: source) != .none
        outcome.warnings += try ExternalFiles(
            from: source, to: destination, ignoresOwnership: request.ignoresOwnership || isForeign
        ).copy(cancellation: cancellation)
        return outcome
    }

    /// What is planned now, where the destination is marked as its result.
    private func preparedBefore(
        _ source: StoreLocation, _ destination: StoreLocation
    ) throws(EngineError) -> PreparedMigration? {
        let mark = try EngineError.at(destination.path) { () throws(FileError) -> String? in
            guard try Files.statusIfExists(destination.path)?.kind == .regular else { return nil }
            for path in [destination.wal, destination.journal] {
                // One with content is a program's that has written to the store. Readers leave an empty one.
                if let there = try Files.statusIfExists(path), try !destination.isSpent(path, there) { return nil }
            }
            return try Files.mark(of: destination.path)
        }
        guard let mark else { return nil }
        let identity = try SourceIdentity(StoreDescriptor(source), uuid: "", isGuarded: false)
        let prepared = try prepare(source, versions())
        let expected = try EngineError.at(destination.path) {
            try OutputMark(
                PlanFingerprint(prepared, request), identity, request.verification, destination.path,
                sideFiles: [request.rejects, request.keyMap].compactMap(\.self))
        }
        return mark == expected.text ? prepared : nil
    }

    /// Gives a store that was to be replaced its journal mode back where no work counts on it, and says what was done
    /// to its files.
    private func settle(
        _ location: StoreLocation, _ before: StoreTrace?, _ directory: borrowing WorkDirectory,
        _ outcome: inout MigrationOutcome?, _ failure: inout RunFailure?
    ) {
        if let ended = failure, ended.error.state == .untouched {
            failure?.error.state = before?.state() ?? .untouched
            // The run that began the work has folded the -wal in, and the work depends on it.
            if failure?.error.state == .untouched, ended.keepsWork,
                (try? WorkDirectory.plan(in: directory.path))?.sourceIsWAL == true
            {
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
        // The run would have rolled an unfinished transaction back. Until then nobody can read the store.
        if request.output == nil, try StoreFile.hasHotJournal(source) { throw refusal }
        let preview = try prepare(source, versions())
        guard preview.steps.isEmpty else {
            // The place's own problem says more than "no folder can be made there".
            try refusePlace(destination, for: source)
            throw refusal
        }
        return MigrationOutcome(store: source.path, prepared: preview, warnings: preview.warnings)
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

    /// Writes the plan: from now on the work can be resumed. `isWAL`: whether the app had the store in WAL mode;
    /// `externalBytes` will be copied beside the new store at the end.
    func begin(
        _ prepared: PreparedMigration, _ fingerprint: PlanFingerprint, _ identity: SourceIdentity, isWAL: Bool,
        externalBytes: Int = 0, in directory: borrowing WorkDirectory
    ) throws(EngineError) -> PlanRecord {
        let (needed, overflow) = prepared.diskBytes.addingReportingOverflow(externalBytes)
        try DiskRoom(prepared, request, events).require(overflow ? .max : needed, at: directory.path)
        // Once there is a plan, existing files count as its own.
        try refuseTakenSideFiles()
        let plan = PlanRecord(
            fingerprint: fingerprint, source: identity, sourceIsWAL: isWAL,
            // A random UUID without its dashes, so that its backup and checkpoints are unique.
            migration: Hexadecimal.text((0..<16).map { _ in UInt8.random(in: .min ... .max) }),
            now: request.options.now.bitPattern, path: prepared.path, steps: prepared.steps.map(\.versions),
            output: request.output, sideFiles: [request.rejects, request.keyMap].compactMap { $0 },
            notices: prepared.notices, lossCounts: prepared.lossCounts)
        try directory.write(plan)
        return plan
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
