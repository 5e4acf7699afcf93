import CausewayMapping
import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// Plans the runs of a chain one after another: each reads what the one before it makes.
struct ChainPlanner {
    let store: SourceStore
    let history: ModelHistory
    let binding: StoreBinding
    let names: SettledNames
    let frameworkVersion: Int
    /// Tables and columns that nobody names otherwise keep the store's names.
    let keepsNames: Bool
    let code: CodeCatalog
    let pages: PageReading

    /// - Returns: a step for every run, and what is worth knowing about them.
    func plan(_ runs: [StepChain.Run], to target: String) throws(EngineError) -> (steps: [StepPlan], warnings: [String])
    {
        var steps: [StepPlan] = []
        var warnings: [String] = []
        var source = StepSource(
            layout: binding.layout, schema: store.schema, appObjects: binding.objects(.appMade),
            indexes: try pages.indexes())
        for (index, run) in runs.enumerated() {
            let goal = try goal(of: run, isLast: index == runs.count - 1, target)
            var step = try plan(run, from: source, to: goal)
            step.methods = pages.methods(of: step, from: source, isFirst: index == 0)
            step.losses += try PreparedMigration.losses(of: step, stale: index == 0 ? binding : nil, in: store).map {
                "\(run.versions.joined(separator: " → ")): \($0)"
            }
            steps.append(step)
            let version = run.versions.last ?? ""
            warnings += step.warnings.map { "\(version): \($0)" }
            if step.objects != nil {
                warnings += try ValidationRules(step.layout).unchecked.map { "\(version): \($0)" }
            }
            source = StepSource(
                layout: step.layout, schema: step.resultingSchema(after: source.schema), appObjects: step.appObjects,
                indexes: step.indexes)
        }
        warnings += source.layout.undecidable.map { "\(target): \($0.warning)" }
        for (table, columns) in binding.extraColumns.sorted(by: { $0.key < $1.key }) {
            warnings.append(
                "\(table): columns that the model doesn't know are not carried: \(columns.joined(separator: ", "))")
        }
        return (steps, warnings)
    }

    private func goal(of run: StepChain.Run, isLast: Bool, _ target: String) throws(EngineError) -> StepGoal {
        var goal = StepGoal(
            model: run.destination, frameworkVersion: frameworkVersion, hasHistory: store.schema.history != nil,
            fillsTables: min(frameworkVersion, store.metadata.frameworkVersion) >= FrameworkEra.addsColumns)
        goal.template = try names.hints(for: history.version(named: run.versions.last ?? target))
        if keepsNames { goal.template = goal.template ?? LayoutHints(store.schema) }
        if isLast { goal.joinTables = names.joinTables }
        return goal
    }

    private func plan(
        _ run: StepChain.Run, from source: StepSource, to goal: StepGoal
    ) throws(EngineError) -> StepPlan {
        var planner = StepPlanner(versions: run.versions, firstStep: run.firstStep, from: source, to: goal)
        planner.losses = run.losses
        do {
            switch run.content {
            case .inferred(let mapping, let composed):
                (planner.mapping, planner.steps) = (mapping, composed)
                return try planner.plan()
            case .explicit(let models): return try planner.plan(models, code: code)
            }
        } catch let error as StoreFormatError
            where error.code == .unsupportedSchema || error.cause?.isOfSystem ?? false
        {
            throw EngineError(error, path: store.location.path)
        } catch {
            throw EngineError(
                .plan, "\(run.versions.joined(separator: " → ")): \(error)", remedy: "fix the model or the mapping")
        }
    }
}
