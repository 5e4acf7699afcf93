import CausewayObjects
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// Makes one staging store: tables, rows, house rows, then indexes, triggers and other dependents; from the beginning, or from
/// where an earlier run ended.
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
    let validation: ViolationPolicy
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

    /// Builds, verifies and closes the staging store; goes on where an earlier run ended.
    ///
    /// When it fails in a way that leaves the work of use, everything that is done is saved; where an fsync failed the
    /// staging store is removed, because what the disk holds of it can't be known (InsideCrashSafety §2.2).
    func run(_ progress: inout Progress) throws(EngineError) -> StepResult {
        let before = progress
        do throws(EngineError) {
            return try attempt(&progress)
        } catch {
            // What an earlier run saved can't be read or doesn't fit: the step begins anew, from a source that is there.
            guard error.kind == .foreignCheckpoint else { throw error }
            events(.warning("\(error.message); the step begins anew"))
            try place.removeFiles()
            progress = before
            return try attempt(&progress)
        }
    }

    private func attempt(_ progress: inout Progress) throws(EngineError) -> StepResult {
        let ledger: StepLedger
        do throws(EngineError) {
            ledger = try opened(&progress)
        } catch {
            try condemn(after: error)
            throw error
        }
        let state = StepState(step)
        do throws(EngineError) {
            try build(ledger, state, &progress)
        } catch {
            throw try end(ledger, after: error)
        }
        do throws(EngineError) {
            try ledger.staging.close()
        } catch {
            try condemn(after: error)
            throw error
        }
        progress.savingSeconds += ledger.savingSeconds
        KillPoint.reach(.schemaFinished)
        return StepResult(state, step, resumedRows: ledger.resumedRows)
    }

    /// Compares the staging store with its source; its connection is closed by now.
    ///
    /// `isTold`: what is wrong with the source was told when the step that made it was verified. Returns what was found
    /// wrong in both, for the summary.
    func verify(_ result: StepResult, isTold: Bool) throws(EngineError) -> [String] {
        events(.phaseBegan("verification"))
        let notices = try Verification(
            step: step, source: source, written: result.written, frameworkVersion: frameworkVersion,
            level: verification, changesValues: result.validation.defaulted > 0, cancellation: cancellation
        ).check(path)
        let untold = isTold ? [] : notices
        for notice in untold { events(.warning(notice)) }
        KillPoint.reach(.verified)
        return untold
    }

    private var path: String { place.staging }

    // MARK: - Beginning and ending

    private func opened(_ progress: inout Progress) throws(EngineError) -> StepLedger {
        let checkpoints = CheckpointFiles(
            work: place.work, step: place.index, identity: place.identity, level: options.compressionLevel)
        if let (staging, record) = try StagingStore.resumed(place) {
            try checkpoints.adopt(upTo: record.sequence)
            (progress.rows, progress.bytes) = (record.status.rows, record.status.bytes)
            events(.resumed(step: place.index, rows: record.status.rows))
            return ledger(staging, record, checkpoints)
        }
        // Again: until the store was locked, or the snapshot began, its rows could change. A later step's are there only now.
        let notices = try Preflight(
            steps: [step], source: source, makesObjects: step.objects != nil || !handlers.isEmpty, deciders: [[]],
            badRows: badRows, stopsAtViolations: validation == .stop, told: told, countsLinks: place.index > 0,
            external: place.index == 0 ? external : nil, fates: ReferenceFates(steps: [step] + following),
            endsLinks: endsLinks
        ).check()
        if place.index > 0 { for notice in notices { events(.warning(notice)) } }
        KillPoint.reach(.preflighted)
        if try place.hasStaging() {
            events(
                .warning("\(path): what an earlier run left of this step can't be resumed; the step begins anew"))
        }
        try place.removeFiles()
        let staging = try StagingStore(
            creating: path, pageSize: source.pageSize, autoVacuum: source.autoVacuum, room: StepState.room(for: step))
        let ledger = ledger(staging, StepRecord(step: place.index), checkpoints)
        // The rows of the steps before count before this one has moved any.
        ledger.report(rows: progress.rows, bytes: progress.bytes, total: max(progress.total, progress.rows))
        return ledger
    }

    private func ledger(_ staging: StagingStore, _ record: StepRecord, _ checkpoints: CheckpointFiles) -> StepLedger {
        let ledger = StepLedger(staging, record: record, checkpoints: checkpoints, options: options)
        ledger.checkpointed = { sequence, rows in events(.checkpoint(sequence: sequence, rows: rows)) }
        return ledger
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

    /// What the disk holds of a file whose fsync failed can't be known: it isn't trusted again.
    private func condemn(after error: EngineError) throws(EngineError) {
        if error.isFailedSync, !Mutant.isOn(.trustAfterSyncError) { try place.removeFiles() }
    }

    // MARK: - Stations

    private func build(_ ledger: StepLedger, _ state: StepState, _ progress: inout Progress) throws(EngineError) {
        let staging = ledger.staging
        try ledger.keep("written", restore: state.restore, save: state.save)
        try sideFiles.keep(in: ledger)
        try ledger.once("tables") { () throws(EngineError) in
            try staging.setHeader(userVersion: source.userVersion, applicationID: source.applicationID)
            try createTables(in: staging)
        }
        if !ledger.isResumed {
            try ledger.commit()
            try place.sync()
            KillPoint.reach(.stagingCreated)
        }
        if let objects = step.objects { try make(objects, ledger, state, &progress) }
        _ = try loader(ledger, state).load(step.works, &progress)
        try QuarantinedLinks(step: step, state: state, ledger: ledger, cancellation: cancellation, events: events).end()
        KillPoint.reach(.rowsMade)
        events(.phaseBegan("indexes"))
        let finisher = StoreFinisher(step: step, source: source, ledger: ledger, frameworkVersion: frameworkVersion)
        let run = { (sql: String) throws(EngineError) in try execute(sql, in: staging) }
        // Stage 2 has made the indexes that it looks links up with.
        try finisher.finishRows(besides: state.objects.indexes, run)
        if !handlers.isEmpty { try runHandlers(ledger, state) }
        try finisher.finishSchema(run)
        try ledger.commit()
    }

    /// All handlers of the store are one station: what they do is one transaction, so that none is ever half done.
    private func runHandlers(_ ledger: StepLedger, _ state: StepState) throws(EngineError) {
        try ledger.once("handlers") { () throws(EngineError) in
            KillPoint.reach(.handlersBegun)
            cancellation.attach(ledger.staging.connection.interruptHandle)
            defer { cancellation.detach(ledger.staging.connection.interruptHandle) }
            state.stage = try StageHandlerRun(
                handlers, layout: step.layout, writer: ledger.staging, storeUUID: source.metadata.uuid,
                externalData: external.directory, cancellation: cancellation
            ).run { title in events(.phaseBegan(title)) }
        }
        KillPoint.reach(.handlersDone)
    }

    /// Runs the step's mapping models and checks what they made.
    private func make(
        _ objects: ObjectStep, _ ledger: StepLedger, _ state: StepState, _ progress: inout Progress
    ) throws(EngineError) {
        // Before the first row: a model that can't be checked is refused at once.
        let stage = try ValidationStage(
            layout: step.layout, storeUUID: source.metadata.uuid, policy: validation, rejects: sideFiles.rejects)
        let run = ObjectRun(
            step: step, objects: objects, source: source, ledger: ledger, state: state, scratchPath: place.scratch,
            options: options, code: code, external: external, keyMap: sideFiles.keyMap, cancellation: cancellation,
            events: events)
        let loader = loader(ledger, state)
        try run.run(&progress) { works, progress throws(EngineError) in
            _ = try loader.load(works, &progress)
        } validate: { () throws(EngineError) in
            events(.phaseBegan("validation"))
            cancellation.attach(ledger.staging.connection.interruptHandle)
            defer { cancellation.detach(ledger.staging.connection.interruptHandle) }
            let outcome = try stage.run(on: ledger.staging.connection, cancellation: cancellation)
            KillPoint.reach(.rowsValidated)
            return outcome
        }
        for (number, rows) in state.objects.made {
            let name = objects.destination.name(of: number)
            state.entities[name] = rows - (state.objects.validation.rejectedRows[name] ?? 0)
        }
    }

    /// Runs a statement that may take long: it ends at once when the run is to stop.
    private func execute(_ sql: String, in staging: StagingStore) throws(EngineError) {
        try cancellation.check()
        events(.statement(sql))
        cancellation.attach(staging.connection.interruptHandle)
        defer { cancellation.detach(staging.connection.interruptHandle) }
        try staging.executeOne(sql)
    }

    /// Entity and join tables, the house tables, history's, the app's own: in Core Data's order for a fresh store.
    private func createTables(in staging: StagingStore) throws(EngineError) {
        for statement in step.statements.tableStatements + step.statements.houseStatements {
            try execute(statement.sql, in: staging)
        }
        if step.hasHistory {
            for statement in step.statements.historyStatements where statement.kind == .historyTable {
                try execute(statement.sql, in: staging)
            }
        }
        for object in step.appObjects where object.kind == .table {
            guard let sql = object.sql else { continue }
            try cancellation.check()
            events(.statement(sql))
            try staging.makeAppTable(sql)
        }
    }

    // MARK: - Loading

    private func loader(_ ledger: StepLedger, _ state: StepState) -> StatementLoader {
        StatementLoader(
            source: source, ledger: ledger, state: state, external: external, options: options,
            rejects: sideFiles.rejects, screening: screening(of:), cancellation: cancellation, events: events)
    }

    private var quarantines: Bool { badRows == .quarantine && step.objects == nil }

    /// What a pass needs to leave bad rows out; nil where they end the run.
    private func screening(of pass: RowPass) throws(EngineError) -> RowScreening? {
        guard quarantines else { return nil }
        guard sideFiles.rejects != nil else {
            throw EngineError(
                .usage, "bad rows can't be quarantined without a file for them",
                remedy: "name one with --rejects, or end the run at a bad row with --bad-rows fail")
        }
        // Later steps carry what the first has written down.
        let fates = place.index == 0 ? ReferenceFates(steps: [step] + following) : nil
        return try RowScreening(pass, of: step, storeUUID: source.metadata.uuid, fates: fates)
    }
}
