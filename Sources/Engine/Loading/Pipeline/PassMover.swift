import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLiteFile
import CausewayStores

/// Moves the rows of passes and saves how far it is: what both engines share.
struct PassMover {
    let source: SourceStore
    let ledger: StepLedger
    let state: StepState
    let external: ExternalValues
    let options: EngineOptions
    /// The file for the lines of quarantined rows.
    let rejects: LineFile?
    /// Whether bad rows may be left out: then rows are made one by one.
    let quarantines: Bool
    /// What a pass needs to leave bad rows out; nil if they stop the run.
    let screening: (RowPass) throws(EngineError) -> RowScreening?
    let cancellation: Cancellation
    let events: (EngineEvent) -> Void

    /// How an engine moves the rows of one pass.
    struct Way<Source: RowSource & ~Copyable, Sink: RowSink & ~Copyable> {
        /// Where the pass's cells are in the records that it reads; nil: in its order.
        var map: RowMap?
        var limits: BatchLimits
        /// Reads the rows after a cursor (nil: all); called on the reader's thread.
        var source: @Sendable (StepLedger.Cursor?) throws(EngineError) -> Source
        var sink: () throws(EngineError) -> Sink
    }

    /// Moves a pass's rows, or those that an earlier run has left.
    ///
    /// - Parameters:
    ///   - pass: as planned.
    ///   - progress: rows and bytes read so far over all steps; raised.
    ///   - way: called for the pass with what quarantine needs.
    /// - Throws: the first failure.
    func move<Source: RowSource & ~Copyable, Sink: RowSink & ~Copyable>(
        _ pass: RowPass, _ progress: inout Progress,
        _ way: (RowPass) throws(EngineError) -> Way<Source, Sink>
    ) throws(EngineError) {
        let before = state.count(pass.id) ?? PassCount(pass: pass, digest: PassDigest(pass))
        guard case .open(let begun) = try ledger.enter(pass.id) else { return }
        let screening = try screening(pass)
        let pass = screening?.pass ?? pass
        let start = ContinuousClock.now
        events(.passBegan(title: pass.title))
        let count = try move(pass, screening, count: before, after: begun, &progress, try way(pass))
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
    private func move<Source: RowSource & ~Copyable, Sink: RowSink & ~Copyable>(
        _ pass: RowPass, _ screening: RowScreening?, count: PassCount, after begun: StepLedger.Cursor?,
        _ progress: inout Progress, _ way: Way<Source, Sink>
    ) throws(EngineError) -> PassCount {
        let pipeline = RowPipeline(
            pass: pass, map: way.map, limits: way.limits, screening: screening, takesSums: state.takesSums,
            options: options, external: external, cancellation: cancellation)
        var sink = try way.sink()
        let source = way.source
        var cursor = begun ?? StepLedger.Cursor()
        let total = progress.total
        var (rows, bytes) = (progress.rows, progress.bytes)
        let count = try pipeline.run(
            from: { () throws(EngineError) in try source(begun) }, into: &sink, after: count, departing: ledger.depart,
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
