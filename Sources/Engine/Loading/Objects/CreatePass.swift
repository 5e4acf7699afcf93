import CausewayEvaluation
import CausewayExpressions
import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores
import Synchronization

/// Stage 1 of one entity mapping: every source row through its policy.
///
/// A mapping whose rows don't know of each other runs on all workers: each makes the rows of a batch without a store at
/// hand, and the one writer gives keys in the batches' order. Every other mapping runs row after row. Both give the same
/// rows and keys.
struct CreatePass {
    let model: StageRun
    let plan: EntityMappingPlan
    let policy: EntityMigrationPolicy
    /// Where an earlier run ended.
    let begun: StepLedger.Cursor?

    private var run: ObjectRun { model.run }

    /// What a worker made of a batch.
    private struct Made: Sendable {
        let ordinal: Int
        let input: RowBatch
        var rows: PendingRows
        let dropped: Int
    }

    func run(_ progress: inout Progress) throws(EngineError) {
        if isIndependent {
            try runOnWorkers(&progress)
        } else {
            try runInOrder(&progress)
        }
    }

    private var isIndependent: Bool {
        guard plan.keeping != .ifFree, !run.code.hasOwnManager else { return false }
        if plan.description.policyClassName != nil { return type(of: policy).isIndependent }
        return !plan.description.attributeMappings.contains { $0.expression?.callsManager == true }
    }

    private func makeSource() throws(EngineError) -> StatementSource {
        run.events(.statement(plan.shape.sql))
        return try StatementSource.rows(
            of: plan.shape, key: plan.cells[TableStorage.primaryKey], after: begun, in: run.source.connection,
            isUTF8: run.source.isUTF8, title: plan.description.name)
    }

    private var limits: BatchLimits { BatchLimits(rows: run.options.batchRows, bytes: run.options.batchBytes) }

    // MARK: - Row after row

    private func runInOrder(_ progress: inout Progress) throws(EngineError) {
        var cursor = begun ?? StepLedger.Cursor()
        var source = try makeSource()
        let batch = RowBatch()
        let worker = RowHook(pass: self, session: model.session, manager: model.manager, policy: policy)
        var more = true
        while more {
            try run.cancellation.check()
            batch.removeAll(keepingCapacity: limits.bytes * 2)
            more = try source.fill(batch, limits: limits)
            model.session.destination.sourceBatch = batch
            model.depart()
            let dropped = try worker.process(batch)
            try model.settle()
            KillPoint.reach(.batchWritten)
            model.session.destination.sourceBatch = nil
            try count(batch, dropped: dropped, &cursor, &progress)
        }
        model.session.leaveRow()
    }

    /// Rows up to the batch's last are made and written.
    private func count(
        _ batch: RowBatch, dropped: Int, _ cursor: inout StepLedger.Cursor, _ progress: inout Progress
    ) throws(EngineError) {
        run.state.objects.read += batch.count
        run.state.objects.bytes += batch.byteCount
        run.state.objects.dropped += dropped
        progress.rows += batch.count
        progress.bytes += batch.byteCount
        cursor.rows += batch.count
        if batch.count > 0 { cursor.key = batch.rowid(at: batch.count - 1) }
        let total = max(progress.total, progress.rows)
        run.ledger.report(rows: progress.rows, bytes: progress.bytes, total: total)
        try model.advance(to: cursor)
        run.events(.progress(rows: progress.rows, bytes: progress.bytes, totalRows: total))
    }

    // MARK: - On all workers

