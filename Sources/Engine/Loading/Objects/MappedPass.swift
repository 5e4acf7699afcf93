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
    /// Of each step that runs together, in their order; none where no row of the source gets so far.
    let forms: [MappedRowForm]
    /// What an inferred step makes of the last one's rows; nil where there is none.
    let last: InferredRows?
    /// Z_ENT and table of the new rows.
    private let destination: Int32
    private let table: Int
    /// How the store's rows are read.
    let reading: MappingReading
    /// What an inferred step makes of them first; nil where there is none.
    let base: InferredRows?

    /// A batch in flight.
    private struct Batch: Sendable {
        let input = RowBatch()
        /// Rows that the inferred step drops.
        var dropped = 0
        /// Of each form.
        var made: [MappedRows]
        /// The last one's rows, where they keep their keys.
        let leaves: PackedLeaves
    }

    /// nil where rows need more than their source rows.
    ///
    /// - Throws: what is damaged in tables that expressions read.
    init?(_ model: StageRun, _ plan: EntityMappingPlan, into pages: RowPages) throws(EngineError) {
        let run = model.run
        guard let entity = plan.destinationEntity, let table = run.objects.destination.table(of: entity) else {
            return nil
        }
        (self.model, self.plan, self.pages, destination, self.table) = (model, plan, pages, entity, table)
        let isProjected = run.step.projected != nil
        last = isProjected ? InferredRows(plan, ofLast: run.step, run.external) : nil
        guard !isProjected || last != nil, let way = run.objects.way(to: plan, after: model.between.map(\.objects)),
            let first = way.first
        else {
            (reading, base, forms) = (model.reading(plan, to: .create), nil, [])
            return
        }
        let origin = run.before.first ?? run.step
        var input: MappedRowForm.Input?
        if origin.objects == nil {
            base = InferredRows(
                of: origin, for: first, (model.between.first?.objects ?? run.objects).source, from: run.source,
                run.external)
            if base == nil, origin.rows(for: first) != nil {
                throw EngineError(rowsDontFit: "table \(first.shape.table.name): it can't be read out of pages")
            }
            reading = base?.reading ?? model.reading(way.last ?? plan, to: .create)
            input = base.map { MappedRowForm.Input(first, from: $0.columns, isShared: true) }
        } else {
            base = nil
            reading =
                model.between.isEmpty
                ? model.reading(plan, to: .create)
                : MappingReading(first, to: .create, pagesOf: run.source, origin.source)
            input = MappedRowForm.Input(reading)
        }
        guard let input else {
            forms = []
            return
        }
        guard let forms = try Self.forms(isProjected ? Array(way.dropLast()) : way, model, pages, from: input) else {
            return nil
        }
        self.forms = forms
    }

    /// nil where rows need more than their source rows.
    private static func forms(
        _ way: [EntityMappingPlan], _ model: StageRun, _ pages: RowPages, from first: MappedRowForm.Input
    ) throws(EngineError) -> [MappedRowForm]? {
        let run = model.run
        let stops = way.enumerated().map { place, plan in
            model.between.indices.contains(place)
                ? model.between[place].stop(of: plan) : FusedColumns.Stop(plan, of: run.objects, asked: [])
        }
        let fused = FusedColumns(stops, isWhole: run.step.projected != nil)
        var forms: [MappedRowForm] = []
        var input = first
        for (place, plan) in way.enumerated() {
            guard let entity = plan.destinationEntity else { return nil }
            // Only rows of the store itself have other rows around them.
            let store = place == 0 && first.reading != nil ? run.source : nil
            let step: MappedRowForm.Step
            if model.between.indices.contains(place) {
                let between = model.between[place]
                step = MappedRowForm.Step(
                    versions: between.step.versions, objects: between.objects,
                    columns: between.columns(of: entity, only: place + 1 < way.count ? fused.needed[place] : nil),
                    direct: nil,
                    questions: between.questions, choosers: [], store: store, cancellation: run.cancellation)
            } else {
                guard let table = run.objects.destination.table(of: entity) else { return nil }
                let inspection = pages.inspection
                step = MappedRowForm.Step(
                    versions: run.step.versions, objects: run.objects, columns: pages.columns(ofTable: table),
                    direct: place == 0 || fused.direct.isEmpty
                        ? nil : MappedRowForm.Direct(plan: way[0], input: first, cells: fused.direct),
                    questions: inspection.questions,
                    choosers: try plan.choices.map { choice throws(EngineError) in try model.chooser(choice, of: plan)
                    },
                    store: store, cancellation: run.cancellation)
            }
            guard let form = try MappedRowForm(plan, of: step, from: input) else { return nil }
            forms.append(form)
            if place + 1 < way.count { input = MappedRowForm.Input(way[place + 1], from: step.columns) }
        }
        return forms
    }

    /// - Parameters:
    ///   - begun: where an earlier run stopped.
    ///   - progress: raised.
    /// - Throws: the first failure.
    func run(after begun: StepLedger.Cursor?, _ progress: inout Progress) throws(EngineError) {
        let run = model.run
        guard let first = forms.first else { return }
        run.events(.statement(first.plan.shape.sql))
        var cursor = begun ?? StepLedger.Cursor()
        let counted = sharedStops
        try flow(after: begun) { batch throws(EngineError) in
            run.ledger.depart()
            try note(batch.made)
            try write(batch)
            KillPoint.reach(.batchWritten)
            var outcome = RowHook.Outcome()
            outcome.elsewhere = batch.made[0].outcome.elsewhere
            // What several mappings read is counted once.
            for made in batch.made[counted...] {
                outcome.dropped += made.outcome.dropped
                outcome.endedLinks += made.outcome.endedLinks
            }
            if isFirstOfTable { outcome.dropped += batch.dropped } else { outcome.elsewhere += batch.dropped }
            try model.count(batch.input, outcome, &cursor, &progress)
        }
    }

    /// Steps whose rows an earlier mapping has made, too.
    private var sharedStops: Int {
        func places(_ plan: EntityMappingPlan) -> [Int] {
            model.run.objects.way(to: plan, after: model.between.map(\.objects))?.map(\.index) ?? []
        }
        let own = places(plan)
        let earlier = model.run.objects.mappings.filter { $0.index < plan.index && $0.sourceEntity != nil }
        return earlier.map { other in zip(own, places(other)).prefix { $0 == $1 }.count }.max() ?? 0
    }

    /// Whether no other mapping has read the rows of an inferred step before: what that drops is counted once.
    private var isFirstOfTable: Bool {
        guard let base, let step = model.run.before.first else { return true }
        let readers = model.between.first?.objects ?? model.run.objects
        let first = readers.mappings.first { $0.sourceEntity != nil && step.rows(for: $0)?.id == base.pass.id }
        return forms.first?.plan.index == first?.index
    }

    /// Looks at the rows of the steps between once more, and writes none.
    func look() throws(EngineError) {
        try flow(after: nil) { batch throws(EngineError) in try note(batch.made) }
    }

    private func flow(
        after cursor: StepLedger.Cursor?, take: (Batch) throws(EngineError) -> Void
    ) throws(EngineError) {
        guard let form = forms.last else { return }
        let run = model.run
        let questions = run.projected?.questions(ofTable: table, entity: destination) ?? []
        let jobs = min(max(1, run.options.jobs), model.readers.count)
        let batches = (0..<EngineOptions.poolSize(jobs: jobs)).map { _ in
            Batch(
                made: (0..<forms.count + (last == nil ? 0 : 1)).map { _ in MappedRows() },
                leaves: PackedLeaves(pageSize: pages.pageSize))
        }
        let (crew, limit, pageSize, base) = (MappedCrew(pass: self), reading.limits.bytes, pages.pageSize, base)
        let (inferred, isKept, title) = (last, last != nil || form.keepsKeys, title)
        try OrderedPipeline(workers: jobs, batches: batches, cancellation: run.cancellation).run(
            reading: reading.reading(after: cursor, claiming: model.claims) { $0.input },
            working: { worker, every throws(EngineError) in
                let makers = crew.makers(worker)
                defer { makers.forEach { $0.maker.close() } }
                let packer = LeafPacker(pageSize: pageSize)
                let base = try base?.makeMaker()
                let inspected = try inferred.map { rows throws(EngineError) in
                    try InferredRowsInspection(rows, questions)
                }
                _ = try every { (batch: inout Batch) throws(EngineError) in
                    let first = try base?.make(batch.input, keepingCapacity: limit * 4) ?? batch.input
                    batch.dropped = base?.dropped ?? 0
                    var rows = first
                    for (place, link) in makers.enumerated() {
                        try link.maker.make(rows, of: first, keepingCapacity: limit * 4, into: &batch.made[place])
                        rows = link.maker.records
                    }
                    if let inspected {
                        rows = try inspected.make(
                            rows, keepingCapacity: limit * 4, into: &batch.made[makers.count])
                    }
                    guard isKept else { return }
                    do throws(PageBuildError) {
                        try packer.pack(rows, into: batch.leaves)
                    } catch {
                        throw EngineError(writing: error, during: title)
                    }
                }
            },
            take: { batch throws(EngineError) in
                try take(batch)
                // The memory of one huge row must not stay.
                for place in batch.made.indices { batch.made[place].removeAll(keepingCapacity: limit * 4) }
                batch.leaves.removeAll(keepingCapacity: limit * 4)
                batch.input.removeAll(keepingCapacity: limit * 2)
            })
    }

    private func note(_ made: [MappedRows]) throws(EngineError) {
        for (place, step) in model.between.enumerated() { try step.note(made[place], of: forms[place].destination) }
        if let projected = model.run.projected, let made = made.last { try projected.note(made, of: destination) }
    }

    private var title: String { "table \(model.run.objects.destination.tables[table].name.name)" }

    private func write(_ batch: Batch) throws(EngineError) {
        guard let made = batch.made.last, let last = made.keys.last else { return }
        let (keys, associations) = (model.keys, model.associations)
        let entity = destination
        if plan.keeping == .always {
            try pages.add(made, packed: batch.leaves, of: entity, to: table)
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

/// One step's maker in a worker: a class, as makers can't be copied.
private final class MakerLink {
    var maker: MappedRowMaker

    init(_ maker: consuming MappedRowMaker) { self.maker = maker }
}

/// What workers need to make their makers, each on its own thread.
///
/// Sendable although the pass has the main thread's session: a worker uses only plans and names, and its own reader.
private struct MappedCrew: @unchecked Sendable {
    let pass: MappedPass

    func makers(_ worker: Int) -> [MakerLink] {
        let model = pass.model
        return pass.forms.enumerated().map { place, form in
            let stores = model.stores(ofStep: place)
            let isOfStore = place == 0 && pass.base == nil
            let source = isOfStore ? stores.source(model.readers[worker]) : stores.unreadSource()
            let session = stores.session(source: source, destination: stores.detached(), associations: nil)
            session.currentMapping = session.mappings[form.plan.index]
            return MakerLink(MappedRowMaker(form, session))
        }
    }
}
