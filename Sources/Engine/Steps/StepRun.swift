import CausewayObjects
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewayStoreFormat
import CausewayStores

/// Makes one staging store, from the beginning or from where an earlier run ended. Its phases, in this order: load the
/// rows, finish the store, verify it.
struct StepRun {
    private(set) var step: StepPlan
    /// The steps that come after it.
    let following: [StepPlan]
    let source: SourceStore
    let place: StepPlace
    let frameworkVersion: Int
    let options: EngineOptions
    let external: ExternalValues
    /// The handlers of a stage.
    let handlers: [StageHandler]
    let code: MigrationCode
    /// What happens to rows that break the model's rules.
    let validation: OnViolation
    let sideFiles: SideFiles
    let verification: VerificationLevel
    /// What happens to bad rows; mapping models have `validation`.
    let badRows: BadRowPolicy
    /// Whether links may end because their relationship leads to another entity now.
    let endsLinks: Bool
    /// Notices about the source's rows that were given before; nil for the first step.
    let told: ToldNotices?
    let cancellation: Cancellation
    let events: (EngineEvent) -> Void

    /// Makes the staging store: loaded, finished, closed and verified.
    ///
    /// If it fails and the work is still useful, progress is saved. If an fsync failed, the staging store is removed,
    /// because the disk's content is unknown (InsideCrashSafety §2.2).
    ///
    /// - Parameters:
    ///   - progress: rows and bytes of the steps before; raised.
    ///   - isSourceTold: this run made the source, and reported what is wrong with it.
    /// - Returns: what was made, with what is wrong in both stores.
    /// - Throws: the first failure.
    func run(_ progress: inout Progress, isSourceTold: Bool) throws(EngineError) -> StepResult {
        let before = progress
        let run: StepRun
        var result: StepResult
        do throws(EngineError) {
            let (opened, ledger) = try condemning { () throws(EngineError) in try self.opened(&progress) }
            run = asBegun(ledger)
            result = try run.made(opened, ledger, &progress)
        } catch {
            // What an earlier run saved can't be read or doesn't fit, or what the plan begins with doesn't: the step
            // starts over, since its source still exists.
            guard error.kind == .foreignCheckpoint || error.isMisfit else { throw StepCheck(self).explained(error) }
            events(.warning("\(error.message); the step starts over"))
            try place.removeFiles()
            progress = before
            // Without files there is nothing foreign any more.
            let next = error.isMisfit ? anew : self
            return try next.run(&progress, isSourceTold: isSourceTold)
        }
        if !Mutant.isOn(.swapBeforeVerification) {
            do throws(EngineError) {
                result.notices = try run.verify(result, isTold: isSourceTold)
            } catch {
                throw StepCheck(self).explained(error)
            }
        }
        return result
    }

    /// The same step, with nothing of the source's pages kept.
    private var anew: StepRun {
        var run = self
        run.step.methods = step.methods.anew
        return run
    }

    /// The step as an earlier run has begun it: after a misfit the plan still asks for a copy, but the work has none.
    private func asBegun(_ ledger: StepLedger) -> StepRun {
        let anew = anew
        return step.methods.beginning == .copy && savedMethods(in: ledger) == anew.step.methods.identity ? anew : self
    }

    /// The phases that write.
    private func made(
        _ opened: StagingConnection?, _ ledger: StepLedger, _ progress: inout Progress
    ) throws(EngineError) -> StepResult {
        let state = StepState(step)
        let staging: StagingConnection
        do throws(EngineError) {
            staging = try load(into: opened, ledger, state, &progress)
            try finish(staging, ledger, state)
            if step.methods.beginning == .copy { try staging.setAutoVacuum(source.autoVacuum) }
        } catch {
            throw try end(ledger, after: error)
        }
        try condemning { () throws(EngineError) in try staging.close() }
        progress.savingSeconds += ledger.savingSeconds
        KillPoint.reach(.schemaFinished)
        var result = StepResult(state, step, resumedRows: ledger.resumedRows)
        result.rows += try keptRows()
        return result
    }

    /// Compares the staging store with its source; its connection is closed by now.
    ///
    /// - Parameters:
    ///   - result: what the step has made.
    ///   - isTold: what is wrong with the source was reported when the step that made it was verified.
    /// - Returns: what is wrong in both and wasn't reported, for the summary.
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

