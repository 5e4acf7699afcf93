import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Stage 1 of entity mappings without code whose rows keep their keys in one table, as those of a hierarchy do.
///
/// Their source's table is read once. Each row is made by the mapping of its entity, and all go into the leaves of the
/// new table in the order of their keys, whatever their mappings.
struct JointPass {
    private let model: StageRun
    private let pages: RowPages
    private let table: Int
    private let plans: [EntityMappingPlan]
    /// Those to which rows of the source get.
    let members: [MappedPass]

    /// What has become of the rows of one mapping.
    struct Count {
        var rows = 0
        var dropped = 0
    }

    /// A batch in flight.
    struct Batch: Sendable {
        let input = RowBatch()
        /// Rows that the inferred step drops.
        var dropped = 0
        /// Rows that no mapping takes.
        var others = 0
        /// By mapping: how many are its.
        var owned: [Int]
        /// By mapping.
        var passed: [PassedRows]
        /// All rows.
        let leaves: PackedLeaves
    }

    /// - Parameters:
    ///   - model: the stages.
    ///   - plans: the mappings, in their order.
    ///   - pages: that get the rows.
    /// - Throws: a misfit where the table can't be read for all of them; what is damaged in tables that expressions
    ///   read.
    init(_ model: StageRun, _ plans: [EntityMappingPlan], into pages: RowPages) throws(EngineError) {
        (self.model, self.pages, self.plans) = (model, pages, plans)
        var members: [MappedPass] = []
        for plan in plans {
            guard let member = try MappedPass(model, plan, into: pages, sharers: plans.count) else {
                let name = plan.description.name
                throw EngineError(rowsDontFit: "“\(name)”: its rows follow from more than their source")
            }
            if member.hasRows { members.append(member) }
        }
        self.members = members
        table = members.first?.table ?? 0
        let tables = Set(members.map(\.way.reading.shape.table.name))
        let entities = Set(members.compactMap(\.way.stops.first?.entity))
        guard tables.count <= 1, entities.count == members.count, members.allSatisfy(\.way.reading.isOfPages) else {
            let names = plans.map { "“\($0.description.name)”" }.joined(separator: ", ")
            throw EngineError(rowsDontFit: "\(names): their rows can't be read out of pages together")
        }
    }

    /// - Parameters:
    ///   - begun: where an earlier run stopped.
    ///   - progress: raised.
    /// - Returns: by mapping.
    /// - Throws: the first failure.
    func run(after begun: StepLedger.Cursor?, _ progress: inout Progress) throws(EngineError) -> [Count] {
        let run = model.run
        for member in members { run.events(.statement(member.way.stops[0].plan.shape.sql)) }
        var cursor = begun ?? StepLedger.Cursor()
        let shared = members.map(\.way.sharedStops)
        let first = members.firstIndex(where: \.way.isFirstOfTable)
        var counts = members.map { _ in Count() }
        try flow(after: begun) { batch throws(EngineError) in
            run.ledger.depart()
            try note(batch)
            try write(batch)
            KillPoint.reach(.batchWritten)
            var outcome = RowHook.Outcome()
            outcome.elsewhere = batch.others
            for (place, member) in members.enumerated() {
                let own = member.way.outcome(of: batch.passed[place], shared: shared[place], isFirst: false)
                counts[place].rows += batch.owned[place] - own.dropped
                counts[place].dropped += own.dropped
                outcome.dropped += own.dropped
                outcome.endedLinks += own.endedLinks
            }
            // What several passes read is counted once.
            if let first {
                counts[first].dropped += batch.dropped
                outcome.dropped += batch.dropped
            } else {
                outcome.elsewhere += batch.dropped
            }
            try model.count(batch.input, outcome, &cursor, &progress)
        }
        return plans.map { plan in
            members.firstIndex { $0.plan.index == plan.index }.map { counts[$0] } ?? Count()
        }
    }

    /// Looks at the rows of the steps between once more, and writes none.
    func look() throws(EngineError) {
        try flow(after: nil) { batch throws(EngineError) in try note(batch) }
    }

    private func flow(
        after cursor: StepLedger.Cursor?, take: (Batch) throws(EngineError) -> Void
    ) throws(EngineError) {
        guard let reading = members.first?.way.reading else { return }
        let run = model.run
        let jobs = min(max(1, run.options.jobs), model.readers.count)
        let batches = (0..<EngineOptions.poolSize(jobs: jobs)).map { _ in
            Batch(
                owned: members.map { _ in 0 },
                passed: members.map { member in
                    PassedRows(steps: member.way.stops.count + (member.last == nil ? 0 : 1))
                }, leaves: PackedLeaves(pageSize: pages.pageSize))
        }
        let (crew, limit) = (JointCrew(pass: self, pageSize: pages.pageSize), reading.limits.bytes)
        try OrderedPipeline(workers: jobs, batches: batches, cancellation: run.cancellation).run(
            reading: reading.reading(after: cursor, claiming: model.claims) { $0.input },
            working: { worker, every throws(EngineError) in
                let work = try crew.work(worker)
                defer { work.close() }
                if try every({ (batch: inout Batch) throws(EngineError) in try work.make(&batch) }) { try work.end() }
            },
            take: { batch throws(EngineError) in
                try take(batch)
                // The memory of one huge row must not stay.
                for place in batch.passed.indices { batch.passed[place].removeAll(keepingCapacity: limit * 4) }
                batch.leaves.removeAll(keepingCapacity: limit * 4)
                batch.input.removeAll(keepingCapacity: limit * 2)
            })
    }

    private func note(_ batch: Batch) throws(EngineError) {
        for (member, passed) in zip(members, batch.passed) { try member.note(passed) }
    }

    private func write(_ batch: Batch) throws(EngineError) {
        let parts = zip(members, batch.passed).compactMap { member, passed in
            passed.made.last.map { RowPages.Part(rows: $0, entity: member.destination) }
        }
        try pages.add(parts, packed: batch.leaves, to: table)
        for part in parts {
            guard let last = part.rows.keys.last else { continue }
            model.keys.count(part.rows.keys.count, of: part.entity, through: last, in: table)
        }
    }
}

/// What workers need to begin, each on its own thread.
///
/// Sendable although the pass has the main thread's session: a worker uses only plans and names, and its own reader.
private struct JointCrew: @unchecked Sendable {
    let pass: JointPass
    let pageSize: Int

    func work(_ worker: Int) throws(EngineError) -> JointWork {
        try JointWork(pass.members, worker: worker, pageSize: pageSize)
    }
}
