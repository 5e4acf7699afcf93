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
    /// Tables and columns that nobody names otherwise keep the store's names: it has the target version, and is copied
    /// for other names or metadata.
    let keepsNames: Bool
    let code: CodeCatalog
    let pages: PageReading
    /// Where CloudKit mirrors the store.
    let mirror: MirroredStore?

    /// - Returns: a step for every run, and what is worth knowing about them.
    func plan(
        _ runs: [StepChain.Run], to target: String
    ) throws(EngineError) -> (steps: [StepPlan], warnings: [String], mirror: MirroredStore?) {
        var mirror = mirror
        var steps: [StepPlan] = []
        var warnings: [String] = []
        var source = StepSource(
            layout: binding.layout, schema: store.schema, appObjects: binding.objects(.appMade),
            indexes: try pages.indexes())
        source.mirrored = mirror?.tables
        for (index, run) in runs.enumerated() {
            let goal = try goal(of: run, isLast: index == runs.count - 1, target)
            var step = try plan(run, from: source, to: goal)
            step.methods = pages.methods(of: step, from: source, isFirst: index == 0)
            step.changes = run.changes
            step.lost += try PreparedMigration.losses(of: step, stale: index == 0 ? binding : nil, in: store).map {
                Loss(step: run.versions.joined(separator: " → "), .other($0))
            }
            step.lost += try mirror?.losses(of: step) ?? []
            steps.append(step)
            let version = run.versions.last ?? ""
            warnings += step.warnings.map { "\(version): \($0)" }
            if step.objects != nil {
                warnings += try ValidationRules(step.layout).unchecked.map { "\(version): \($0)" }
            }
            source = StepSource(
                layout: step.layout, schema: step.resultingSchema(after: source.schema), appObjects: step.appObjects,
                indexes: step.indexes)
            source.separate(mirror?.tables)
        }
        if store.schema.objects.contains(where: { $0.name.lowercased().hasPrefix("sqlite_stat") }) {
            warnings.append(
                "SQLite's statistics (sqlite_stat1) are not carried: they are about the old tables; ANALYZE makes new ones"
            )
        }
        warnings += source.layout.undecidable.map { "\(target): \($0.warning)" }
        for (table, columns) in binding.extraColumns.sorted(by: { $0.key < $1.key }) {
            warnings.append(
                "\(table): columns that the model doesn't know are not carried: \(columns.joined(separator: ", "))")
        }
        return (steps, warnings, mirror)
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

extension StepSource {
    /// Takes the tables of CloudKit mirroring out of the app's own objects.
    fileprivate mutating func separate(_ tables: MirroredTables?) {
        guard let tables else { return }
        let names = Set(tables.objects.map(\.name))
        appObjects.removeAll { names.contains($0.name) }
        mirrored = tables
    }
}
