import CausewayPlanning
import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// A new store that begins as a copy of the source.
extension StepRun {
    /// Begins the store as a copy of the source, or goes on with that; from then on the progress is in the store.
    func copied(
        _ ledger: StepLedger, _ state: StepState, _ progress: inout Progress
    ) throws(EngineError) -> StagingConnection {
        if state.kept == nil { state.kept = KeptTrees() }
        try StoreCopy(
            step: step, source: source, file: place.staging, options: options, cancellation: cancellation,
            events: events
        ).make(ledger, state, rows: keptRows(state), &progress)
        if asksIndexes {
            let check = keptIndexCheck
            try remake(check.compare(includingKept: true, hasHouse: false).stale, check)
        }
        return try reopened(ledger, without: CopiedChunks.part)
    }

    /// Whether statements read kept tables before the verification: what a stale index says would become a value.
    private var asksIndexes: Bool { !handlers.isEmpty || step.derivedValues.contains { $0.source.table != nil } }

    private var keptIndexCheck: KeptIndexCheck {
        KeptIndexCheck(
            step: step, source: source, file: place.staging, options: options, cancellation: cancellation)
    }

    private func remake(_ stale: [KeptIndexCheck.Stale], _ check: KeptIndexCheck) throws(EngineError) {
        for index in stale {
            events(.warning("\(index.index.title): stale in the source: \(index.reason); it is made from the rows"))
        }
        try check.remake(stale)
    }

    /// Reads what the copy has brought as far as the verification asks for it, and makes indexes from the rows whose
    /// entries aren't theirs. The store is finished, and no connection is open on it.
    ///
    /// - Parameter result: is told what was read.
    /// - Returns: what of the new store can't be read although the source is sound: SQLite is asked what else is wrong.
    /// - Throws: `.sourceData` for damage that was copied; with `isMisfit` where a new store would be sound.
    func readKept(_ result: inout StepResult) throws(EngineError) -> EngineError? {
        guard step.methods.beginning == .copy else { return nil }
        guard let kept = result.kept else { throw EngineError(unfinishedPagesOf: place) }
        result.unreadBytes = unreadBytes(kept)
        let check = keptIndexCheck
        let found: KeptIndexCheck.Outcome
        do throws(EngineError) {
            found = try check.compare(
                includingKept: verification == .full || verification == .quick && !kept.isClone,
                findsUnknownEntities: kept.isClone)
        } catch {
            guard error.kind == .sourceData, try isSourceSound() else { throw error }
            return EngineError(unverified: place.staging.path, [error.message])
        }
        guard !found.stale.isEmpty else {
            result.kept?.reading = found.reading
            return nil
        }
        events(.phaseBegan("indexes"))
        try remake(found.stale, check)
        try settleFile()
        events(.phaseBegan("verification"))
        return nil
    }

    /// Whether SQLite finds nothing wrong with the source's pages.
    private func isSourceSound() throws(EngineError) -> Bool {
        do throws(EngineError) {
            try cancellation.interrupting(source.connection.interruptHandle) { () throws(EngineError) in
                _ = try source.checkIntegrity()
            }
            return true
        } catch {
            guard error.kind == .sourceData else { throw error }
            return false
        }
    }

    /// Bytes of pages, shared with the source, that nothing has read, once this run has verified the store.
    private func unreadBytes(_ kept: KeptTrees) -> Int {
        // Of other files SQLite reads every page.
        let isReadWhole = source.autoVacuum == 0 || source.autoVacuum == StagingConnection.fullAutoVacuum
        if verification == .full || verification == .quick && isReadWhole { return 0 }
        return kept.sharedBytes
    }
}