    private func runOnWorkers(_ progress: inout Progress) throws(EngineError) {
        let jobs = min(max(1, run.options.jobs), model.readers.count)
        let size = EngineOptions.poolSize(jobs: jobs)
        let free = BoundedQueue<RowBatch>(capacity: size)
        let work = BoundedQueue<RowBatch>(capacity: size)
        let done = BoundedQueue<Made>(capacity: size)
        for _ in 0..<size { _ = free.push(RowBatch()) }
        let failure = FirstFailure()
        let stop: @Sendable () -> Void = {
            free.cancel()
            work.cancel()
            done.cancel()
        }
        let threads = ThreadGroup(stop: stop)
        let (limits, cancellation) = (limits, run.cancellation)
        let statement = Handover(try makeSource())
        try threads.start("causeway-read") {
            failure.catching(stop) { () throws(EngineError) in
                var ordinal = 0
                var more = true
                while more, let batch = free.pop() {
                    try cancellation.check()
                    more = try statement.fill(batch, limits)
                    batch.ordinal = ordinal
                    ordinal += 1
                    guard work.push(batch) else { return }
                }
                work.finish()
            }
        }
        let remaining = Mutex(jobs)
        for index in 0..<jobs {
            let crew = WorkerSeed(pass: self, reader: model.readers[index])
            try threads.start("causeway-work-\(index)") {
                failure.catching(stop) { () throws(EngineError) in
                    let hook = try crew.hook()
                    defer { hook.close() }
                    while let input = work.pop() {
                        let dropped = try hook.process(input)
                        let made = Made(
                            ordinal: input.ordinal, input: input, rows: hook.takePending(input), dropped: dropped)
                        guard done.push(made) else { return }
                    }
                    try hook.end()
                    if remaining.withLock({
                        $0 -= 1; return $0
                    }) == 0 {
                        done.finish()
                    }
                }
            }
        }
        do throws(EngineError) {
            try write(from: done, recyclingTo: free, &progress)
        } catch {
            failure.record(error)
            stop()
        }
        threads.join()
        try failure.rethrow()
    }

    private func write(
        from done: BoundedQueue<Made>, recyclingTo free: BoundedQueue<RowBatch>, _ progress: inout Progress
    ) throws(EngineError) {
        var cursor = begun ?? StepLedger.Cursor()
        var waiting: [Int: Made] = [:]
        var next = 0
        while let arrived = done.pop() {
            waiting[arrived.ordinal] = arrived
            while var made = waiting.removeValue(forKey: next) {
                try run.cancellation.check()
                model.depart()
                do throws(ObjectError) {
                    try model.session.destination.write(&made.rows)
                    let (rows, map) = (made.rows, model.session.destination.map)
                    try model.associations.record(made.rows.associations, key: { rows.key(of: $0, in: map) })
                } catch {
                    throw EngineError(error, during: plan.description.name)
                }
                try model.settle()
                KillPoint.reach(.batchWritten)
                try count(made.input, dropped: made.dropped, &cursor, &progress)
                made.input.removeAll(keepingCapacity: limits.bytes * 2)
                _ = free.push(made.input)
                next += 1
            }
        }
    }
}

/// Hands a statement to the thread that reads it.
private final class Handover: @unchecked Sendable {
    private var source: StatementSource

    init(_ source: consuming StatementSource) {
        self.source = source
    }

    func fill(_ batch: RowBatch, _ limits: BatchLimits) throws(EngineError) -> Bool {
        try source.fill(batch, limits: limits)
    }
}

/// What a worker makes its hook from, on its own thread.
///
/// Sendable although the pass has the main thread's session: a worker takes nothing of it but plans, names and its own
/// reader.
private struct WorkerSeed: @unchecked Sendable {
    let pass: CreatePass
    let reader: SourceReader

    func hook() throws(EngineError) -> RowHook {
        let stores = pass.model.stores
        let session = stores.session(
            source: stores.source(reader), destination: stores.detached(), associations: nil)
        let manager = pass.model.run.code.managerType.init()
        manager.userInfo = pass.model.manager.userInfo
        manager.attach(session)
        let policy = pass.model.makePolicy(pass.plan)
        session.use(policy: policy.functions, manager: manager)
        session.currentMapping = session.mappings[pass.plan.index]
        if pass.plan.description.policyClassName != nil {
            do {
                try policy.begin(session.mappings[pass.plan.index], with: manager)
            } catch {
                throw EngineError(
                    hook: error, step: pass.model.run.step.versions, mapping: pass.plan.description.name, row: nil)
            }
        }
        return RowHook(pass: pass, session: session, manager: manager, policy: policy)
    }
}

