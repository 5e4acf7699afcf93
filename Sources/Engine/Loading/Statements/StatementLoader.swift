import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewayStoreFormat
import CausewayStores

/// Moves the rows of tables by statements: a SELECT of the source, an INSERT into the staging store.
///
/// A loader decides nothing about rows: the work says what happens to each. It resumes where an earlier run ended, and
/// makes the same rows for any number of batches, workers and runs.
struct StatementLoader {
    let source: SourceStore
    let staging: StagingConnection
    let ledger: StepLedger
    let state: StepState
    let external: ExternalValues
    let options: EngineOptions
    /// The file for the lines of quarantined rows.
    let rejects: LineFile?
    /// What a pass needs to leave bad rows out; nil if they stop the run.
    let screening: (RowPass) throws(EngineError) -> RowScreening?
    let cancellation: Cancellation
    let events: (EngineEvent) -> Void

    /// Fills the tables, in this order; raises the progress as rows are read. What was moved before a failure is saved,
    /// as far as the step's progress says.
    func load(_ works: [TableWork], _ progress: inout Progress) throws(EngineError) {
        for pass in works.flatMap(\.passes) { try move(pass, &progress) }
    }

    private func move(_ pass: RowPass, _ progress: inout Progress) throws(EngineError) {
        let before = state.count(pass.id) ?? PassCount(pass: pass, digest: PassDigest(pass))
        guard case .open(let begun) = try ledger.enter(pass.id) else { return }
        let screening = try screening(pass)
        let pass = screening?.pass ?? pass
        let start = ContinuousClock.now
        events(.passBegan(title: pass.title))
        events(.statement(pass.shape.sql))
        var sink = try StatementSink.into(
            pass.destinationTable, columns: pass.destinationColumns, staging: staging, title: pass.title)
        let count = try move(pass, screening, into: &sink, count: before, after: begun, &progress)
        state.set(count)
        try ledger.leave()
        events(
            .passEnded(
                title: pass.title, rows: count.written - before.written, dropped: count.dropped - before.dropped,
                seconds: (ContinuousClock.now - start).seconds))
        let quarantined = count.quarantined - before.quarantined
        if quarantined > 0 { events(.warning("\(pass.title): quarantined rows: \(quarantined)")) }
    }

    /// Moves the rows after the cursor; saves while it does.
    private func move(
        _ pass: RowPass, _ screening: RowScreening?, into sink: inout StatementSink, count: PassCount,
        after begun: StepLedger.Cursor?, _ progress: inout Progress
    ) throws(EngineError) -> PassCount {
        let pipeline = RowPipeline(
            pass: pass, screening: screening, options: options, external: external, cancellation: cancellation)
        let source = source
        var cursor = begun ?? StepLedger.Cursor()
        let total = progress.total
        var (rows, bytes) = (progress.rows, progress.bytes)
        let count = try pipeline.run(
            from: { () throws(EngineError) in
                try StatementSource.rows(
                    of: pass.shape, key: pass.key, after: begun, in: source.connection, isUTF8: source.isUTF8,
                    title: pass.title)
            }, into: &sink, after: count, departing: ledger.depart,
            quarantine: { rows throws(EngineError) in
                try state.quarantine.keys.add(rows, pass: pass.id)
                try rejects?.append(rows.lines)
            },
            progress: { moved throws(EngineError) in
                rows += moved.rows
                bytes += moved.bytes
                state.set(moved.count)
                cursor.rows += moved.rows
                if moved.rows > 0 { cursor.key = moved.lastKey }
                if Mutant.isOn(.progressFirst) { (cursor.rows, cursor.key) = (cursor.rows + 1, cursor.key + 1) }
                ledger.report(rows: rows, bytes: bytes, total: max(total, rows))
                try ledger.advance(to: cursor)
                events(.progress(rows: rows, bytes: bytes, totalRows: max(total, rows)))
            })
        (progress.rows, progress.bytes) = (rows, bytes)
        return count
    }
}
