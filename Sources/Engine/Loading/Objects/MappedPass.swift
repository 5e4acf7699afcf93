import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Stage 1 of an entity mapping whose rows follow from their source rows alone, and become pages.
///
/// Workers make records and pack them into leaves; the one writer adds these to the table's tree in the order in which
/// the source was read. No object is made. Where steps run together, the records of one are what the next takes.
struct MappedPass {
    let model: StageRun
    let plan: EntityMappingPlan
    let pages: RowPages
    /// Through all steps that run together, the last with it.
    let way: RowWay
    /// What an inferred step makes of the last one's rows; nil where there is none.
    let last: InferredRows?
    /// Z_ENT and table of the new rows.
    let destination: Int32
    let table: Int

    /// A batch in flight.
    private struct Batch: Sendable {
        let input = RowBatch()
        var passed: PassedRows
        /// The last one's rows, where they keep their keys.
        let leaves: PackedLeaves
    }

    /// nil where rows need more than their source rows.
    ///
    /// - Parameters:
    ///   - model: the stages.
    ///   - plan: the mapping.
    ///   - pages: that get the rows.
    ///   - sharers: mappings for which the source's table is read once.
    /// - Throws: what is damaged in tables that expressions read.
    init?(
        _ model: StageRun, _ plan: EntityMappingPlan, into pages: RowPages, sharers: Int = 1
    ) throws(EngineError) {
        let run = model.run
        let isProjected = run.step.projected != nil
        guard let entity = plan.destinationEntity, let table = run.objects.destination.table(of: entity),
            isProjected || plan.columns != nil, let way = try RowWay(model, plan, to: .made(pages), sharers: sharers)
        else { return nil }
        (self.model, self.plan, self.pages, destination, self.table) = (model, plan, pages, entity, table)
        self.way = way
        last = isProjected ? InferredRows(plan, ofLast: run.step, run.external) : nil
        if isProjected, last == nil, !way.stops.isEmpty {
            throw EngineError(rowsDontFit: "“\(plan.description.name)”: its rows have no pass")
        }
    }

    /// Whether rows of the source get here.
    var hasRows: Bool { !way.stops.isEmpty && (last != nil || model.run.step.projected == nil) }

    /// - Parameters:
    ///   - begun: where an earlier run stopped.
    ///   - progress: raised.
    /// - Throws: the first failure.
    func run(after begun: StepLedger.Cursor?, _ progress: inout Progress) throws(EngineError) {
        let run = model.run
        guard hasRows, let first = way.stops.first else { return }
        run.events(.statement(first.plan.shape.sql))
        var cursor = begun ?? StepLedger.Cursor()
        let (shared, isFirst) = (way.sharedStops, way.isFirstOfTable)
        try flow(after: begun) { batch throws(EngineError) in
            run.ledger.depart()
            try note(batch.passed)
            try write(batch)
            KillPoint.reach(.batchWritten)
            let outcome = way.outcome(of: batch.passed, shared: shared, isFirst: isFirst)
            try model.count(batch.input, outcome, &cursor, &progress)
        }
    }

    /// Looks at the rows of the steps between once more, and writes none.
    func look() throws(EngineError) {
        guard hasRows else { return }
        try flow(after: nil) { batch throws(EngineError) in try note(batch.passed) }
    }

    private func flow(
        after cursor: StepLedger.Cursor?, take: (Batch) throws(EngineError) -> Void
    ) throws(EngineError) {
        guard !way.stops.isEmpty else { return }
        let run = model.run
        let questions = run.projected?.questions(ofTable: table, entity: destination) ?? []
        let jobs = min(max(1, run.options.jobs), model.readers.count)
        let steps = way.stops.count
        let batches = (0..<EngineOptions.poolSize(jobs: jobs)).map { _ in
            Batch(
                passed: PassedRows(steps: steps + (last == nil ? 0 : 1)), leaves: PackedLeaves(pageSize: pages.pageSize)
            )
        }
        let (crew, limit, pageSize) = (RowCrew(way), way.reading.limits.bytes, pages.pageSize)
        let (inferred, isKept, title) = (last, last != nil || plan.keeping == .always, title)
        try OrderedPipeline(workers: jobs, batches: batches, cancellation: run.cancellation).run(
            reading: way.reading.reading(after: cursor, claiming: model.claims) { $0.input },
            working: { worker, every throws(EngineError) in
                let passing = try crew.passing(worker)
                defer { passing.close() }
                let packer = LeafPacker(pageSize: pageSize)
                let inspected = try inferred.map { rows throws(EngineError) in
                    try InferredRowsInspection(rows, questions)
                }
                let isComplete = try every { (batch: inout Batch) throws(EngineError) in
                    var rows = try passing.pass(batch.input, keepingCapacity: limit * 4, into: &batch.passed)
                    if let inspected {
                        rows = try inspected.make(
                            rows, keepingCapacity: limit * 4, into: &batch.passed.made[steps])
                    }
                    guard isKept else { return }
                    do throws(PageBuildError) {
                        try packer.pack(rows, into: batch.leaves)
                    } catch {
                        throw EngineError(writing: error, during: title)
                    }
                }
                if isComplete { try passing.end() }
            },
            take: { batch throws(EngineError) in
                try take(batch)
                // The memory of one huge row must not stay.
                batch.passed.removeAll(keepingCapacity: limit * 4)
                batch.leaves.removeAll(keepingCapacity: limit * 4)
                batch.input.removeAll(keepingCapacity: limit * 2)
            })
    }

    func note(_ passed: PassedRows) throws(EngineError) {
        try way.note(passed)
        if let projected = model.run.projected, let made = passed.made.last {
            try projected.note(made, of: destination)
        }
    }

    var title: String { "table \(model.run.objects.destination.tables[table].name.name)" }

    private func write(_ batch: Batch) throws(EngineError) {
        guard let made = batch.passed.made.last, let last = made.keys.last else { return }
        let (keys, associations) = (model.keys, model.associations)
        let entity = destination
        if plan.keeping == .always {
            try pages.add([RowPages.Part(rows: made, entity: entity)], packed: batch.leaves, to: table)
            return keys.count(made.keys.count, of: entity, through: last, in: table)
        }
        var first: Int64 = 0
        try model.writing(title) { () throws(ObjectError) in
            first = try keys.give(made.keys.count, of: entity, in: table)
            try associations.record(
                AssociationRun.runs(
                    of: made.keys, from: first, sourceEntity: plan.sourceEntity ?? 0, entity: entity,
                    mapping: plan.index))
        }
        try pages.add(made, withKeysFrom: first, of: entity, to: table)
        try model.settle()
    }
}