/// Calls a policy for the rows of batches, on one thread.
final class RowHook {
    private let plan: EntityMappingPlan
    private let step: [String]
    private let session: MigrationSession
    private let manager: MigrationManager
    private let policy: EntityMigrationPolicy
    private let mapping: CausewayObjects.EntityMapping
    private let view: RowView

    init(pass: CreatePass, session: MigrationSession, manager: MigrationManager, policy: EntityMigrationPolicy) {
        plan = pass.plan
        step = pass.model.run.step.versions
        self.session = session
        self.manager = manager
        self.policy = policy
        mapping = session.mappings[plan.index]
        view = RowView(capacity: plan.shape.cells.count)
    }

    /// Calls the policy for every row; returns from how many nothing was made.
    func process(_ batch: RowBatch) throws(EngineError) -> Int {
        var dropped = 0
        for row in 0..<batch.count {
            let key = batch.rowid(at: row)
            var uri: String?
            do {
                try view.load(row, of: batch)
                let object = self.object(key: key)
                session.source.stand(on: object, view: view, cells: plan.cells, row: row)
                if let filter = plan.filter {
                    session.scope.evaluated = .object(object)
                    session.scope.source = .object(object)
                    guard try filter.evaluate(session.scope) else {
                        dropped += 1
                        continue
                    }
                }
                uri = session.source.uri(of: object)
                session.begin(row: object, mapping: plan.index, key: try keptKey(key))
                try policy.createDestinationInstances(
                    forSource: session.source.object(with: object), in: mapping, manager: manager)
                if !session.endRow() { dropped += 1 }
                try session.checkCancelled()
            } catch {
                throw EngineError(
                    hook: error, step: step, mapping: plan.description.name,
                    row: uri ?? "\(plan.description.sourceEntity ?? "") p\(key)")
            }
        }
        return dropped
    }

    private func object(key: Int64) -> ObjectID {
        let number = view.integer(at: plan.cells[TableStorage.entityNumber])
        return ObjectID(
            side: .source, entity: number.map { Int32(truncatingIfNeeded: $0) } ?? plan.sourceEntity ?? 0, key: key)
    }

    private func keptKey(_ key: Int64) throws -> Int64? {
        switch plan.keeping {
        case .always: return key
        case .never: return nil
        case .ifFree:
            guard let entity = plan.destinationEntity else { return nil }
            return try session.destination.exists(ObjectID(side: .destination, entity: entity, key: key)) ? nil : key
        }
    }

    /// What `begin` has set up on a worker's own policy ends with it.
    func end() throws(EngineError) {
        do {
            try policy.end(mapping, manager: manager)
        } catch {
            throw EngineError(hook: error, step: step, mapping: plan.description.name, row: nil)
        }
    }

    func takePending(_ batch: RowBatch) -> PendingRows {
        var rows = session.destination.takePending(session.takePending())
        rows.batch = batch
        session.source.forget()
        return rows
    }

    func close() {
        session.close()
        manager.attach(nil)
    }
}

extension Expression {
    /// Whether a look-up through the manager is part of it.
    var callsManager: Bool {
        switch self {
        case .function(let operand, _, let arguments):
            operand == .variable("manager") || operand?.callsManager == true || arguments.contains { $0.callsManager }
        case .keyPath(let operand, _): operand.callsManager
        case .aggregate(let members): members.contains { $0.callsManager }
        case .set(_, let left, let right), .conditional(_, let left, let right): left.callsManager || right.callsManager
        case .subquery(let collection, _, _): collection.callsManager
        case .variable(let name): name == "manager"
        case .fetch, .evaluatedObject, .constant: false
        }
    }
}
