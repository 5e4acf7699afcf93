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
        // A stop in one of the statements that follow takes back what isn't committed: no row for it.
        try ledger.commit()
        KillPoint.reach(.rowsMade)
        events(.phaseBegan("indexes"))
        let finisher = StoreFinisher(
            step: step, before: before, source: source, staging: staging, ledger: ledger,
            frameworkVersion: frameworkVersion, metadata: metadata,
            advanced: { events(.advanced(share: $0)) })
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

    /// A copy of a store whose `auto_vacuum` is full has kept its free pages. They go first, some at a time: the commit
    /// that finds the mode full would move pages into all of them in one transaction, with a journal as long as these.
    ///
    /// The pages and their order don't depend on how many go at a time, so a run that was ended here goes on.
    func restoreAutoVacuum(_ staging: StagingConnection, _ ledger: StepLedger) throws(EngineError) {
        guard source.autoVacuum == StagingConnection.fullAutoVacuum else { return }
        let most = max(16, Self.vacuumedBytes / Int(source.pageSize))
        var left = try staging.freePages()
        if left > most { events(.phaseBegan("removing free pages")) }
        while left > 0 {
            try cancellation.check()
            try staging.removeFreePages(most)
            try ledger.commit()
            let now = try staging.freePages()
            // None went: the mode's own commit does what is left.
            if now >= left { break }
            left = now
        }
        try staging.setAutoVacuum(source.autoVacuum)
    }

    /// Bytes of free pages that go at a time. The journal holds a few pages for each: what is moved, its parent, the
    /// pointer map, the list of free pages (`PreparedMigration.reserve` always has room for it).
    private static let vacuumedBytes = 4 << 20

    /// Gives the new store's header a count of commits that follows from the source alone: how many a run makes depends
    /// on the time that it takes. Where pages were made, clears those that are free: runs that went on needed SQLite's
    /// first list of them.
    ///
    /// Between the last commit and the verification: no connection has the file open, it has no journal, and no record
    /// says yet that it is done. A resumed run that commits again sets the same count again. Sealing adds the same
    /// number of commits to it in every run.
    func settleFile() throws(EngineError) {
        if !step.methods.identity.isEmpty { try place.staging.clearFreePages() }
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
    func validate(
        _ stage: ValidationStage, _ staging: StagingConnection, only doubts: Set<Int>?
    ) throws(EngineError) -> ValidationOutcome {
        events(.phaseBegan("validation"))
        return try staging.interruptibly { () throws(EngineError) in
            let outcome = try stage.run(on: staging.connection, only: doubts, cancellation: cancellation)
            KillPoint.reach(.rowsValidated)
            return outcome
        }
    }
}
