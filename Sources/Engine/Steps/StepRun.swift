import CausewayObjects
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewayStores

/// Makes one staging store, from the beginning or from where an earlier run ended. Its phases, in this order: load the
/// rows, finish the store, verify it.
struct StepRun {
    let step: StepPlan
    /// The steps that come after it.
    let following: [StepPlan]
    let source: SourceStore
    let place: StepPlace
    let frameworkVersion: Int
    let options: EngineOptions
    let external: ExternalValues
    /// What a stage does with the rows.
    let handlers: [StageHandler]
    let code: MigrationCode
    /// What happens to rows that break the model's rules.
    let validation: OnViolation
    let sideFiles: SideFiles
    let verification: VerificationLevel
    /// What happens to rows that a pass can't make anything of; mapping models have `validation`.
    let badRows: BadRowPolicy
    /// Links whose relationship leads to another entity now may end.
    let endsLinks: Bool
    /// What was told of the source's rows before; nil for the first step.
    let told: ToldNotices?
    let cancellation: Cancellation
    let events: (EngineEvent) -> Void

    /// Makes the staging store: loaded, finished, closed and verified.
    ///
    /// When it fails in a way that leaves the work of use, everything that is done is saved; where an fsync failed the
    /// staging store is removed, because what the disk holds of it can't be known (InsideCrashSafety §2.2).
    ///
    /// - Parameters:
    ///   - progress: rows and bytes of the steps before; raised.
    ///   - isSourceTold: this run has made the source, and told what is wrong with it.
    /// - Returns: what was made, with what is wrong in both stores.
    /// - Throws: the first failure.
    func run(_ progress: inout Progress, isSourceTold: Bool) throws(EngineError) -> StepResult {
        let before = progress
        var result: StepResult
        do throws(EngineError) {
            result = try made(&progress)
        } catch {
            // What an earlier run saved can't be read or doesn't fit: the step begins anew, from a source that is there.
            guard error.kind == .foreignCheckpoint else { throw error }
            events(.warning("\(error.message); the step begins anew"))
            try place.removeFiles()
            progress = before
            result = try made(&progress)
        }
        if !Mutant.isOn(.swapBeforeVerification) { result.notices = try verify(result, isTold: isSourceTold) }
        return result
    }

    /// The phases that write.
    private func made(_ progress: inout Progress) throws(EngineError) -> StepResult {
        let (staging, ledger) = try condemning { () throws(EngineError) in try opened(&progress) }
        let state = StepState(step)
        do throws(EngineError) {
            try load(into: staging, ledger, state, &progress)
            try finish(staging, ledger, state)
        } catch {
            throw try end(ledger, after: error)
        }
        try condemning { () throws(EngineError) in try staging.close() }
        progress.savingSeconds += ledger.savingSeconds
        KillPoint.reach(.schemaFinished)
        return StepResult(state, step, resumedRows: ledger.resumedRows)
    }

    /// Compares the staging store with its source; its connection is closed by now.
    ///
    /// - Parameters:
    ///   - result: what the step has made.
    ///   - isTold: what is wrong with the source was told when the step that made it was verified.
    /// - Returns: what was found wrong in both and wasn't told, for the summary.
    /// - Throws: `.verification` where they differ.
    private func verify(_ result: StepResult, isTold: Bool) throws(EngineError) -> [String] {
        events(.phaseBegan("verification"))
        let notices = try Verification(
            step: step, source: source, written: result.written, frameworkVersion: frameworkVersion,
            level: verification, changesValues: result.validation.defaulted > 0, cancellation: cancellation
        ).check(place.staging.path)
        let untold = isTold ? [] : notices
        for notice in untold { events(.warning(notice)) }
        KillPoint.reach(.verified)
        return untold
    }

    // MARK: - Beginning and ending

    private func opened(_ progress: inout Progress) throws(EngineError) -> (StagingConnection, StepLedger) {
        let (staging, ledger) = if let resumed = try resumed(&progress) { resumed } else { try begun(progress) }
        ledger.checkpointed = { sequence, rows in events(.checkpoint(sequence: sequence, rows: rows)) }
        return (staging, ledger)
    }

    /// What an ended run left of the step; nil where there is nothing, or nothing that can be resumed.
    private func resumed(_ progress: inout Progress) throws(EngineError) -> (StagingConnection, StepLedger)? {
        guard try place.staging.hasContent(),
            let staging = try StagingConnection(resuming: place.staging, cancellation: cancellation, events: events),
            let ledger = try StepLedger(resuming: place, in: staging, options: options)
        else { return nil }
        (progress.rows, progress.bytes) = (ledger.record.status.rows, ledger.record.status.bytes)
        events(.resumed(step: place.index, rows: progress.rows))
        return (staging, ledger)
    }

    private func begun(_ progress: Progress) throws(EngineError) -> (StagingConnection, StepLedger) {
        // Again: until the store was locked, or the snapshot began, its rows could change. A later step's are there only now.
        var preflight = Preflight(
            steps: [step], source: source, makesObjects: step.objects != nil || !handlers.isEmpty, deciders: [[]])
        preflight.badRows = badRows
        preflight.stopsAtViolations = validation == .stop
        preflight.told = told
        preflight.countsLinks = place.index > 0
        preflight.external = place.index == 0 ? external : nil
        preflight.fates = ReferenceFates(steps: [step] + following)
        preflight.endsLinks = endsLinks
        let notices = try preflight.check()
        if place.index > 0 { for notice in notices { events(.warning(notice)) } }
        KillPoint.reach(.preflighted)
        let file = place.staging
        if try file.hasContent() {
            events(
                .warning(
                    "\(file.path): what an earlier run left of this step can't be resumed; the step begins anew"))
        }
        try place.removeFiles()
        let staging = try StagingConnection(
            creating: file, like: source, cancellation: cancellation, events: events)
        let ledger = try StepLedger(
            beginning: place, in: staging, room: StepState.room(for: step), options: options)
        // The rows of the steps before count before this one has moved any.
        ledger.report(rows: progress.rows, bytes: progress.bytes, total: max(progress.total, progress.rows))
        return (staging, ledger)
    }

    /// Saves what can be saved.
    ///
    /// - Returns: why the run ends: what ended it, or the fsync that failed meanwhile, which costs the step.
    private func end(_ ledger: StepLedger, after error: EngineError) throws(EngineError) -> EngineError {
        var reason = error
        if !error.isFailedSync, error.isPassing {
            do throws(EngineError) {
                try ledger.saveBeforeEnding()
            } catch {
                // What the last commit saved is there all the same, unless it is now that an fsync has failed.
                if error.isFailedSync { reason = error }
            }
        }
        try condemn(after: reason)
        return reason
    }

    private func condemning<Result>(_ body: () throws(EngineError) -> Result) throws(EngineError) -> Result {
        do throws(EngineError) {
            return try body()
        } catch {
            try condemn(after: error)
            throw error
        }
    }

    /// What the disk holds of a file whose fsync failed can't be known: it isn't trusted again.
    private func condemn(after error: EngineError) throws(EngineError) {
        if error.isFailedSync, !Mutant.isOn(.trustAfterSyncError) { try place.removeFiles() }
    }
}
