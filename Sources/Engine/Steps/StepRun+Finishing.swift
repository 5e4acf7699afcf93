import CausewayPlanning
import CausewayPlatform
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// The second phase: everything that follows from the rows.
extension StepRun {
    func finish(_ staging: StagingConnection, _ ledger: StepLedger, _ state: StepState) throws(EngineError) {
        try QuarantinedLinks(
            step: step, state: state, staging: staging, ledger: ledger, cancellation: cancellation, events: events
        ).end()
        KillPoint.reach(.rowsMade)
        events(.phaseBegan("indexes"))
        let finisher = StoreFinisher(
            step: step, source: source, staging: staging, ledger: ledger, frameworkVersion: frameworkVersion)
        // Stage 2 of mapping models has made the indexes that it needs to look up links.
        try finisher.finishRows(besides: state.objects.indexes)
        if !handlers.isEmpty { try runHandlers(staging, ledger, state) }
        try finisher.finishSchema()
        try ledger.commit()
    }

    /// All handlers of the store are one station: what they do is one transaction, so no handler is ever half done.
    private func runHandlers(
        _ staging: StagingConnection, _ ledger: StepLedger, _ state: StepState
    ) throws(EngineError) {
        try ledger.once("handlers") { () throws(EngineError) in
            KillPoint.reach(.handlersBegun)
            state.stage = try staging.interruptibly { () throws(EngineError) in
                try StageHandlerRun(
                    handlers, layout: step.layout, writer: staging, storeUUID: source.metadata.uuid,
                    externalData: external.directory, cancellation: cancellation
                ).run { title in events(.phaseBegan(title)) }
            }
        }
        KillPoint.reach(.handlersDone)
    }

    /// Gives the new store's header a count of commits that follows from the source alone: how many a run makes depends
    /// on the time that it takes.
    ///
    /// Between the last commit and the verification: no connection has the file open, it has no journal, and no record
    /// says yet that it is done. A resumed run that commits again sets the same count again. Sealing adds the same number
    /// of commits to it in every run.
    func settleChangeCounter() throws(EngineError) {
        let before = (try? source.pageFile())?.layout.header.changeCounter ?? 0
        // No count that SQLite reaches as it makes the store: by those, checkpoints of pages know their file
        // (`StagingPages.isUnfinished`).
        try place.staging.setChangeCounter((before &+ 1) | 1 << 31)
    }

    // MARK: - Validation

    /// Checks the rows that mapping models make.
    func validationStage() throws(EngineError) -> ValidationStage {
        try ValidationStage(
            layout: step.layout, storeUUID: source.metadata.uuid, policy: validation, rejects: sideFiles.rejects)
    }

    /// Called while rows are loaded: the key map, which is written then, names only rows that stay.
    func validate(_ stage: ValidationStage, _ staging: StagingConnection) throws(EngineError) -> ValidationOutcome {
        events(.phaseBegan("validation"))
        return try staging.interruptibly { () throws(EngineError) in
            let outcome = try stage.run(on: staging.connection, cancellation: cancellation)
            KillPoint.reach(.rowsValidated)
            return outcome
        }
    }
}
