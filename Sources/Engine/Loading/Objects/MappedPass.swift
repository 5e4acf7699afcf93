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
/// the source was read. No object is made.
struct MappedPass {
    let model: StageRun
    let plan: EntityMappingPlan
    let pages: RowPages
    let reading: MappingReading
    /// Of the new table.
    let table: Int
    let columns: MappedRowColumns
    /// Of the columns, as the new store's map counts them.
    let names: [String]
    let questions: [RowQuestion]
    let choosers: [LinkChooser]
    /// By key: where rows don't tell their targets' entity.
    private let declared: [Int64]
    private let destination: Int32

    /// A batch in flight.
    private struct Batch: Sendable {
        let input = RowBatch()
        var made: MappedRows
    }

    /// nil where rows need more than their source rows.
    ///
    /// - Throws: what is damaged in tables that expressions read.
    init?(_ model: StageRun, _ plan: EntityMappingPlan, into pages: RowPages) throws(EngineError) {
        let map = model.run.objects.destination
        guard let fills = plan.columns, let entity = plan.destinationEntity, let table = map.table(of: entity) else {
            return nil
        }
        (self.model, self.plan, self.pages, self.table) = (model, plan, pages, table)
        destination = entity
        declared = plan.keys.map { key in key.numbers[key.declared].map { Int64($0) } ?? 0 }
        reading = model.reading(plan, to: .create)
        columns = try MappedRowColumns(
            fills, of: plan, pages.columns(ofTable: table), from: reading.affinities, model.run)
        names = map.tables[table].columns.map(\.name)
        questions = pages.inspection.questions(ofTable: table)
        choosers = try plan.choices.map { choice throws(EngineError) in try model.chooser(choice, of: plan) }
    }

    /// Whether new rows have the keys of their source rows.
    var keepsKeys: Bool { plan.keeping == .always }

    /// For messages.
    var title: String { "table \(model.run.objects.destination.tables[table].name.name)" }
    var entityName: String { model.run.objects.destination.name(of: destination) }
    var sourceName: String { plan.description.sourceEntity ?? "" }
    /// Z_ENT of the source rows.
    var entity: Int32 { plan.sourceEntity ?? 0 }
    var pageSize: Int { pages.pageSize }

    /// Finds the new entity of a link's target.
    ///
    /// - Parameters:
    ///   - stored: its Z_ENT, where the row tells it.
    ///   - key: the link's place among the mapping's keys.
    /// - Returns: its Z_ENT in the new store; 0 where it isn't migrated.
    func number(ofTarget stored: Int32?, of key: Int) -> Int64 {
        if stored == nil { return declared[key] }
        return plan.keys[key].numbers[stored ?? 0].map { Int64($0) } ?? 0
    }

    func error(_ error: any Error, row: String?) -> EngineError {
        error as? EngineError
            ?? EngineError(
                hook: error, step: model.run.step.versions, mapping: plan.description.name, row: row)
    }

    /// - Parameters:
    ///   - begun: where an earlier run stopped.
    ///   - progress: raised.
    /// - Throws: the first failure.
    func run(after begun: StepLedger.Cursor?, _ progress: inout Progress) throws(EngineError) {
        let run = model.run
        run.events(.statement(plan.shape.sql))
        let jobs = min(max(1, run.options.jobs), model.readers.count)
        let batches = (0..<EngineOptions.poolSize(jobs: jobs)).map { _ in
            Batch(made: MappedRows(leaves: PackedLeaves(pageSize: pageSize)))
        }
        let reading = reading
        let crew = MappedCrew(pass: self)
        var cursor = begun ?? StepLedger.Cursor()
        try OrderedPipeline(workers: jobs, batches: batches, cancellation: run.cancellation).run(
            reading: reading.reading(after: begun, claiming: model.claims) { $0.input },
            working: { worker, every throws(EngineError) in
                var maker = crew.maker(worker)
                defer { maker.close() }
                _ = try every { (batch: inout Batch) throws(EngineError) in
                    try maker.make(batch.input, into: &batch.made)
                }
            },
            take: { batch throws(EngineError) in
                run.ledger.depart()
                try write(batch.made)
                KillPoint.reach(.batchWritten)
                try model.count(batch.input, batch.made.outcome, &cursor, &progress)
                // The memory of one huge row must not stay.
                batch.made.removeAll(keepingCapacity: reading.limits.bytes * 4)
                batch.input.removeAll(keepingCapacity: reading.limits.bytes * 2)
            })
    }

    private func write(_ made: MappedRows) throws(EngineError) {
        guard let last = made.keys.last else { return }
        if keepsKeys {
            try pages.add(made, of: destination, to: table)
            return model.keys.count(made.keys.count, of: destination, through: last, in: table)
        }
        let (keys, associations) = (model.keys, model.associations)
        var first: Int64 = 0
        try model.writing(title) { () throws(ObjectError) in
            first = try keys.give(made.keys.count, of: destination, in: table)
            try associations.record(
                AssociationRun.runs(
                    of: made.keys, from: first, sourceEntity: entity, entity: destination, mapping: plan.index))
        }
        try pages.add(made, withKeysFrom: first, of: destination, to: table)
        try model.settle()
    }
}

/// What workers need to make their makers, each on its own thread.
///
/// Sendable although the pass has the main thread's session: a worker uses only plans and names, and its own reader.
private struct MappedCrew: @unchecked Sendable {
    let pass: MappedPass

    func maker(_ worker: Int) -> MappedRowMaker {
        let stores = pass.model.stores
        let session = stores.session(
            source: stores.source(pass.model.readers[worker]), destination: stores.detached(), associations: nil)
        session.currentMapping = session.mappings[pass.plan.index]
        return MappedRowMaker(pass, session)
    }
}
