import CausewayModel
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
    /// Whether the finished store's header says WAL.
    let inWALMode: Bool
    let cancellation: Cancellation
    let events: (EngineEvent) -> Void

    struct Result {
        var rows = 0
        var bytes = 0
        var dropped = 0
    }

    /// Builds, verifies and closes the staging store.
    func run(_ progress: inout Progress) throws(EngineError) -> Result {
        try Preflight(step: step, source: source).check()
        let (result, counts) = try build(&progress)
        events(.phaseBegan("verification"))
        try Verification(step: step, source: source, counts: counts, frameworkVersion: frameworkVersion).check(path)
        return result
    }

    /// The staging store's connection is closed when this returns.
    private func build(_ progress: inout Progress) throws(EngineError) -> (result: Result, counts: [PassCount]) {
        let staging = try StagingStore(creating: path, pageSize: source.pageSize, autoVacuum: source.autoVacuum)
        cancellation.attach(staging.connection.interruptHandle)
        try staging.setHeader(userVersion: source.userVersion, applicationID: source.applicationID)
        try createTables(in: staging)
        var result = Result()
        var counts: [PassCount] = []
        for pass in step.passes {
            let outcome = try move(pass, into: staging, &progress)
            result.rows += outcome.rows
            result.bytes += outcome.bytes
            result.dropped += outcome.dropped
            counts.append(PassCount(pass: pass, written: outcome.rows, dropped: outcome.dropped))
        }
        events(.phaseBegan("indexes"))
        try StoreFinisher(step: step, source: source, staging: staging, frameworkVersion: frameworkVersion)
            .finish { sql throws(EngineError) in
                try cancellation.check()
                try execute(sql, in: staging)
            }
        try staging.finish(inWALMode: inWALMode)
        return (result, counts)
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

/// What a pass has moved, for the verification.
struct PassCount {
    var pass: RowPass
    var written: Int
    var dropped: Int
}
