import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLiteFile
import CausewayStores
import Synchronization

/// One pass through the pipeline: a reader, `jobs` workers, and the caller as the one writer.
///
///     source → queue → workers → queue → reorder → sink
///
/// Every queue and pool is bounded, so memory is (batches in flight) × (batch size), whatever the store's size. Batches
/// are numbered by the reader and written in that order: the result doesn't depend on the number of workers.
struct RowPipeline {
    let pass: RowPass
    /// What is needed to leave bad rows out; nil where they end the run.
    var screening: RowScreening?
    let options: EngineOptions
    let external: ExternalValues
    let cancellation: Cancellation

    /// What a pass moved.
    package struct Outcome {
        var rows = 0
        var bytes = 0
        var dropped = 0
        var quarantined = 0
        var digest: PassDigest
    }

    /// A batch that a worker has finished.
    private struct Projected: Sendable {
        let batch: RowBatch
        let dropped: Int
        /// Rows that another pass moves.
        let elsewhere: Int
        let quarantined: QuarantinedRows
        let sourceBytes: Int
        let sourceRows: Int
        let lastKey: Int64
        let digest: PassDigest
    }

    /// What is told after each batch that was written.
    struct Moved {
        /// Rows and bytes read for the batch.
        var rows: Int
        var bytes: Int
        /// The last of these rows.
        var lastKey: Int64
        /// What the pass has moved so far.
        var outcome: Outcome
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
        after begun: Outcome, departing: () -> Void, quarantine: (QuarantinedRows) throws(EngineError) -> Void,
        progress: (Moved) throws(EngineError) -> Void
    ) throws(EngineError) -> Outcome {
        let jobs = max(1, options.jobs)
        let size = EngineOptions.poolSize(jobs: jobs)
        let freeInput = BoundedQueue<RowBatch>(capacity: size)
        let freeOutput = BoundedQueue<RowBatch>(capacity: size)
        let work = BoundedQueue<RowBatch>(capacity: size)
        let done = BoundedQueue<Projected>(capacity: size)
        for _ in 0..<size {
            _ = freeInput.push(RowBatch())
            _ = freeOutput.push(RowBatch())
        }
        let failure = FirstFailure()
        let stop: @Sendable () -> Void = {
            freeInput.cancel()
            freeOutput.cancel()
            work.cancel()
            done.cancel()
        }
        let limits = BatchLimits(rows: options.batchRows, bytes: options.batchBytes)
        let cancellation = cancellation
        let threads = ThreadGroup(stop: stop)
        try threads.start("causeway-read") {
            failure.catching(stop) { () throws(EngineError) in
                var source = try makeSource()
                var ordinal = 0
                var more = true
                while more, let batch = freeInput.pop() {
                    try cancellation.check()
                    more = try source.fill(batch, limits: limits)
                    batch.ordinal = ordinal
                    ordinal += 1
                    guard work.push(batch) else { return }
                }
                work.finish()
            }
        }
        let remaining = Mutex(jobs)
        let (pass, screening, external) = (pass, screening, external)
        for index in 0..<jobs {
            try threads.start("causeway-work-\(index)") {
                failure.catching(stop) { () throws(EngineError) in
                    let projector = try RowProjector(pass, external: external, screening: screening)
                    // The output is taken before the input: whoever holds the earliest batch can always finish it.
                    while let output = freeOutput.pop() {
                        guard let input = work.pop() else { break }
                        try projector.project(input, into: output)
                        output.ordinal = input.ordinal
                        let result = Projected(
                            batch: output, dropped: projector.dropped, elsewhere: projector.elsewhere,
                            quarantined: projector.takeQuarantined(), sourceBytes: input.byteCount,
                            sourceRows: input.count,
                            lastKey: input.count > 0 ? input.rowid(at: input.count - 1) : 0,
                            digest: projector.takeDigest())
                        input.removeAll(keepingCapacity: limits.bytes * 2)
                        guard freeInput.push(input), done.push(result) else { return }
                    }
                    if remaining.withLock({
                        $0 -= 1; return $0
                    }) == 0 {
                        done.finish()
                    }
                }
            }
        }
        var outcome = begun
        do throws(EngineError) {
            try write(
                from: done, recyclingTo: freeOutput, into: &sink, &outcome, departing: departing,
                quarantine: quarantine, progress: progress)
        } catch {
            failure.record(error)
            stop()
        }
        threads.join()
        try failure.rethrow()
        return outcome
    }

    private func write<Sink: RowSink & ~Copyable>(
        from done: BoundedQueue<Projected>, recyclingTo pool: BoundedQueue<RowBatch>, into sink: inout Sink,
        _ outcome: inout Outcome, departing: () -> Void, quarantine: (QuarantinedRows) throws(EngineError) -> Void,
        progress: (Moved) throws(EngineError) -> Void
    ) throws(EngineError) {
        var pending: [Int: Projected] = [:]
        var next = 0
        while let arrived = done.pop() {
            pending[arrived.batch.ordinal] = arrived
            while let result = pending.removeValue(forKey: next) {
                try cancellation.check()
                try requireComplete(result)
                departing()
                try sink.write(result.batch)
                if !result.quarantined.lines.isEmpty { try quarantine(result.quarantined) }
                outcome.rows += result.batch.count
                outcome.bytes += result.batch.byteCount
                outcome.dropped += result.dropped
                outcome.quarantined += result.quarantined.count
                outcome.digest.merge(result.digest)
                try progress(
                    Moved(
                        rows: result.sourceRows, bytes: result.sourceBytes, lastKey: result.lastKey, outcome: outcome))
                result.batch.removeAll(keepingCapacity: options.batchBytes * 2)
                _ = pool.push(result.batch)
                next += 1
            }
        }
        try sink.finish()
    }

    /// Rows in = rows out + dropped + quarantined, batch by batch; the verification asks the stores once more.
    private func requireComplete(_ result: Projected) throws(EngineError) {
        let settled = result.batch.count + result.dropped + result.elsewhere + result.quarantined.count
        guard settled == result.sourceRows else {
            throw EngineError(
                .verification, "\(pass.title): \(result.sourceRows) rows were read, \(settled) are accounted for",
                remedy: "please report this")
        }
    }
}

extension RowPipeline.Outcome {
    /// What an earlier run has moved.
    init(_ count: PassCount) {
        self.init(
            rows: count.written, bytes: count.bytes, dropped: count.dropped, quarantined: count.quarantined,
            digest: count.digest)
    }
}

extension PassCount {
    /// What the pass has moved so far, the beginning included.
    mutating func take(_ outcome: RowPipeline.Outcome) {
        (written, bytes, dropped, digest) = (outcome.rows, outcome.bytes, outcome.dropped, outcome.digest)
        quarantined = outcome.quarantined
    }
}
