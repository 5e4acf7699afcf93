import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewayStores

/// The policies of a step between, as far as they are called for more than a row: here there is no store around them.
///
/// What they ask of one, or make in one, shows that the steps must run one by one.
final class BetweenPolicies {
    private let versions: [String]
    private let session: MigrationSession
    let manager: MigrationManager
    private let policies: [(plan: EntityMappingPlan, policy: EntityMigrationPolicy)]

    /// nil without any.
    ///
    /// - Parameters:
    ///   - step: between.
    ///   - stores: of it.
    ///   - reader: of the version before; nil where only the row in hand is there.
    ///   - code: that has the policies.
    init?(_ step: StepBetween, _ stores: ObjectStores, reading reader: SourceReader?, _ code: MigrationCode) {
        let plans = step.objects.mappings.filter { $0.description.policyClassName != nil }
        if plans.isEmpty { return nil }
        versions = step.step.versions
        session = stores.session(
            source: reader.map { stores.source($0) } ?? stores.unreadSource(), destination: stores.detached(),
            associations: nil)
        manager = code.managerType.init()
        policies = plans.map { ($0, StageRun.makePolicy($0, code)) }
        manager.attach(session)
    }

    /// Before the first row.
    ///
    /// - Throws: a policy's error; a misfit where only a store could answer.
    func begin() throws(EngineError) {
        for (plan, policy) in policies {
            try call(plan, policy) { mapping in try policy.begin(mapping, with: manager) }
        }
    }

    /// After the last row.
    ///
    /// - Throws: a policy's error; a misfit where only a store could answer.
    func end() throws(EngineError) {
        for (plan, policy) in policies {
            try call(plan, policy) { mapping in
                try policy.endInstanceCreation(forMapping: mapping, manager: manager)
            }
        }
        for (plan, policy) in policies {
            try call(plan, policy) { mapping in
                try policy.endRelationshipCreation(forMapping: mapping, manager: manager)
            }
        }
        for (plan, policy) in policies {
            try call(plan, policy) { mapping in
                try policy.performCustomValidation(forMapping: mapping, manager: manager)
                try policy.end(mapping, manager: manager)
            }
        }
    }

    private func call(
        _ plan: EntityMappingPlan, _ policy: EntityMigrationPolicy,
        _ hook: (CausewayObjects.EntityMapping) throws -> Void
    ) throws(EngineError) {
        let mapping = session.mappings[plan.index]
        session.use(policy: policy.functions, manager: manager)
        session.currentMapping = mapping
        do {
            try hook(mapping)
            try session.checkCancelled()
        } catch {
            try check(plan)
            throw EngineError(hook: error, step: versions, mapping: plan.description.name, row: nil)
        }
        try check(plan)
        session.currentMapping = nil
    }

    private func check(_ plan: EntityMappingPlan) throws(EngineError) {
        let name = plan.description.name
        if session.source.asked.others { throw EngineError(asking: plan, versions) }
        if session.destination.asked.others || session.hasUnwritten {
            throw EngineError(apart: "“\(name)” needs the store of “\(versions.last ?? "")”", versions)
        }
        guard session.mappings.allSatisfy({ !$0.isRewritten }) else {
            throw EngineError(apart: "“\(name)” changes its mapping", versions)
        }
    }

    func close() {
        session.close()
        manager.attach(nil)
    }
}
