import CausewayEvaluation
import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Stage 1 of one entity mapping: every source row through its policy.
///
/// A mapping with an independent policy runs on all workers: each makes the rows of a batch without a store, and the
/// one writer assigns keys in the batches' order. Every other mapping runs row after row. Both give the same rows and
/// keys.
struct CreatePass {
    let model: StageRun
    let plan: EntityMappingPlan
    let policy: EntityMigrationPolicy
    /// Where an earlier run stopped.
    let begun: StepLedger.Cursor?
    /// To the rows that the mapping takes.
    let way: RowWay
    let input: MappedRowForm.Input
    /// nil where statements write the rows.
    let pages: RowPages?

    private var run: ObjectRun { model.run }

    fileprivate var hooked: HookedRows {
        HookedRows(plan: plan, input: input, versions: run.step.versions, isBetween: !run.before.isEmpty)
    }

    private var rows: MappingReading { way.reading }

    /// A batch in flight: rows of the store, and the rows that a worker made from them.
    private struct Batch: Sendable {
        let input = RowBatch()
        var passed: PassedRows
        var made: PendingRows
        var formed = FormedRows()
        var outcome = RowHook.Outcome()
    }

    func run(_ progress: inout Progress) throws(EngineError) {
        run.events(.statement(plan.shape.sql))
        if plan.isIndependent {
            try runOnWorkers(&progress)
        } else {
            try runInOrder(&progress)
        }
    }

    /// nil where no row of the source gets to the mapping.
    ///
    /// - Throws: what is damaged in tables that expressions read.
    init?(
        model: StageRun, plan: EntityMappingPlan, policy: EntityMigrationPolicy, begun: StepLedger.Cursor?,
        pages: RowPages?
    ) throws(EngineError) {
        (self.model, self.plan, self.policy, self.begun, self.pages) = (model, plan, policy, begun, pages)
        guard let way = try RowWay(model, plan, to: .taken(.create)), let input = way.input else { return nil }
        (self.way, self.input) = (way, input)
    }

    // MARK: - Row after row

    private func runInOrder(_ progress: inout Progress) throws(EngineError) {
        var cursor = begun ?? StepLedger.Cursor()
        let batch = RowBatch()
        let worker = RowHook(hooked, session: model.session, manager: model.manager, policy: policy)
        var source = try rows.open(after: begun, claiming: model.claims)
        var more = true
        while more {
            try run.cancellation.check()
            batch.removeAll(keepingCapacity: rows.limits.bytes * 2)
            more = try source.fill(batch, limits: rows.limits)
            model.session.destination.sourceBatch = batch
            run.ledger.depart()
            let outcome = try worker.process(batch)
            try model.settle()
            KillPoint.reach(.batchWritten)
            model.session.destination.sourceBatch = nil
            try model.count(batch, outcome, &cursor, &progress)
        }
        model.session.leaveRow()
    }

    // MARK: - On all workers

    private func runOnWorkers(_ progress: inout Progress) throws(EngineError) {
        let wanted = pages == nil ? run.options.mappingJobs : max(1, run.options.jobs)
        let jobs = min(wanted, model.readers.count)
        let map = model.session.destination.map
        let steps = way.stops.count
        let batches = (0..<EngineOptions.poolSize(jobs: jobs)).map { _ in
            Batch(passed: PassedRows(steps: steps), made: PendingRows(map))
        }
        let (rows, input, limit) = (rows, input, rows.limits.bytes)
        if model.isByPages(plan) { model.staging.carry(from: input) }
        let (crew, passers) = (Crew(pass: self), RowCrew(way))
        let (shared, isFirst) = (way.sharedStops, way.isFirstOfTable)
        let layout = pages.map { RowForming.Layout($0, map) }
        var cursor = begun ?? StepLedger.Cursor()
        try OrderedPipeline(workers: jobs, batches: batches, cancellation: run.cancellation).run(
            reading: rows.reading(after: begun, claiming: model.claims) { $0.input },
            working: { worker, every throws(EngineError) in
                let hook = try crew.hook(worker)
                defer { hook.close() }
                let passing = try passers.passing(worker)
                defer { passing.close() }
                let forming = layout.map { RowForming($0, from: input) }
                let isComplete = try every { (batch: inout Batch) throws(EngineError) in
                    let taken = try passing.pass(batch.input, keepingCapacity: limit * 4, into: &batch.passed)
                    batch.outcome = try hook.process(taken)
                    hook.handOver(taken, to: &batch.made)
                    forming?.form(batch.made, into: &batch.formed)
                }
                guard isComplete else { return }
                try passing.end()
                try hook.end()
            },
            take: { batch throws(EngineError) in
                try way.note(batch.passed)
                if batch.outcome.readsLinks { model.seen.readsLinks = true }
                model.staging.formed = batch.formed
                try write(&batch.made)
                model.staging.formed = nil
                batch.outcome.add(way.outcome(of: batch.passed, shared: shared, isFirst: isFirst))
                try model.count(batch.input, batch.outcome, &cursor, &progress)
                batch.made.removeAll()
                // The memory of one huge row must not stay.
                batch.passed.removeAll(keepingCapacity: limit * 4)
                batch.formed.removeAll(keepingCapacity: limit * 4)
                batch.input.removeAll(keepingCapacity: limit * 2)
            })
    }

    private func write(_ made: inout PendingRows) throws(EngineError) {
        run.ledger.depart()
        try model.writing(plan.description.name) { () throws(ObjectError) in try model.session.write(&made) }
        try model.settle()
        KillPoint.reach(.batchWritten)
    }
}

/// What workers need to make their hooks, each on its own thread.
///
/// Sendable although the pass has the main thread's session: a worker uses only its plans and names, and its own
/// reader.
private struct Crew: @unchecked Sendable {
    let pass: CreatePass

    func hook(_ worker: Int) throws(EngineError) -> RowHook {
        let model = pass.model
        return try pass.hooked.makeHook(
            model.stores, reading: model.run.before.isEmpty ? model.readers[worker] : nil, model.run.code,
            userInfo: model.manager.userInfo)
    }
}
