import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewayPreparation
import CausewayStoreFormat
import CausewayStores

/// The step's mapping models, ready to run.
struct PreparedObjects {
    let run: ObjectRun
    /// nil where an earlier run has done everything.
    let model: StageRun?
    let validation: ValidationStage
}

/// The rows that mapping models make.
extension StepRun {
    /// nil without mapping models.
    func preparedObjects(_ ledger: StepLedger, _ state: StepState) throws(EngineError) -> PreparedObjects? {
        guard let objects = step.objects else { return nil }
        // Before the first row: a model that can't be checked is refused at once.
        let validation = try validationStage()
        var between: [StepBetween] = []
        for step in before {
            guard let own = step.objects else { continue }
            let isShown =
                between.count + 1 == before.count { $0.objects != nil }
                && objects.mappings.contains { $0.description.policyClassName != nil || $0.choosesByLinks }
            between.append(try StepBetween(step, own, showsLinks: isShown))
        }
        let projected = try step.projected.map { _ throws(EngineError) in try StepBetween(step, objects) }
        let run = ObjectRun(
            step: step, objects: objects, before: before, between: between, projected: projected, source: source,
            isFirst: isFirst,
            ledger: ledger, state: state, scratchPath: place.scratch, options: options, code: code, external: external,
            keyMap: sideFiles.keyMap, cancellation: cancellation, events: events, rules: validation.rules)
        return PreparedObjects(run: run, model: try run.prepared(), validation: validation)
    }

    /// Runs the mapping models, as far as pages haven't, and checks what they made.
    func make(
        _ objects: PreparedObjects, _ staging: StagingConnection, _ ledger: StepLedger, _ state: StepState,
        _ progress: inout Progress
    ) throws(EngineError) {
        if let model = objects.model {
            model.staging.open(staging)
            let loader = StatementLoader(mover: mover(ledger, state), staging: staging)
            try objects.run.run(model, &progress, joins: loader.load) { () throws(EngineError) in
                try validate(objects.validation, staging, only: state.objects.doubts)
            }
        } else if let stations = state.objects.stations {
            ledger.skip(to: stations)
        }
        for (number, rows) in state.objects.made {
            let name = objects.run.objects.destination.name(of: number)
            state.entities[name] = rows - (state.objects.validation.rejectedRows[name] ?? 0)
        }
    }
}
