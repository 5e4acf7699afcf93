import CausewayEvaluation
import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

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
            throw EngineError(hook: error, step: run.step.versions, mapping: plan.description.name, row: nil)
        }
    }

    /// Writes the objects that the hooks made.
    func settle() throws(EngineError) {
        try EngineError.at(run.step.versions.joined(separator: " → ")) { try session.settle() }
        try memory.relieve()
    }
}
