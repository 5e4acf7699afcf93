import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewayPreparation
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// How rows of the store become those that an entity mapping takes: as they are, or through the steps that run together
/// with the mapping's, before it.
struct RowWay {
    let model: StageRun
    let plan: EntityMappingPlan
    /// How the store's rows are read.
    let reading: MappingReading
    /// What an inferred step makes of them first; nil where there is none.
    let base: InferredRows?
    /// Of each step with mapping models, in their order; none where no row of the source gets so far.
    private(set) var stops: [RowStop] = []
    /// The rows at its end; nil where no row of the source gets so far.
    private(set) var input: MappedRowForm.Input?

    /// Where a way ends.
    enum End {
        /// With the rows that the mapping takes.
        case taken(MappingReading.Purpose)
        /// With those that it makes, but for an inferred step that comes after it.
        case made(RowPages)
    }

    /// nil where rows that a mapping makes need more than their source rows.
    ///
    /// - Parameters:
    ///   - model: the stages.
    ///   - plan: the mapping.
    ///   - end: how far it goes.
    ///   - sharers: mappings for which the source's table is read once.
    /// - Throws: what is damaged in tables that expressions read.
    init?(
        _ model: StageRun, _ plan: EntityMappingPlan, to end: End, sharers: Int = 1
    ) throws(EngineError) {
        (self.model, self.plan) = (model, plan)
        let run = model.run
        var purpose = MappingReading.Purpose.create
        if case .taken(let asked) = end { purpose = asked }
        guard let way = run.objects.way(to: plan, after: model.between.map(\.objects)), let first = way.first else {
            (reading, base) = (model.reading(plan, to: .create), nil)
            return
        }
        let origin = run.before.first ?? run.step
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
                model.between.isEmpty && sharers == 1
                ? model.reading(plan, to: purpose)
                : MappingReading(first, to: .create, pagesOf: run.source, origin.source, isShared: sharers > 1)
            input = MappedRowForm.Input(reading)
            input?.targetBytes /= sharers
        }
        guard let input else { return }
        switch end {
        case .made(let pages) where run.step.projected == nil:
            guard try addStops(way, pages, from: input) else { return nil }
        case .made, .taken: guard try addStops(Array(way.dropLast()), nil, from: input) else { return nil }
        }
    }

    /// - Parameters:
    ///   - way: mappings, one of each step.
    ///   - pages: of the last step's rows; nil where another takes the last mapping's records, and any of their cells.
    ///   - first: the rows that the first takes.
    /// - Returns: false where rows need more than their source rows.
    /// - Throws: what is damaged in tables that expressions read.
    private mutating func addStops(
        _ way: [EntityMappingPlan], _ pages: RowPages?, from first: MappedRowForm.Input
    ) throws(EngineError) -> Bool {
        let run = model.run
        let columns = way.enumerated().map { place, plan in
            model.between.indices.contains(place)
                ? model.between[place].stop(of: plan) : FusedColumns.Stop(plan, of: run.objects, asked: [])
        }
        let fused = FusedColumns(columns, isWhole: pages == nil)
        var input = first
        for (place, plan) in way.enumerated() {
            guard let entity = plan.destinationEntity else { return false }
            let next = place + 1 < way.count ? way[place + 1] : self.plan
            // Only rows of the store itself have other rows around them.
            let store = place == 0 && first.reading != nil ? run.source : nil
            let step: MappedRowForm.Step
            if model.between.indices.contains(place) {
                let between = model.between[place]
                let columns = between.columns(of: entity, only: fused.needed[place])
                if let found = try stop(plan, of: between, columns, from: input, isOfStore: store != nil) {
                    stops.append(found.stop)
                    input = MappedRowForm.Input(next, from: found.columns)
                    continue
                }
                step = MappedRowForm.Step(
                    versions: between.step.versions, objects: between.objects, columns: columns, direct: nil,
                    questions: between.questions, choosers: [], store: store, cancellation: run.cancellation)
            } else {
                guard let pages, let table = run.objects.destination.table(of: entity) else { return false }
                let inspection = pages.inspection
                step = MappedRowForm.Step(
                    versions: run.step.versions, objects: run.objects, columns: pages.columns(ofTable: table),
                    direct: place == 0 || fused.direct.isEmpty
                        ? nil : MappedRowForm.Direct(plan: way[0], input: first, cells: fused.direct),
                    questions: inspection.questions,
                    choosers: try plan.choices.map { choice throws(EngineError) in try model.chooser(choice, of: plan)
                    },
                    store: store, cancellation: run.cancellation, largestKeptKeys: model.lastKeys)
            }
            guard var form = try MappedRowForm(plan, of: step, from: input) else { return false }
            // A hook's rows refer to cells of their source rows until they are written.
            form.leavesRecords = pages == nil ? place + 1 == way.count : !form.keepsKeys
            stops.append(.mapping(form))
            // The last record is for whatever mapping follows.
            input = MappedRowForm.Input(next, from: step.columns)
        }
        self.input = input
        return true
    }

    /// A stop whose rows no mapping without code makes; nil where one does.
    ///
    /// - Parameters:
    ///   - plan: the mapping of the step.
    ///   - between: the step.
    ///   - columns: of the records of a policy.
    ///   - input: the rows that it takes.
    ///   - isOfStore: whether these are the store's.
    /// - Returns: the stop, and the columns of its records.
    /// - Throws: a misfit where an inferred step has no pass for the rows.
    private func stop(
        _ plan: EntityMappingPlan, of between: StepBetween, _ columns: [PolicyRecordFormer.Column],
        from input: MappedRowForm.Input, isOfStore: Bool
    ) throws(EngineError) -> (stop: RowStop, columns: [PolicyRecordFormer.Column])? {
        guard let entity = plan.destinationEntity else { return nil }
        if between.step.projected != nil {
            guard let rows = InferredRows(plan, ofLast: between.step, model.run.external) else {
                throw EngineError(rowsDontFit: "“\(plan.description.name)”: its rows have no pass")
            }
            return (.inferred(InferredRowForm(rows, plan, of: between, from: input, to: entity)), rows.columns)
        }
        guard plan.description.policyClassName != nil else { return nil }
        let rows = HookedRows(plan: plan, input: input, versions: between.step.versions, isBetween: !isOfStore)
        return (.policy(PolicyRowForm(rows, of: between, columns, to: entity)), columns)
    }

    /// The cell of each column of the table at its end, in the rows that the mapping takes.
    var cells: [Int] { model.run.before.isEmpty ? reading.cells : plan.cells }

    /// Tells the mapping's rows from others.
    var own: OwnRows { input?.reading?.own ?? OwnRows(of: plan, cells: cells) }

    /// Whether reading the rows again calls policies again.
    var callsPolicies: Bool {
        stops.contains { if case .policy = $0 { true } else { false } }
    }

    // MARK: - Counting

    /// Steps whose rows an earlier mapping has made, too.
    var sharedStops: Int {
        func places(_ plan: EntityMappingPlan) -> [Int] {
            model.run.objects.way(to: plan, after: model.between.map(\.objects))?.map(\.index) ?? []
        }
        let own = places(plan)
        let earlier = model.run.objects.mappings.filter { $0.index < plan.index && $0.sourceEntity != nil }
        return earlier.map { other in zip(own, places(other)).prefix { $0 == $1 }.count }.max() ?? 0
    }

    /// Whether no other mapping has read the rows of an inferred step before: what that drops is counted once.
    var isFirstOfTable: Bool {
        guard let base, let step = model.run.before.first else { return true }
        let readers = model.between.first?.objects ?? model.run.objects
        let first = readers.mappings.first { $0.sourceEntity != nil && step.rows(for: $0)?.id == base.pass.id }
        return (stops.first?.plan ?? plan).index == first?.index
    }

    /// What has become of a batch's rows so far.
    ///
    /// - Parameters:
    ///   - passed: them.
    ///   - shared: steps whose rows are counted already.
    ///   - isFirst: whether those of an inferred step aren't.
    /// - Returns: what else became of them.
    func outcome(of passed: PassedRows, shared: Int, isFirst: Bool) -> RowHook.Outcome {
        var outcome = RowHook.Outcome()
        outcome.elsewhere = passed.made.first?.outcome.elsewhere ?? 0
        for made in passed.made.dropFirst(shared) {
            outcome.dropped += made.outcome.dropped
            outcome.endedLinks += made.outcome.endedLinks
        }
        if isFirst { outcome.dropped += passed.dropped } else { outcome.elsewhere += passed.dropped }
        return outcome
    }

    /// Looks at the rows of the steps between.
    ///
    /// - Throws: a misfit where one gives reason to doubt.
    func note(_ passed: PassedRows) throws(EngineError) {
        for (place, step) in model.between.enumerated() where stops.indices.contains(place) {
            try step.note(passed.made[place], of: stops[place].destination)
        }
    }

    /// Looks at the rows of the steps between once more.
    func look() throws(EngineError) {
        guard let reader = try WayReader(self, after: nil) else { return }
        defer { reader.close() }
        while try reader.next() != nil { try note(reader.passed) }
    }
}

