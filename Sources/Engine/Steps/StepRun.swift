import CausewayObjects
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// Makes one staging store, from the beginning or from where an earlier run ended. Its phases, in this order: load the
/// rows, finish the store, verify it.
struct StepRun {
    private(set) var step: StepPlan
    /// Steps that run together with it: the first of them reads the source, and their stores are never made.
    let before: [StepPlan]
    /// Rows that the plan has counted for each of its passes; none where an earlier step makes them.
    let plannedRows: [Int]
    /// The steps that come after it.
    let following: [StepPlan]
    let source: SourceStore
    let place: StepPlace
    let frameworkVersion: Int
    /// Entries of the app's own that every step's store gets, so that the last one has them.
    let metadata: [String: MetadataValue]
    let options: EngineOptions
    let external: ExternalValues
    /// Whether the new store gets copies of their files; else they stay where they are.
    let copiesFiles: Bool
    /// The handlers of a stage.
    let handlers: [StageHandler]
    let code: MigrationCode
    /// What happens to rows that break the model's rules.
    let validation: OnViolation
    let sideFiles: SideFiles
    let verification: VerificationLevel
    /// What SQLite has checked of the first step's source in this run.
    let checked: SourceStructure
    /// What happens to bad rows; mapping models have `validation`.
    let badRows: BadRowPolicy
    /// Whether links may end because their relationship leads to another entity now.
    let endsLinks: Bool
    /// Notices about the source's rows that were given before; nil for the first step.
    let told: ToldNotices?
    let cancellation: Cancellation
    let events: (EngineEvent) -> Void

    /// The step whose source it reads.
    var origin: StepPlan { before.first ?? step }

