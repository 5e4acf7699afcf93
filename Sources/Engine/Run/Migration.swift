import CausewayObjects
import CausewayPlanning
package import CausewayPreparation
import CausewaySQLite
package import CausewayStores

/// Runs a migration: own the store, make one staging store per step, verify, swap (InsideCrashSafety §4.2).
package struct Migration {
    package let request: MigrationRequest
    package let cancellation: Cancellation
    let events: (EngineEvent) -> Void
    /// The versions, if they were read before.
    private let history: ModelHistory?

    /// - Parameters:
    ///   - request: what the user asks for.
    ///   - history: the versions of `request.models` with `request.edges`, if they were read before; else they are read
    ///     when needed.
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

    /// The same migration, which also writes its phases to the work directory.
    func reporting(to directory: borrowing WorkDirectory) -> Migration {
        let (report, events) = (PhaseReport(work: directory.path, verification: request.verification), events)
        return Migration(request, history: history, cancellation: cancellation) { event in
            report.receive(event)
            events(event)
        }
    }

    /// Plans without writing, and checks the source's rows.
    ///
    /// - Returns: the plan, with the warnings of the check.
    /// - Throws: every reason why the store can't be migrated; `.sourceData` where its rows don't fit.
    package func plan() throws(EngineError) -> PreparedMigration {
        let location = try StoreLocation(existing: request.store)
        var prepared = try SourceStore.reading(location) { store throws(EngineError) in
            var prepared = try PreparedMigration(request, history: try versions(), store: store)
            prepared.notices = try notices(prepared, store)
            prepared.countLosses(in: store)
            return prepared
        }
        if !prepared.steps.isEmpty, let refusal = placeRefusal(location) ?? roomRefusal(prepared, location) {
            prepared.notices.append("the migration would be refused now: \(refusal)")
        }
        return prepared
    }

    /// Plans without writing or reading rows.
    package func prepare() throws(EngineError) -> PreparedMigration {
        let history = try versions()
        return try SourceStore.reading(StoreLocation(existing: request.store)) { store throws(EngineError) in
            try PreparedMigration(request, history: history, store: store)
        }
    }

    /// What a run plans for a store; another run that was killed may have left an empty -wal beside it.
    func prepare(_ location: StoreLocation, _ history: ModelHistory) throws(EngineError) -> PreparedMigration {
        try SourceStore.reading(location, removesEmptyLog: true) { store throws(EngineError) in
            try PreparedMigration(request, history: history, store: store)
        }
    }

    func versions() throws(EngineError) -> ModelHistory {
        if let history { return history }
        return try ModelHistory(reading: request.models, edges: request.edges)
    }

    /// Plans, migrates, verifies and swaps; resumes what an earlier run has left. Blocks until it is done.
    package func run() throws(EngineError) -> MigrationOutcome {
        let start = ContinuousClock.now
        let location = try StoreRescue.location(of: request.store)
        try SideFiles.requireOwnPlaces(
            [("--rejects", request.rejects), ("--key-map", request.keyMap)],
            besides: [location.path] + (request.output.map { [$0] } ?? []))
        let migration = try withResolvedPaths()
        let destination =
            if let output = migration.request.output { try StoreLocation(new: output) } else { location }
        var outcome = try migration.run(from: location, to: destination)
        outcome.seconds = (ContinuousClock.now - start).seconds
        return outcome
    }

    /// Output paths are resolved once: a later run in another working directory must mean the same files.
    private func withResolvedPaths() throws(EngineError) -> Migration {
        func resolved(_ path: String?) throws(EngineError) -> String? {
            guard let path else { return nil }
            return try StoreLocation(new: path).path
        }
        var request = request
        request.output = try resolved(request.output)
        request.rejects = try resolved(request.rejects)
        request.keyMap = try resolved(request.keyMap)
        return Migration(request, history: history, cancellation: cancellation, events: events)
    }

    /// A plan whose check of the rows has passed, and what that found; nil if there is nothing to do. `refusing` is
    /// called before the rows are read.
    func checkedPreview(
        _ location: StoreLocation, _ history: ModelHistory, refusing: () throws(EngineError) -> Void
    ) throws(EngineError) -> (prepared: PreparedMigration, check: SourceCheck?) {
        try SourceStore.reading(location, removesEmptyLog: true) { store throws(EngineError) in
            var prepared = try PreparedMigration(request, history: history, store: store)
            guard !prepared.steps.isEmpty else { return (prepared, nil) }
            try refusing()
            prepared.countLosses(in: store, upTo: PreparedMigration.quicklyCounted)
            events(.prepared(prepared))
            let found = try check(prepared, store)
            try countLosses(of: &prepared, in: store)
            return (prepared, found)
        }
    }

    /// What the check before the first byte has found.
    struct SourceCheck {
        /// Warnings about rows that are carried anyway.
        var notices: [String] = []
        /// Of its pages: not what the first step reads out of these itself.
        var structure = SourceStructure.none
    }

    /// Checks of the source what the first step doesn't check while it reads, before a byte is written.
    func check(_ prepared: PreparedMigration, _ store: SourceStore) throws(EngineError) -> SourceCheck {
        events(.phaseBegan("check"))
        var result = SourceCheck()
        if let step = prepared.steps.first {
            result.structure = step.structureToCheck(of: store)
            let notice = try cancellation.interrupting(store.connection.interruptHandle) {
                [result] () throws(EngineError) in
                try result.structure.check(store, cancellation)
            }
            if let notice { result.notices.append(notice) }
        }
        result.notices += try sound(store, result.structure) { () throws(EngineError) in
            try notices(prepared, store, isRun: true)
        }
        for notice in result.notices { events(.warning(notice)) }
        return result
    }

    /// Counts what the steps drop, as a part of the check, in a store that is too large to do so before the plan is
    /// told.
    ///
    /// One scan of each table that loses something, by SQLite: it asks records' headers, so it reads the leaves and no
    /// overflow page, ten to twenty million rows a second: 4 % of the processor time of migrating 6 million rows.
    /// Counting while rows move would cost no reading, but there are many ways to move them, in parts and on all cores,
    /// and the numbers would have to be in every checkpoint.
    func countLosses(of prepared: inout PreparedMigration, in store: SourceStore) throws(EngineError) {
        guard prepared.lacksCounts else { return }
        var counted = prepared
        try cancellation.interrupting(store.connection.interruptHandle) { () throws(EngineError) in
            counted.countLosses(in: store)
        }
        try cancellation.check()
        prepared = counted
    }

    /// Runs a check of rows whose pages SQLite may not have checked: what it finds wrong may be damage.
    private func sound<Result>(
        _ store: SourceStore, _ structure: SourceStructure, _ body: () throws(EngineError) -> Result
    ) throws(EngineError) -> Result {
        do throws(EngineError) {
            return try body()
        } catch {
            if error.kind == .sourceData, structure != .whole {
                try cancellation.interrupting(store.connection.interruptHandle) { () throws(EngineError) in
                    _ = try store.checkIntegrity(except: [], cancellation)
                }
            }
            throw error
        }
    }

    /// Checks the rows for all steps; where `isRun` holds, but for what the steps check themselves.
    private func notices(
        _ prepared: PreparedMigration, _ store: SourceStore, isRun: Bool = false
    ) throws(EngineError) -> [String] {
        guard let step = prepared.steps.first else { return [] }
        let hasHandlers = prepared.handlers.contains { !$0.isEmpty }
        var preflight = Preflight(
            steps: prepared.steps, source: store, makesObjects: step.objects != nil || hasHandlers,
            deciders: prepared.deciders(request.violations))
        preflight.badRows = request.badRows
        preflight.stopsAtViolations = request.violations == .stop
        preflight.external = ExternalValues(directory: store.location.externalData)
        preflight.copiesFiles = request.output != nil
        preflight.endsLinks = request.endsLinks
        preflight.mayDetour = request.code.stages == nil
        if isRun {
            preflight.countsLinks = prepared.steps.contains { $0.objects?.carriesLinks == false }
            preflight.numberedByPages = step.numberedTables(of: store)
        }
        let notices = try cancellation.interrupting(store.connection.interruptHandle) {
            [preflight] () throws(EngineError) in
            try preflight.check()
        }
        try cancellation.check()
        return notices
    }
}