/// Reads the rows that a mapping takes, on the main thread, while no workers do.
final class WayReader {
    let way: RowWay
    let own: OwnRows
    private let passing: RowPassing
    private var source: MappingSource
    private var hasMore = true
    /// The store's rows of the last batch.
    let batch = RowBatch()
    private(set) var passed: PassedRows
    private var found: (batch: RowBatch, row: Int)?

    /// nil where no row of the source gets so far.
    ///
    /// - Throws: where the rows can't be read.
    init?(_ way: RowWay, after cursor: StepLedger.Cursor?) throws(EngineError) {
        guard way.input != nil else { return nil }
        (self.way, own) = (way, way.own)
        passing = try RowPassing(way, worker: 0)
        source = try way.reading.open(after: cursor)
        passed = PassedRows(steps: way.stops.count)
    }

    /// - Returns: the next rows, until the following call; nil after the last ones.
    /// - Throws: the first row that can't be read or made.
    func next() throws(EngineError) -> RowBatch? {
        guard hasMore else { return nil }
        try way.model.run.cancellation.check()
        let limit = way.reading.limits.bytes
        batch.removeAll(keepingCapacity: limit * 2)
        passed.removeAll(keepingCapacity: limit * 4)
        hasMore = try source.fill(batch, limits: way.reading.limits)
        return try passing.pass(batch, keepingCapacity: limit * 4, into: &passed)
    }

    /// - Parameter key: of a row that doesn't come before the last one that was found.
    /// - Returns: where it is; nil where there is none.
    /// - Throws: the first row that can't be read or made.
    func find(_ key: Int64) throws(EngineError) -> (batch: RowBatch, row: Int)? {
        while true {
            guard let (batch, row) = found, row < batch.count else {
                guard let batch = try next() else { return nil }
                found = (batch, 0)
                continue
            }
            let own = batch.rowid(at: row)
            if own >= key { return own == key ? found : nil }
            found = (batch, row + 1)
        }
    }

    /// Reads one of these rows after another.
    func makeView() -> RowView { way.input?.makeView(way.plan) ?? RowView(capacity: 0) }

    func close() { passing.close() }
}
