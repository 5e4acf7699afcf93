import CausewayModel
import CausewayObjects
import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat

/// Makes one staging store: tables, rows, house rows, then everything that hangs on the rows.
struct StepRun {
    let step: StepPlan
    let source: SourceStore
    /// Of the staging store.
    let path: String
    let frameworkVersion: Int
    let options: EngineOptions
    let external: ExternalValues
    /// What a stage does with the rows.
    let handlers: [StageHandler]
    let code: MigrationCode
    let validation: ValidationSettings
    let keyMap: KeyMapFile?
    /// For what the step looks up while it runs.
    let scratchPath: String
    /// Whether the finished store's header says WAL.
    let inWALMode: Bool
    let cancellation: Cancellation
    let events: (EngineEvent) -> Void

    struct Result {
        var rows = 0
        var bytes = 0
        var dropped = 0
        /// Rows made by entity mappings, and what the validation did to them.
        var made = 0
        var validation = ValidationOutcome()
        /// Links that led to rows that were not made.
        var endedLinks = 0
    }

    /// Builds, verifies and closes the staging store.
    func run(_ progress: inout Progress) throws(EngineError) -> Result {
        try Preflight(step: step, source: source, makesObjects: step.objects != nil || !handlers.isEmpty).check()
        let (result, written) = try build(&progress)
        events(.phaseBegan("verification"))
        try Verification(step: step, source: source, written: written, frameworkVersion: frameworkVersion).check(path)
        return result
    }

    /// The staging store's connection is closed when this returns.
    private func build(_ progress: inout Progress) throws(EngineError) -> (result: Result, written: WrittenRows) {
        let staging = try StagingStore(creating: path, pageSize: source.pageSize, autoVacuum: source.autoVacuum)
        cancellation.attach(staging.connection.interruptHandle)
        try staging.setHeader(userVersion: source.userVersion, applicationID: source.applicationID)
        try createTables(in: staging)
        var result = Result()
        var written = WrittenRows()
        if let objects = step.objects { try make(objects, in: staging, &result, &written, &progress) }
        for pass in step.passes {
            written.passes.append(try moveCounting(pass, into: staging, &result, &progress))
        }
        events(.phaseBegan("indexes"))
        let finisher = StoreFinisher(
            step: step, source: source, staging: staging, frameworkVersion: frameworkVersion)
        let run = { (sql: String) throws(EngineError) in
            try cancellation.check()
            try execute(sql, in: staging)
        }
        try finisher.finishRows { sql throws(EngineError) in
            // Stage 2 has made the indexes that it looks links up with.
            if !written.indexes.contains(sql) { try run(sql) }
        }
        if !handlers.isEmpty {
            written.stage = try StageHandlerRun(
                handlers, layout: step.layout, writer: staging, storeUUID: source.metadata.uuid,
                externalData: external.directory, cancellation: cancellation
            ).run { title in events(.phaseBegan(title)) }
        }
        try finisher.finishSchema(run)
        try staging.finish(inWALMode: inWALMode)
        return (result, written)
    }

    /// Runs the step's mapping models and checks what they made.
    private func make(
        _ objects: ObjectStep, in staging: StagingStore, _ result: inout Result, _ written: inout WrittenRows,
        _ progress: inout Progress
    ) throws(EngineError) {
        // Before the first row: a model that can't be checked is refused at once.
        let stage = try ValidationStage(
            layout: step.layout, storeUUID: source.metadata.uuid, policy: validation.policy,
            rejects: validation.rejects)
        let run = ObjectRun(
            step: step, objects: objects, source: source, staging: staging, scratchPath: scratchPath, options: options,
            code: code, external: external, keyMap: keyMap, cancellation: cancellation, events: events)
        var joins: [PassCount] = []
        var joinResult = Result()
        let outcome = try run.run(&progress) { pass, progress throws(EngineError) in
            joins.append(try moveCounting(pass, into: staging, &joinResult, &progress))
        } validate: { () throws(EngineError) in
            events(.phaseBegan("validation"))
            return try stage.run(on: staging.connection, cancellation: cancellation)
        }
        let validated = outcome.validation
        result.endedLinks = outcome.endedLinks
        result.rows += joinResult.rows
        result.bytes += outcome.bytes + joinResult.bytes
        result.dropped += outcome.dropped
        result.validation = validated
        for (number, rows) in outcome.made {
            let name = objects.destination.name(of: number)
            written.entities[name, default: 0] += rows - (validated.rejectedRows[name] ?? 0)
            written.indexes = outcome.indexes
            result.made += rows
        }
        result.rows += result.made - validated.rejected
        written.hasObjects = true
    }

    private func moveCounting(
        _ pass: RowPass, into staging: StagingStore, _ result: inout Result, _ progress: inout Progress
    ) throws(EngineError) -> PassCount {
        let outcome = try move(pass, into: staging, &progress)
        result.rows += outcome.rows
        result.bytes += outcome.bytes
        result.dropped += outcome.dropped
        return PassCount(pass: pass, written: outcome.rows, dropped: outcome.dropped)
    }

    private func execute(_ sql: String, in staging: StagingStore) throws(EngineError) {
        events(.statement(sql))
        try staging.execute(sql)
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
            if let sql = object.sql { try execute(sql, in: staging) }
        }
    }

    private func move(
        _ pass: RowPass, into staging: StagingStore, _ progress: inout Progress
    ) throws(EngineError) -> RowPipeline.Outcome {
        let start = ContinuousClock.now
        let sql = pass.select.sql
        events(.passBegan(title: pass.title))
        events(.statement(sql))
        let source = source
        let (key, title) = (pass.key, pass.title)
        var sink = try StatementSink.into(
            pass.destinationTable, columns: pass.destinationColumns, staging: staging, title: title)
        let pipeline = RowPipeline(pass: pass, options: options, external: external, cancellation: cancellation)
        var (rows, bytes) = (progress.rows, progress.bytes)
        let outcome = try pipeline.run(
            from: { () throws(EngineError) in
                do throws(SQLiteError) {
                    return StatementSource(
                        try source.connection.prepare(sql, persistent: true), key: key, isUTF8: source.isUTF8,
                        title: title)
                } catch {
                    throw EngineError(reading: error, during: title)
                }
            }, into: &sink,
            progress: { batchRows, batchBytes in
                rows += batchRows
                bytes += batchBytes
                events(.progress(rows: rows, bytes: bytes, totalRows: max(progress.total, rows)))
            })
        (progress.rows, progress.bytes) = (rows, bytes)
        events(
            .passEnded(
                title: title, rows: outcome.rows, dropped: outcome.dropped,
                seconds: (ContinuousClock.now - start).seconds))
        return outcome
    }
}

/// What happens to rows that break the model's rules.
struct ValidationSettings {
    var policy: ViolationPolicy
    var rejects: RejectsFile?
}

/// What a step has written, for the verification.
struct WrittenRows {
    var passes: [PassCount] = []
    /// Rows made by entity mappings, by entity; counted where they were written.
    var entities: [String: Int] = [:]
    var hasObjects = false
    /// Statements of indexes that exist already.
    var indexes: Set<String> = []
    /// What handlers have done.
    var stage: StageOutcome?
}

/// What a pass has moved, for the verification.
struct PassCount {
    var pass: RowPass
    var written: Int
    var dropped: Int
}
