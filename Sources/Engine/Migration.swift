import CausewayPlanning
import CausewayPlatform
import CausewaySQLite

/// Runs a migration: own the store, make one staging store a step, verify, swap.
package struct Migration {
    package let request: MigrationRequest
    package let cancellation: Cancellation
    let events: (EngineEvent) -> Void
    /// The versions, where they were read before.
    private let history: ModelHistory?

    /// What a run has done.
    package struct Outcome: Sendable {
        package var store: String
        package var backup: String?
        package var prepared: PreparedMigration
        package var rows = 0
        package var dropped = 0
        package var bytes = 0
        package var seconds = 0.0
        package var warnings: [String] = []
        /// Rows that mapping models made.
        package var createdRows = 0
        /// What the validation found and did.
        package var violations = 0
        package var defaultedValues = 0
        package var rejectedRows = 0
    }

    /// - Parameters:
    ///   - request: what the user asks for.
    ///   - history: the versions of `request.models` with `request.edges`, where they were read before; else they are
    ///     read when they are needed.
    ///   - cancellation: stops the run from another thread.
    ///   - events: called in order, on the thread that runs the migration.
    package init(
        _ request: MigrationRequest, history: ModelHistory? = nil, cancellation: Cancellation = Cancellation(),
        events: @escaping (EngineEvent) -> Void = { _ in }
    ) {
        self.request = request
        self.history = history
        self.cancellation = cancellation
        self.events = events
    }

    /// Plans without writing.
    package func prepare() throws(EngineError) -> PreparedMigration {
        try prepare(StoreLocation(existing: request.store), try versions())
    }

    private func prepare(
        _ location: StoreLocation, _ history: ModelHistory
    ) throws(EngineError) -> PreparedMigration {
        let store = try SourceStore.reading(location)
        defer { store.release() }
        return try PreparedMigration(request, history: history, store: store)
    }

    private func versions() throws(EngineError) -> ModelHistory {
        if let history { return history }
        return try ModelHistory(reading: request.models, edges: request.edges)
    }

    /// Plans, migrates, verifies and swaps. Blocks until it is done.
    package func run() throws(EngineError) -> Outcome {
        let start = ContinuousClock.now
        let location = try StoreLocation(existing: request.store)
        try SideFiles.requireOwnPlaces(
            [("--rejects", request.rejects), ("--key-map", request.keyMap)],
            besides: [location.path] + (request.output.map { [$0] } ?? []))
        var outcome: Outcome
        if let output = request.output {
            outcome = try runToOutput(output, from: location)
        } else {
            outcome = try runInPlace(location)
        }
        outcome.seconds = (ContinuousClock.now - start).seconds
        return outcome
    }

    private func runInPlace(_ location: StoreLocation) throws(EngineError) -> Outcome {
        try refuseHardLinks(location)
        // Planned first without touching the store: what needs nothing, or can't be migrated, stays as it is to the byte.
        let history = try versions()
        try StoreFile.rollBackHotJournal(location)
        let preview = try checkedPreview(location, history)
        guard !preview.steps.isEmpty else {
            var outcome = Outcome(store: location.path, backup: nil, prepared: preview, warnings: preview.warnings)
            removeLeftovers(of: location, &outcome)
            return outcome
        }
        try refuseForeignOwner(location)
        return try working(at: location.workDirectory) {
            (work: borrowing WorkDirectory, files: SideFiles) throws(EngineError) in
            let store = try SourceStore.owning(location)
            defer { store.release() }
            let prepared = try PreparedMigration(request, history: history, store: store)
            var outcome = Outcome(store: location.path, backup: nil, prepared: prepared, warnings: prepared.warnings)
            let staging = try build(prepared, from: store, in: work, external: location, files, &outcome)
            events(.phaseBegan("swap"))
            try cancellation.check()
            outcome.backup = try StoreSwap(staging: staging).replace(store)
            return outcome
        }
    }

    /// A run that was killed after the swap leaves its work directory: the store is done, the folder goes.
    private func removeLeftovers(of location: StoreLocation, _ outcome: inout Outcome) {
        do throws(EngineError) {
            let isThere = (try? Files.statusIfExists(location.workDirectory)) ?? nil
            guard isThere != nil else { return }
            try WorkDirectory.taken(at: location.workDirectory).remove()
        } catch {
            outcome.warnings.append("\(location.workDirectory) couldn't be removed: \(error.message)")
        }
    }

    /// A plan whose first step's rows fit.
    private func checkedPreview(
        _ location: StoreLocation, _ history: ModelHistory
    ) throws(EngineError) -> PreparedMigration {
        let store = try SourceStore.reading(location)
        defer { store.release() }
        let prepared = try PreparedMigration(request, history: history, store: store)
        guard let step = prepared.steps.first else { return prepared }
        events(.prepared(prepared))
        events(.phaseBegan("check"))
        cancellation.attach(store.connection.interruptHandle)
        try store.checkIntegrity()
        let hasHandlers = prepared.handlers.contains { !$0.isEmpty }
        try Preflight(step: step, source: store, makesObjects: step.objects != nil || hasHandlers).check()
        try cancellation.check()
        return prepared
    }

    /// Lends a work directory and removes it afterwards, also after a failure: what is left in it is of no use to the
    /// next run, which starts over.
    private func working(
        at path: String, _ body: (borrowing WorkDirectory, SideFiles) throws(EngineError) -> Outcome
    ) throws(EngineError) -> Outcome {
        let work = try WorkDirectory.taken(at: path)
        let result: Result<Outcome, EngineError>
        do throws(EngineError) {
            let files = try SideFiles(rejects: request.rejects, keyMap: request.keyMap)
            do throws(EngineError) {
                result = .success(try body(work, files))
            } catch {
                // What they say is true of no store, unless the new one is in place; and they would be in the next run's
                // way.
                if error.state == .untouched { files.discard() }
                throw error
            }
        } catch {
            result = .failure(error)
        }
        switch result {
        case .success(var outcome):
            do throws(EngineError) {
                try work.remove()
            } catch {
                // The new store is in place and complete; only what built it couldn't be cleared away.
                outcome.warnings.append("\(path) couldn't be removed: \(error.message)")
            }
            return outcome
        case .failure(let error):
            // The failure that counts is the one that is thrown; the next run clears what can't be removed now.
            try? work.remove()
            throw error
        }
    }

    private func runToOutput(_ output: String, from source: StoreLocation) throws(EngineError) -> Outcome {
        let destination = try StoreLocation(new: output)
        try refuseExisting(destination)
        // Mapping models look rows up while others are streamed.
        let store = try SourceStore.reading(source, companions: 1 + max(1, request.options.jobs))
        defer { store.release() }
        let prepared = try PreparedMigration(request, history: try versions(), store: store)
        guard !prepared.steps.isEmpty else {
            return Outcome(store: source.path, backup: nil, prepared: prepared, warnings: prepared.warnings)
        }
        events(.prepared(prepared))
        events(.phaseBegan("check"))
        cancellation.attach(store.connection.interruptHandle)
        try store.checkIntegrity()
        try cancellation.check()
        return try working(at: destination.workDirectory) {
            (work: borrowing WorkDirectory, files: SideFiles) throws(EngineError) in
            var outcome = Outcome(store: destination.path, backup: nil, prepared: prepared, warnings: prepared.warnings)
            let staging = try build(prepared, from: store, in: work, external: source, files, &outcome)
            events(.phaseBegan("swap"))
            try cancellation.check()
            try ExternalFiles(from: source, to: destination).copy()
            try StoreSwap(staging: staging).publish(at: destination, like: source)
            return outcome
        }
    }

    /// Runs every step; returns the last staging store, verified and closed.
    private func build(
        _ prepared: PreparedMigration, from store: SourceStore, in work: borrowing WorkDirectory,
        external: StoreLocation, _ files: SideFiles, _ outcome: inout Outcome
    ) throws(EngineError) -> String {
        try requireSpace(prepared, at: work.path)
        cancellation.attach(store.connection.interruptHandle)
        try runSteps(prepared, from: store, in: work, external: external, files, &outcome)
        try files.finish()
        return work.staging(prepared.steps.count - 1)
    }

    private func runSteps(
        _ prepared: PreparedMigration, from store: SourceStore, in work: borrowing WorkDirectory,
        external: StoreLocation, _ files: SideFiles, _ outcome: inout Outcome
    ) throws(EngineError) {
        var source = store
        var progress = Progress(total: prepared.rowsToRead * prepared.steps.count)
        for (index, step) in prepared.steps.enumerated() {
            events(
                .stepBegan(
                    versions: step.versions, index: index, count: prepared.steps.count,
                    rows: index == 0 ? prepared.rowsToRead : 0))
            let run = StepRun(
                step: step, source: source, path: work.staging(index), frameworkVersion: prepared.frameworkVersion,
                options: request.options, external: ExternalValues(directory: external.externalData),
                handlers: prepared.handlers[index], code: request.code,
                validation: ValidationSettings(policy: request.violations, rejects: files.rejects),
                keyMap: files.keyMap,
                scratchPath: work.scratch(index),
                inWALMode: store.isWAL, cancellation: cancellation, events: events)
            let result = try run.run(&progress)
            outcome.dropped += result.dropped
            outcome.bytes += result.bytes
            outcome.rows = result.rows
            outcome.createdRows += result.made
            if result.endedLinks > 0 {
                outcome.warnings.append(
                    "\(step.versions.joined(separator: " → ")): \(result.endedLinks) links led to rows that were not made"
                )
            }
            outcome.violations += result.validation.violations
            outcome.defaultedValues += result.validation.defaulted
            outcome.rejectedRows += result.validation.rejected
            if index > 0 {
                source.release()
                try work.remove(staging: index - 1)
            }
            if index + 1 < prepared.steps.count { source = try SourceStore.staged(work.staging(index)) }
        }
    }

    private func requireSpace(_ prepared: PreparedMigration, at path: String) throws(EngineError) {
        let available: Int64
        do {
            available = try DiskSpace.available(at: path)
        } catch {
            throw EngineError(.inputOutput, "\(path): \(error.message)")
        }
        guard available >= prepared.diskBytes else {
            throw EngineError(
                .inputOutput,
                """
                \(path): not enough room: the migration needs about \(prepared.diskBytes) bytes, \(available) are free
                """,
                remedy: "make room, then run again")
        }
    }

    /// Another name of the file would keep its own -wal: writes through it would be lost.
    private func refuseHardLinks(_ location: StoreLocation) throws(EngineError) {
        do {
            try StoreSwap.removeUnusedBackup(of: location)
            let status = try Files.status(of: location.path)
            // A folder has a link for each folder in it; what isn't a file is refused with its own reason.
            guard status.kind == .regular, status.linkCount > 1 else { return }
            let links = status.linkCount
            throw EngineError(
                .sourceData, "\(location.path): the file has \(links) names (hard links)",
                remedy: "copy the store, or write the result elsewhere with --output")
        } catch let error as EngineError {
            throw error
        } catch {
            throw EngineError(.missing, "\(location.path): \(error)")
        }
    }

    /// The new store must get the old one's owner, which only that owner and root can do.
    private func refuseForeignOwner(_ location: StoreLocation) throws(EngineError) {
        do {
            let owner = try Files.status(of: location.path).userID
            guard owner != ProcessFacts.userID, ProcessFacts.userID != 0 else { return }
        } catch {
            throw EngineError(.missing, "\(location.path): \(error.message)")
        }
        throw EngineError(
            .cannotCreate, "\(location.path): the store belongs to another user, whose new one can't be made",
            remedy: "run as its owner, or write the result elsewhere with --output")
    }

    private func refuseExisting(_ output: StoreLocation) throws(EngineError) {
        for path in [output.path, output.wal, output.journal] {
            do {
                guard try Files.statusIfExists(path) == nil else {
                    throw EngineError(
                        .cannotCreate, "\(path): exists already", remedy: "give another --output, or move it away")
                }
            } catch let error as EngineError {
                throw error
            } catch {
                throw EngineError(.cannotCreate, "\(path): \(error)")
            }
        }
    }
}

/// Rows moved so far, over all steps.
struct Progress {
    let total: Int
    var rows = 0
    var bytes = 0
}

extension Duration {
    /// The duration in seconds.
    var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
