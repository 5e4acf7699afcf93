import CausewayPlanning
import CausewayPreparation
import CausewayStoreFormat
import CausewayStores

/// A new store that begins as a copy of the source.
extension StepRun {
    /// Begins the store as a copy of the source, or goes on with that, and compares its indexes with the rows; from then
    /// on the progress is in the store.
    func copied(
        _ ledger: StepLedger, _ state: StepState, from start: Progress, _ progress: inout Progress
    ) throws(EngineError) -> StagingConnection {
        let rows = try keptRows()
        if state.kept == nil { state.kept = KeptTrees() }
        try copy(ledger, state, rows: rows, &progress)
        let found = try staleIndexes(state)
        if !found.stale.isEmpty {
            // Rare: a second copy without their entries costs less than reading every index before the first.
            ledger.forget(CopiedChunks.part)
            try place.removeFiles()
            progress = start
            try copy(ledger, state, rows: rows, &progress)
        }
        state.kept?.comparedBytes = found.bytes
        return try reopened(ledger, without: CopiedChunks.part)
    }

    /// Bytes of pages, shared with the source, that nothing has read, once this run has verified the store.
    func unreadBytes(_ kept: KeptTrees) -> Int {
        if verification == .full || verification == .quick && source.autoVacuum == 0 { return 0 }
        return max(0, kept.sharedBytes - kept.comparedBytes)
    }

    private func copy(
        _ ledger: StepLedger, _ state: StepState, rows: Int, _ progress: inout Progress
    ) throws(EngineError) {
        try StoreCopy(
            step: making(state.kept?.stale), source: source, file: place.staging, options: options,
            cancellation: cancellation, events: events
        ).make(ledger, state, rows: rows, &progress)
    }

    /// The step with fresh entries for indexes whose own weren't those of the rows.
    private func making(_ stale: [String: IndexWork.Method]?) -> StepPlan {
        var step = step
        step.methods = step.methods.making(stale ?? [:])
        return step
    }

    /// Compares the copy's indexes with its rows.
    ///
    /// - Returns: those that are stale, of which the state is told.
    private func staleIndexes(_ state: StepState) throws(EngineError) -> KeptIndexCheck.Outcome {
        var kept = state.kept ?? KeptTrees()
        kept.isCompared = comparesKept(isClone: kept.isClone)
        let found = try KeptIndexCheck(
            step: making(kept.stale), file: place.staging, options: options, cancellation: cancellation
        ).compare(includingKept: kept.isCompared)
        for index in found.stale {
            events(.warning("\(index.index.title): stale in the source: \(index.reason); it is made from the rows"))
            kept.stale[index.index.name] = index.method
        }
        state.kept = kept
        return found
    }

    /// Whether indexes are compared though their tables haven't changed. Pages that the copy shares with the source are
    /// read by `full` alone.
    private func comparesKept(isClone: Bool) -> Bool {
        switch verification {
        case .none: false
        case .quick: !isClone
        case .full: true
        }
    }

    /// The same run, as its copy of the source has turned out.
    ///
    /// - Throws: `.foreignCheckpoint` where an earlier run has compared fewer indexes than this one is to.
    func settled(by state: StepState) throws(EngineError) -> StepRun {
        guard step.methods.beginning == .copy else { return self }
        guard let kept = state.kept else { throw EngineError(unfinishedPagesOf: place) }
        guard kept.isCompared || !comparesKept(isClone: kept.isClone) else {
            throw EngineError(
                .foreignCheckpoint,
                """
                \(place.staging.path): the unfinished work was begun with another --verify, which compares fewer indexes \
                with their rows than --verify \(verification.rawValue)
                """, remedy: "run again with --restart to discard the unfinished work")
        }
        return making(step.methods.making(kept.stale))
    }
}
