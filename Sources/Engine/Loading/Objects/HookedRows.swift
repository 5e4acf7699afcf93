import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewaySQLiteFile
import CausewayStores

/// The rows that a mapping's policy is called with, on whatever thread.
struct HookedRows: Sendable {
    let plan: EntityMappingPlan
    let input: MappedRowForm.Input
    /// Of the step.
    let versions: [String]
    /// Whether of the version before only the row in hand is there: its store is never made.
    let isBetween: Bool

    var cells: [Int] { input.reading?.cells ?? plan.cells }

    /// Tells the mapping's rows from others.
    var own: OwnRows { input.reading?.own ?? OwnRows(of: plan, cells: cells) }

    /// - Throws: a misfit where code has asked for what isn't there.
    func checkAsked(_ session: MigrationSession) throws(EngineError) {
        guard isBetween, session.source.asked.others else { return }
        throw EngineError(asking: plan, versions)
    }

    /// Makes what calls the policy on one thread, and begins.
    ///
    /// - Parameters:
    ///   - stores: of the step.
    ///   - reader: of the version before; nil where only the row in hand is there.
    ///   - code: that has the policy.
    ///   - userInfo: of the manager on the main thread.
    /// - Returns: it, of the thread that calls this.
    /// - Throws: the policy's error.
    func makeHook(
        _ stores: ObjectStores, reading reader: SourceReader?, _ code: MigrationCode, userInfo: [String: any Sendable]
    ) throws(EngineError) -> RowHook {
        let session = stores.session(
            source: reader.map { stores.source($0) } ?? stores.unreadSource(), destination: stores.detached(),
            associations: nil)
        let manager = code.managerType.init()
        manager.userInfo = userInfo
        manager.attach(session)
        let policy = StageRun.makePolicy(plan, code)
        session.use(policy: policy.functions, manager: manager)
        session.currentMapping = session.mappings[plan.index]
        if plan.description.policyClassName != nil {
            do {
                try policy.begin(session.mappings[plan.index], with: manager)
            } catch {
                try checkAsked(session)
                throw EngineError(hook: error, step: versions, mapping: plan.description.name, row: nil)
            }
        }
        return RowHook(self, session: session, manager: manager, policy: policy)
    }
}

extension EngineError {
    /// A mapping has asked for rows of a version whose store isn't made.
    init(asking plan: EntityMappingPlan, _ versions: [String]) {
        self.init(
            apart: "“\(plan.description.name)” asks for other rows of “\(versions.first ?? "")”", versions)
    }
}
