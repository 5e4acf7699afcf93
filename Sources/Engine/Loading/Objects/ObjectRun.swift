import CausewayEvaluation
import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// Runs the explicit mapping models of one step, one after another, each stage by stage over its entity mappings
/// (InsideCoreDataMigration §3).
struct ObjectRun {
    let step: StepPlan
    let objects: ObjectStep
    let source: SourceStore
    let staging: StagingConnection
    let ledger: StepLedger
    let state: StepState
    let scratchPath: String
    let options: EngineOptions
    let code: MigrationCode
    let external: ExternalValues
    let keyMap: KeyMapFile?
    let cancellation: Cancellation
    let events: (EngineEvent) -> Void

    /// Runs every mapping model. `joins` fills the copied join tables; `validate` checks the rows before the key map is
    /// written.
    func run(
        _ progress: inout Progress,
        joins: ([TableWork], inout Progress) throws(EngineError) -> Void,
        validate: () throws(EngineError) -> ValidationOutcome
    ) throws(EngineError) {
        if let stations = state.objects.stations {
            ledger.skip(to: stations)
            return
        }
        let isResumable = code.isResumable(objects)
        if !isResumable {
            events(
                .warning(
                    """
                    \(step.versions.joined(separator: " → ")): a policy or the manager isn't resumable: a run that is \
                    killed while it makes their rows starts these rows over
                    """))
        }
        let scratch = try ScratchDatabase(at: scratchPath)
        let keys = KeySource(KeySpace(last: try lastKeys()))
        let readers = try source.companions(1 + workers)
        let stores = ObjectStores(
            objects: objects, storeUUID: source.metadata.uuid, external: external, now: options.now)
        let associations = try EngineError.at(scratchPath) {
            try Associations(
                StoreAccess { sql throws(SQLiteError) in try scratch.connection.prepare(sql, persistent: true) })
        }
        let session = stores.session(
            source: stores.source(readers[0]), destination: stores.destination(staging, keys: keys),
            associations: associations)
        let memory = ObjectMemory(ledger, keys: keys, associations: associations)
        if isResumable { try memory.keep() }
        if ledger.isResumed { session.assumeDeletions() }
        let manager = code.managerType.init()
        manager.attach(session)
        let tally = ObjectProgress(total: max(1, objects.mappings.count * 3))
        session.progress = { tally.fraction }
        let model = StageRun(
            run: self, mappings: objects.mappings, stores: stores, session: session, manager: manager,
            associations: associations, memory: memory, readers: Array(readers.dropFirst()), tally: tally)
        func rest() throws(EngineError) {
            try model.stages(&progress, joins: joins)
            try flush(session)
            state.objects.made = keys.rowCounts
            try ledger.once("validation") { () throws(EngineError) in state.objects.validation = try validate() }
            try ledger.once("key map") { () throws(EngineError) in
                try keyMap?.write(
                    associations, step: step.versions, objects: objects, stores: stores,
                    destination: session.destination)
            }
        }
        if isResumable { try rest() } else { try ledger.asOne("objects", rest) }
        state.objects.stations = ledger.stations
        if isResumable { memory.forget() }
        associations.close()
        session.close()
        manager.attach(nil)
        try scratch.remove()
    }

    private var workers: Int { max(1, options.jobs) }

    func flush(_ session: MigrationSession) throws(EngineError) {
        try EngineError.at(step.versions.joined(separator: " → ")) { try session.destination.flush() }
    }

    /// The largest used key of every destination table: that of the table whose keys it keeps.
    private func lastKeys() throws(EngineError) -> [Int64] {
        var result: [Int64] = []
        for home in objects.homes {
            guard let home else {
                result.append(0)
                continue
            }
            do {
                var statement = try source.connection.prepare("SELECT max(Z_PK) FROM \(try SQLIdentifier(home))")
                var last: Int64 = try statement.step() ? statement.int64(at: 0) : 0
                let roots = step.source.tables.filter { $0.name == home }.map(\.rootEntity)
                for root in roots {
                    guard let number = step.source.entityNumbers[root] else { continue }
                    for row in source.schema.primaryKeys where row.number == Int64(number) {
                        last = max(last, row.maximum)
                    }
                }
                result.append(max(0, last))
            } catch {
                throw EngineError(reading: error, during: source.location.path)
            }
        }
        return result
    }
}

