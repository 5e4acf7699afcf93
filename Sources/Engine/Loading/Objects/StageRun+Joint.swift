import CausewayMapping
import CausewayPlanning
import CausewayStores

/// Mappings whose rows are made together, while their source's table is read once.
extension StageRun {
    /// - Parameters:
    ///   - plans: the mappings; the station of the last of them is open.
    ///   - cursor: where an earlier run stopped.
    ///   - progress: raised.
    ///   - rows: that get theirs.
    /// - Throws: the first failure.
    func create(
        _ plans: [EntityMappingPlan], after cursor: StepLedger.Cursor?, _ progress: inout Progress, into rows: RowPages
    ) throws(EngineError) {
        let pass = try JointPass(self, plans, into: rows)
        // Each mapping is a pass of its own to whoever watches; they take the time of the first.
        run.events(.passBegan(title: plans[0].description.name))
        var start = ContinuousClock.now
        let counts = try pass.run(after: cursor, &progress)
        try run.ledger.leave()
        for (place, (plan, count)) in zip(plans, counts).enumerated() {
            if place > 0 { run.events(.passBegan(title: plan.description.name)) }
            run.events(
                .passEnded(
                    title: plan.description.name, rows: count.rows, dropped: count.dropped,
                    seconds: (ContinuousClock.now - start).seconds))
            start = ContinuousClock.now
        }
    }
}