    /// Without a connection where an earlier run stopped in the middle of the store's pages.
    private func opened(_ progress: inout Progress) throws(EngineError) -> (StagingConnection?, StepLedger) {
        let (staging, ledger) = if let resumed = try resumed(&progress) { resumed } else { try begun(&progress) }
        ledger.checkpointed = { sequence, rows in events(.checkpoint(sequence: sequence, rows: rows)) }
        return (staging, ledger)
    }

    /// An earlier run's work on the step; nil if there is none, or none that can be resumed.
    private func resumed(_ progress: inout Progress) throws(EngineError) -> (StagingConnection?, StepLedger)? {
        guard try place.staging.hasContent() else { return nil }
        let pages = try CheckpointFiles.newest(of: place, with: StagingPages.part)
        let (staging, ledger): (StagingConnection?, StepLedger)
        if let pages, try StagingPages.isUnfinished(pages, place.staging) {
            (staging, ledger) = (nil, try StepLedger(resuming: place, from: pages, options: options))
        } else {
            guard
                let opened = try StagingConnection(
                    resuming: place.staging, cancellation: cancellation, events: events),
                let resumed = try StepLedger(resuming: place, in: opened, orFrom: pages, options: options)
            else { return nil }
            (staging, ledger) = (opened, resumed)
        }
        (progress.rows, progress.bytes) = (ledger.record.status.rows, ledger.record.status.bytes)
        events(.resumed(step: place.index, rows: progress.rows))
        return (staging, ledger)
    }

    private func begun(_ progress: inout Progress) throws(EngineError) -> (StagingConnection, StepLedger) {
        // Again: until the store was locked, or the snapshot began, its rows could change. A later step's rows exist
        // only now.
        var preflight = StepCheck(self).preflight
        preflight.numberedByPages = step.tablesOfPages
        let notices = try preflight.check()
        if place.index > 0 { for notice in notices { events(.warning(notice)) } }
        KillPoint.reach(.preflighted)
        let file = place.staging
        if try file.hasContent() {
            events(.warning("\(file.path): an earlier run's work on this step can't be resumed; the step starts over"))
        }
        try place.removeFiles()
        let staging = try newStaging()
        progress.rows += try keptRows()
        let ledger = try StepLedger(beginning: place, in: staging, room: StepState.room(for: step), options: options)
        // Rows of earlier steps count before this one has moved any.
        ledger.report(rows: progress.rows, bytes: progress.bytes, total: max(progress.total, progress.rows))
        return (staging, ledger)
    }

    /// Rows of the tables that the new store begins with.
    private func keptRows() throws(EngineError) -> Int {
        guard step.methods.beginning == .copy else { return 0 }
        return try EngineError.reading(source.location.path) {
            try step.keptPasses.reduce(0) { rows, pass in rows + (try source.connection.count(pass.shape.countSQL)) }
        }
    }

    private func newStaging() throws(EngineError) -> StagingConnection {
        guard step.methods.beginning == .copy else {
            return try StagingConnection(
                creating: place.staging, like: source, cancellation: cancellation, events: events)
        }
        try StoreCopy(
            step: step, source: source, file: place.staging, options: options, cancellation: cancellation,
            events: events
        ).make()
        guard
            let opened = try StagingConnection(resuming: place.staging, cancellation: cancellation, events: events)
        else {
            throw EngineError(
                .verification, "\(place.staging.path): the copy of the store can't be read",
                remedy: "check the disk and the memory, then run again")
        }
        return opened
    }

    /// Saves what can be saved.
    ///
    /// - Returns: why the run ends: the error, or an fsync that failed meanwhile, which loses the step.
    private func end(_ ledger: StepLedger, after error: EngineError) throws(EngineError) -> EngineError {
        var reason = error
        if !error.isFailedSync, error.isPassing {
            do throws(EngineError) {
                try ledger.saveBeforeEnding()
            } catch {
                // The last commit is still there, unless an fsync failed just now.
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

    /// After a failed fsync the disk's content is unknown: the file isn't trusted again.
    private func condemn(after error: EngineError) throws(EngineError) {
        if error.isFailedSync, !Mutant.isOn(.trustAfterSyncError) { try place.removeFiles() }
    }
}