/// How far the step's stages are, for `MigrationManager.migrationProgress`.
final class ObjectProgress {
    private let total: Int
    private var done = 0

    init(total: Int) {
        self.total = total
    }

    var fraction: Double { Double(done) / Double(total) }

    func advance() { done += 1 }
}

/// The three stages over the entity mappings of all the step's mapping models: relationships of one find the objects of
/// another, in any order.
struct StageRun {
    let run: ObjectRun
    let mappings: [EntityMappingPlan]
    let stores: ObjectStores
    let session: MigrationSession
    let manager: MigrationManager
    let associations: Associations
    let memory: ObjectMemory
    let readers: [SourceReader]
    let tally: ObjectProgress

    private var ledger: StepLedger { run.ledger }
    private var state: StepState { run.state }

    func stages(
        _ progress: inout Progress,
        joins: ([TableWork], inout Progress) throws(EngineError) -> Void
    ) throws(EngineError) {
        var policies: [EntityMigrationPolicy] = []
        for plan in mappings {
            let policy = makePolicy(plan)
            policies.append(policy)
            let mapping = begin(plan, policy)
            try beginHook(plan, policy, mapping)
            if plan.sourceEntity != nil { try create(plan, policy, &progress) }
            try ledger.once("made \(plan.index)") { () throws(EngineError) in
                try hook(plan) { try policy.endInstanceCreation(forMapping: mapping, manager: manager) }
                try settle()
            }
            tally.advance()
        }
        try linkByKeys(&progress, joins: joins)
        run.events(.phaseBegan("relationships"))
        if mappings.contains(where: { needsRelating($0) }) { try makeLinkIndexes() }
        for (plan, policy) in zip(mappings, policies) {
            let mapping = begin(plan, policy)
            if needsRelating(plan) { try RelatePass(model: self, plan: plan, policy: policy).relate() }
            try ledger.once("related \(plan.index)") { () throws(EngineError) in
                try hook(plan) { try policy.endRelationshipCreation(forMapping: mapping, manager: manager) }
                try settle()
            }
            KillPoint.reach(.rowsRelated)
            tally.advance()
        }
        for (plan, policy) in zip(mappings, policies) {
            let mapping = begin(plan, policy)
            try ledger.once("ended \(plan.index)") { () throws(EngineError) in
                try hook(plan) { try policy.performCustomValidation(forMapping: mapping, manager: manager) }
                try hook(plan) { try policy.end(mapping, manager: manager) }
                try settle()
            }
            tally.advance()
        }
        session.currentMapping = nil
    }

    /// `begin` is called on every fresh instance: a resumed run calls it again, on another instance.
    private func beginHook(
        _ plan: EntityMappingPlan, _ policy: EntityMigrationPolicy, _ mapping: CausewayObjects.EntityMapping
    ) throws(EngineError) {
        try hook(plan) { try policy.begin(mapping, with: manager) }
        guard session.hasUnwritten else { return }
        guard !type(of: policy).isResumable else {
            throw EngineError(
                .plan,
                """
                \(run.step.versions.joined(separator: " → ")), “\(plan.description.name)”: begin(_:with:) of a resumable \
                policy has made or changed objects, which a resumed run would do twice
                """,
                remedy: "make them in another hook, or override isResumable with false")
        }
        try settle()
    }

    private func create(
        _ plan: EntityMappingPlan, _ policy: EntityMigrationPolicy, _ progress: inout Progress
    ) throws(EngineError) {
        guard case .open(let cursor) = try ledger.enter("create \(plan.index)") else { return }
        run.events(.passBegan(title: plan.description.name))
        let start = ContinuousClock.now
        let before = state.objects
        try CreatePass(model: self, plan: plan, policy: policy, begun: cursor).run(&progress)
        try ledger.leave()
        let after = state.objects
        run.events(
            .passEnded(
                title: plan.description.name,
                rows: after.read - before.read - (after.dropped - before.dropped),
                dropped: after.dropped - before.dropped, seconds: (ContinuousClock.now - start).seconds))
    }

