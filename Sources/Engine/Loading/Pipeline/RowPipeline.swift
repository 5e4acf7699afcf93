import CausewayPlanning
import CausewayPreparation
import CausewaySQLiteFile
import CausewayStores

/// Moves the rows of one pass: a reader, `jobs` workers that project and pack, and the caller as the one writer.
struct RowPipeline {
    let pass: RowPass
    /// Where the pass's cells are in the source's records; nil: in its order, as in a statement's rows.
    var map: RowMap?
    /// When a batch is closed.
    let limits: BatchLimits
    /// What is needed to leave bad rows out; nil if they stop the run.
    var screening: RowScreening?
    /// Whether the rows are digested, for the verification.
    var takesSums = true
    let options: EngineOptions
    let external: ExternalValues
    let cancellation: Cancellation

    /// A batch in flight: the rows read, the rows that a worker made from them, and what it packed them into.
    private struct Batch<Packed: Sendable>: Sendable {
        let input = RowBatch()
        let output = RowBatch()
        let packed: Packed
        var made = MadeRows()
        var dropped = 0
        /// Rows that another pass moves.
        var elsewhere = 0
        var quarantined = QuarantinedRows()
        var digest: PassDigest
    }

    /// The report after each written batch.
    struct Moved {
        /// Rows and bytes read for the batch.
        var rows: Int
        var bytes: Int
        /// The last of these rows.
        var lastKey: Int64
        /// What the pass has moved so far.
        var count: PassCount
    }

    /// Moves every row.
    ///
    /// - Parameters:
    ///   - makeSource: called once, on the reader's thread.
    ///   - sink: written to on the caller's thread.
    ///   - begun: what an earlier run has moved already.
    ///   - departing: called on the caller's thread before each batch is written.
    ///   - quarantine: takes bad rows on the caller's thread, in the source's order.
    ///   - progress: called on the caller's thread after each batch was written.
    /// - Returns: what was moved, the beginning included.
    /// - Throws: the first failure of any thread; all have ended by then.
    func run<Source: RowSource & ~Copyable, Sink: RowSink & ~Copyable>(
        from makeSource: @escaping @Sendable () throws(EngineError) -> Source, into sink: inout Sink,
        after begun: PassCount, departing: () -> Void, quarantine: (QuarantinedRows) throws(EngineError) -> Void,
        progress: (Moved) throws(EngineError) -> Void
    ) throws(EngineError) -> PassCount {
        let (pass, map, screening, external, limits) = (pass, map, screening, external, limits)
        let takesSums = takesSums
        let packing = sink.packing
        let jobs = max(1, options.jobs)
        let batches = (0..<EngineOptions.poolSize(jobs: jobs)).map { _ in
            Batch(packed: packing.makePacked(), digest: PassDigest(begun.digest.shape))
        }
        var count = begun
        try OrderedPipeline(workers: jobs, batches: batches, cancellation: cancellation).run(
            reading: { every throws(EngineError) in
                var source = try makeSource()
                try every { (batch: inout Batch<Sink.Packing.Packer.Packed>) throws(EngineError) in
                    try source.fill(batch.input, limits: limits)
                }
            },
            working: { _, every throws(EngineError) in
                let projector = try RowProjector(
                    pass, map: map, external: external, screening: screening, takesSums: takesSums)
                let packer = packing.makePacker()
                _ = try every { (batch: inout Batch<Sink.Packing.Packer.Packed>) throws(EngineError) in
                    batch.made = try packer.make(
                        batch.input, with: projector, through: batch.output, into: batch.packed)
                    (batch.dropped, batch.elsewhere) = (projector.dropped, projector.elsewhere)
                    batch.quarantined = projector.takeQuarantined()
                    batch.digest = projector.takeDigest()
                }
            },
            take: { batch throws(EngineError) in
                try requireComplete(batch)
                departing()
                try sink.write(batch.output, batch.packed)
                if !batch.quarantined.lines.isEmpty { try quarantine(batch.quarantined) }
                count.written += batch.made.count
                count.bytes += batch.made.bytes
                count.dropped += batch.dropped
                count.quarantined += batch.quarantined.count
                count.digest.merge(batch.digest)
                let last = batch.input.count - 1
                try progress(
                    Moved(
                        rows: batch.input.count, bytes: batch.input.byteCount,
                        lastKey: last >= 0 ? batch.input.rowid(at: last) : 0, count: count))
                // The memory of one huge row must not stay in every batch. What is made of short rows may take two.
                batch.input.removeAll(keepingCapacity: limits.bytes + limits.bytes / 4)
                batch.output.removeAll(keepingCapacity: limits.bytes * 2)
            })
        try sink.finish()
        return count
    }

    /// Rows in = rows out + dropped + quarantined, batch by batch; the verification counts in the stores again.
    private func requireComplete<Packed>(_ batch: Batch<Packed>) throws(EngineError) {
        let settled = batch.made.count + batch.dropped + batch.elsewhere + batch.quarantined.count
        guard settled == batch.input.count else {
            throw EngineError(
                .verification,
                "\(pass.title): \(batch.input.count) rows were read, \(settled) were written, dropped or quarantined",
                remedy: "please report this")
        }
    }
}