    /// Whether it reads the store that is migrated, and no step's.
    var isFirst: Bool { place.index == before.count }

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
        try run(&progress, isSourceTold: isSourceTold, startsOver: 0)
    }

    /// A step starts over for what an earlier run has left, and then for rows that don't fit the copy of the source:
    /// what comes after that is this run's own doing.
    private static let mostStarts = 2

    private func run(
        _ progress: inout Progress, isSourceTold: Bool, startsOver starts: Int
    ) throws(EngineError) -> StepResult {
        let before = progress
        var result: StepResult
        do throws(EngineError) {
            let run: StepRun
            (run, result) = try finished(&progress)
            try condemning { () throws(EngineError) in try settleFile() }
            if !Mutant.isOn(.swapBeforeVerification) { try run.verify(&result, isTold: isSourceTold) }
        } catch {
            var error = error
            if let warning = try copiedSpace(error) { (error.isMisfit, error.message) = (true, warning) }
            // Steps that don't run together have stores that can say more.
            if error.isMisfit, !self.before.isEmpty { throw error }
            // What an earlier run saved can't be read or doesn't fit, or what the plan begins with doesn't: the step
            // starts over, since its source still exists.
            guard error.kind == .foreignCheckpoint || error.isMisfit, starts < Self.mostStarts else {
                throw StepCheck(self).explained(error)
            }
            events(.warning("\(error.message); the step starts over"))
            try place.removeFiles()
            progress = before
            // Without files there is nothing foreign any more.
            let next = error.isMisfit ? anew : self
            return try next.run(&progress, isSourceTold: isSourceTold, startsOver: starts + 1)
        }
        return result
    }

    /// What is wrong with space of the source that holds no rows, if the store has copied it: one that is made anew
    /// doesn't have it.
    private func copiedSpace(_ error: EngineError) throws(EngineError) -> String? {
        guard isFirst, before.isEmpty, step.methods.beginning == .copy,
            error.kind == .verification || error.kind == .sourceData || error.isDamage, !error.isMisfit
        else { return nil }
        do throws(EngineError) {
            return try cancellation.interrupting(source.connection.interruptHandle) { () throws(EngineError) in
                try source.checkIntegrity()
            }
        } catch {
            guard error.kind == .sourceData else { throw error }
            return nil
        }
    }

    /// The same step, with nothing of the source's pages kept, and no rows of mappings in pages.
    private var anew: StepRun { making(step.methods.anew) }

    /// The same step with other methods.
    func making(_ methods: StepMethods) -> StepRun {
        var run = self
        run.step.methods = methods
        return run
    }

    /// The step as an earlier run has begun it: after a misfit the plan still asks for a copy or for pages of rows, but
    /// the work has none.
    private func asBegun(_ ledger: StepLedger) -> StepRun {
        guard before.isEmpty else { return self }
        let anew = anew
        let identity = anew.step.methods.identity
        return identity != step.methods.identity && savedMethods(in: ledger) == identity ? anew : self
    }

    /// Makes the store, and closes it: no connection is left open.
    private func finished(_ progress: inout Progress) throws(EngineError) -> (run: StepRun, result: StepResult) {
        let beginning = try condemning { () throws(EngineError) in try begin(&progress) }
        let run = asBegun(beginning.ledger)
        return (run, try run.made(beginning, &progress))
    }

    /// The phases that write.
    private func made(_ beginning: Beginning, _ progress: inout Progress) throws(EngineError) -> StepResult {
        let (ledger, state) = (beginning.ledger, StepState(step, takesSums: verification != .none))
        let staging: StagingConnection
        do throws(EngineError) {
            try keepMethods(in: ledger)
            if step.methods.beginning == .copy {
                try ledger.keep(KeptTrees.part, restore: state.restoreKept, save: state.saveKept)
            }
            let opened = beginning.lacksCopy ? try copied(ledger, state, &progress) : beginning.staging
            staging = try loaded(into: opened, ledger, state, &progress)
            try finish(staging, ledger, state)
            if step.methods.beginning == .copy { try restoreAutoVacuum(staging, ledger) }
        } catch {
            throw try end(ledger, after: error)
        }
        try condemning { () throws(EngineError) in try staging.close() }
        progress.savingSeconds += ledger.savingSeconds
        KillPoint.reach(.schemaFinished)
        var result = StepResult(state, step, resumedRows: ledger.resumedRows)
        result.rows += keptRows(state)
        return result
    }

    /// Loads the rows. Of steps that run together, only single steps say which of them fails, and which rows: whatever
    /// is wrong with rows or what is made of them is a misfit. What comes after the rows, as handlers, isn't done
    /// twice.
    private func loaded(
        into opened: StagingConnection?, _ ledger: StepLedger, _ state: StepState, _ progress: inout Progress
    ) throws(EngineError) -> StagingConnection {
        do throws(EngineError) {
            return try load(into: opened, ledger, state, &progress)
        } catch {
            var error = error
            let isOfRows = error.kind == .sourceData || error.kind == .plan
            if !before.isEmpty, isOfRows, !error.isFailedSync, !error.isDamage { error.isMisfit = true }
            throw error
        }
    }

    /// Compares the staging store with its source; its connection is closed by now.
    ///
    /// - Parameters:
    ///   - result: what the step has made; is told what is wrong in both and wasn't reported, for the summary.
    ///   - isTold: what is wrong with the source was reported when the step that made it was verified.
    /// - Throws: `.verification` where they differ; with `isMisfit` where the copy of the source can't be read.
    private func verify(_ result: inout StepResult, isTold: Bool) throws(EngineError) {
        events(.phaseBegan("verification"))
        let doubt = try condemning { () throws(EngineError) in try readKept(&result) }
        let notices = try Verification(
            step: step, source: source, written: result.written, frameworkVersion: frameworkVersion, metadata: metadata,
            level: verification, changesValues: result.validation.defaulted > 0, kept: result.kept, jobs: options.jobs,
            cancellation: cancellation, advanced: { events(.advanced(share: $0)) }
        ).check(place.staging.path)
        if let doubt { throw doubt }
        result.notices = isTold ? [] : notices
        for notice in result.notices { events(.warning(notice)) }
        KillPoint.reach(.verified)
    }

    // MARK: - Beginning and ending

    /// What the phases that write go on from.
    private struct Beginning {
        /// None in the middle of the store's copy or of its pages.
        var staging: StagingConnection?
        var ledger: StepLedger
        /// Whether the copy of the source isn't whole, or its schema is the old one.
        var lacksCopy = false
    }

    private func begin(_ progress: inout Progress) throws(EngineError) -> Beginning {
        let beginning = if let resumed = try resumed(&progress) { resumed } else { try begun(&progress) }
        beginning.ledger.checkpointed = { sequence, rows in events(.checkpoint(sequence: sequence, rows: rows)) }
        return beginning
    }

    /// An earlier run's work on the step; nil if there is none, or none that can be resumed.
    private func resumed(_ progress: inout Progress) throws(EngineError) -> Beginning? {
        guard try place.staging.hasContent() else { return nil }
        let newest = try CheckpointFiles.newest(of: place)
        guard let beginning = try found(newest) else { return nil }
        let status = beginning.ledger.record.status
        (progress.rows, progress.bytes) = (status.rows, status.bytes)
        events(.resumed(step: place.index - before.count, rows: progress.rows))
        return beginning
    }

    private func found(_ newest: StepRecord?) throws(EngineError) -> Beginning? {
        let copy = newest.flatMap { CopiedChunks(in: $0) }
        if let newest, let copy, !copy.isWhole {
            // Without a chunk there is nothing to go on from.
            guard copy.copied > 0 else { return nil }
            return Beginning(ledger: try StepLedger(resuming: place, from: newest, options: options), lacksCopy: true)
        }
        if let newest, try StagingPages.isUnfinished(newest, place.staging) {
            return Beginning(ledger: try StepLedger(resuming: place, from: newest, options: options))
        }
        guard
            let staging = try StagingConnection(resuming: place.staging, cancellation: cancellation, events: events)
        else { return nil }
        let pages = newest.flatMap { $0.parts[StagingPages.part] == nil ? nil : $0 }
        if let ledger = try StepLedger(resuming: place, in: staging, orFrom: pages, options: options) {
            return Beginning(staging: staging, ledger: ledger)
        }
        guard let newest, copy != nil, try ProgressRow(in: staging).isBlank() else { return nil }
        return Beginning(ledger: try StepLedger(resuming: place, from: newest, options: options), lacksCopy: true)
    }

    /// Whether an earlier run has only begun to copy the source: without a chunk nothing is lost.
    private func hasOnlyBegunCopy() throws(EngineError) -> Bool {
        guard step.methods.beginning == .copy else { return false }
        if let newest = try CheckpointFiles.newest(of: place) { return CopiedChunks(in: newest)?.copied == 0 }
        return try CheckpointFiles.isNone(of: place)
    }

    private func begun(_ progress: inout Progress) throws(EngineError) -> Beginning {
        // Again: until the store was locked, or the snapshot began, its rows could change. A later step's rows exist
        // only now.
        let asked = step.structureToCheck(after: before, of: source)
        if isFirst, !checked.covers(asked) {
            // A run with other methods has begun, or the plan's were no good: nobody has looked at what statements
            // read.
            try cancellation.interrupting(source.connection.interruptHandle) { () throws(EngineError) in
                _ = try asked.check(source, cancellation)
            }
        }
        var preflight = StepCheck(self).preflight
        preflight.numberedByPages = step.numberedTables(after: before, of: source)
        let notices = try preflight.check()
        if !isFirst { for notice in notices { events(.warning(notice)) } }
        KillPoint.reach(.preflighted)
        let file = place.staging
        if try file.hasContent(), try !hasOnlyBegunCopy() {
            events(.warning("\(file.path): an earlier run's work on this step can't be resumed; the step starts over"))
        }
        try place.removeFiles()
        let beginning: Beginning
        if step.methods.beginning == .copy {
            beginning = Beginning(ledger: StepLedger(copying: place, options: options), lacksCopy: true)
        } else {
            let staging = try StagingConnection(
                creating: file, like: source, cancellation: cancellation, events: events)
            beginning = Beginning(
                staging: staging,
                ledger: try StepLedger(
                    beginning: place, in: staging, room: StepState.room(for: step), options: options))
        }
        // Rows of earlier steps count before this one has moved any.
        beginning.ledger.report(
            rows: progress.rows, bytes: progress.bytes, total: max(progress.total, progress.rows))
        return beginning
    }

    /// Rows of the tables that the new store begins with: as they were copied, else as the plan has counted them.
    func keptRows(_ state: StepState) -> Int {
        guard step.methods.beginning == .copy else { return 0 }
        return zip(step.passes, plannedRows).reduce(0) { rows, planned in
            let table = planned.0.destinationTable
            guard step.keeps(table: table) else { return rows }
            return rows + (state.kept?.rows?.tables[table] ?? planned.1)
        }
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