    private func needsRelating(_ plan: EntityMappingPlan) -> Bool {
        plan.sourceEntity != nil
            && (plan.description.policyClassName != nil || !plan.relationships.isEmpty
                || session.hasAdditionalRelationships(plan.index))
    }

    /// Links that are carried by their keys: join tables are copied, and links to rows that weren't made end. If stage
    /// 1 gave rows other keys than their source rows', stage 2 looks the links up instead.
    private func linkByKeys(
        _ progress: inout Progress,
        joins: ([TableWork], inout Progress) throws(EngineError) -> Void
    ) throws(EngineError) {
        try ledger.once("associations") { () throws(EngineError) in
            // Decided once: hooks of stage 2 may add to them before a run ends.
            state.objects.recorded = Set(mappings.map(\.index).filter { associations.hasEntries($0) })
        }
        let recorded = state.objects.recorded ?? []
        for plan in mappings {
            for key in plan.keys where key.targets.contains(where: { recorded.contains($0) }) {
                session.relate(key.relationship, inStage2Of: plan.index)
            }
        }
        for join in run.objects.joins {
            if join.ends.contains(where: { recorded.contains($0) }) {
                for (mapping, fill) in join.relationships { session.relate(fill, inStage2Of: mapping) }
            } else {
                try joins([join.work], &progress)
            }
        }
        for (index, sql) in run.objects.cleanups.enumerated() {
            try ledger.once("cleanup \(index)") { () throws(EngineError) in
                try run.staging.execute(sql)
                state.objects.endedLinks += Int(run.staging.connection.changes)
            }
        }
    }

    /// Members of to-manys are found by the keys at their other end: without an index each look-up would read the table.
    private func makeLinkIndexes() throws(EngineError) {
        for (place, statement) in run.step.statements.modelStatements.enumerated() {
            guard let index = statement.index, run.step.layout.findsMembers(index) else { continue }
            try ledger.once("link index \(place)") { () throws(EngineError) in
                try run.staging.execute(statement.sql)
                state.objects.indexes.insert(statement.sql)
            }
        }
    }

    func makePolicy(_ plan: EntityMappingPlan) -> EntityMigrationPolicy {
        // The planner has refused names that aren't registered.
        plan.description.policyClassName.flatMap { run.code.policy(named: $0)?.init() } ?? EntityMigrationPolicy()
    }

    private func begin(_ plan: EntityMappingPlan, _ policy: EntityMigrationPolicy) -> CausewayObjects.EntityMapping {
        session.use(policy: policy.functions, manager: manager)
        session.currentMapping = session.mappings[plan.index]
        return session.mappings[plan.index]
    }

    /// Runs a hook that isn't about one row.
    private func hook(_ plan: EntityMappingPlan, _ body: () throws -> Void) throws(EngineError) {
        try run.cancellation.check()
        do {
            try body()
            try session.checkCancelled()
        } catch {
            throw EngineError(
                hook: error, step: run.step.versions, mapping: plan.description.name, row: nil)
        }
    }

    /// Writes the objects that the hooks made.
    func settle() throws(EngineError) {
        try EngineError.at(run.step.versions.joined(separator: " → ")) { try session.settle() }
        try memory.relieve()
    }

    /// All rows up to the cursor are made or linked, and written.
    func advance(to cursor: StepLedger.Cursor) throws(EngineError) {
        try ledger.advance(to: cursor)
    }

    /// Called before rows are written that the cursor doesn't include.
    func depart() { ledger.depart() }
}

extension MigrationCode {
    /// Whether a run that ends between two rows of these mappings can be resumed.
    func isResumable(_ objects: ObjectStep) -> Bool {
        managerType.isResumable
            && objects.mappings.allSatisfy { plan in
                guard let name = plan.description.policyClassName else { return true }
                return policy(named: name)?.isResumable ?? false
            }
    }
}
