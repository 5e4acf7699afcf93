import CausewayPlatform
package import CausewayStores
import Synchronization

/// A reader thread, workers, and the caller, who takes the batches in the order in which they were read.
///
///     free → read → work → in order → take → free
///
/// A fixed number of batches circulates and is refilled, so memory is (batches) × (batch size), however much there is
/// to read. The order doesn't depend on the number of workers. The first failure of any thread ends all of them.
package struct OrderedPipeline<Batch: Sendable> {
    /// Fills a batch; false for the last one.
    package typealias Fill = (inout Batch) throws(EngineError) -> Bool
    /// Works on a batch.
    package typealias Work = (inout Batch) throws(EngineError) -> Void
    /// The reader: opens its source on its own thread, then fills every batch.
    package typealias Reading = @Sendable (_ every: (Fill) throws(EngineError) -> Void) throws(EngineError) -> Void
    /// A worker: sets itself up on its own thread, then works on every batch that it gets. `every` returns false if the
    /// pipeline was stopped meanwhile.
    package typealias Working =
        @Sendable (_ worker: Int, _ every: (Work) throws(EngineError) -> Bool) throws(EngineError) -> Void

    private let workers: Int
    private let cancellation: Cancellation
    private let belt: Belt<Batch>

    /// - Parameters:
    ///   - workers: threads that work, at least 1.
    ///   - batches: the circulating batches: at least one for each thread, so that none waits for another.
    ///   - cancellation: checked before each batch is read and before each is taken.
    package init(workers: Int, batches: [Batch], cancellation: Cancellation) {
        self.workers = workers
        self.cancellation = cancellation
        belt = Belt(batches, workers: workers)
    }

    /// Runs until every batch was taken; once.
    ///
    /// - Parameters:
    ///   - reading: called once, on the reader's thread.
    ///   - working: called once for each worker, on its thread.
    ///   - take: called for each batch, on the caller's thread.
    /// - Throws: the first failure of any thread; all have ended by then.
    package func run(reading: @escaping Reading, working: @escaping Working, take: Work) throws(EngineError) {
        let (belt, cancellation) = (belt, cancellation)
        var threads: [WorkerThread] = []
        do throws(FileError) {
            threads.append(
                try WorkerThread(name: "causeway-read") {
                    belt.guarding { () throws(EngineError) in
                        try reading { (fill) throws(EngineError) in try belt.fill(cancellation, fill) }
                        belt.endReading()
                    }
                })
            for worker in 0..<workers {
                threads.append(
                    try WorkerThread(name: "causeway-work-\(worker)") {
                        belt.guarding { () throws(EngineError) in
                            try working(worker) { (work) throws(EngineError) in try belt.work(work) }
                            belt.endWorking()
                        }
                    })
            }
            belt.guarding { () throws(EngineError) in try belt.take(cancellation, take) }
        } catch {
            belt.stop(EngineError(error, during: "starting a thread"))
        }
        for thread in threads { thread.join() }
        try belt.rethrow()
    }
}

/// What the threads of a pipeline share: queues of batches, each with room for all of them.
private final class Belt<Batch: Sendable>: Sendable {
    private struct Numbered: Sendable {
        let number: Int
        var batch: Batch
    }

    private let free: BoundedQueue<Batch>
    private let filled: BoundedQueue<Numbered>
    private let done: BoundedQueue<Numbered>
    /// Workers that haven't ended.
    private let working: Mutex<Int>
    /// The first one counts.
    private let failure = Mutex<EngineError?>(nil)

    init(_ batches: [Batch], workers: Int) {
        free = BoundedQueue(capacity: batches.count)
        filled = BoundedQueue(capacity: batches.count)
        done = BoundedQueue(capacity: batches.count)
        working = Mutex(workers)
        for batch in batches { _ = free.push(batch) }
    }

    func fill(_ cancellation: Cancellation, _ fill: OrderedPipeline<Batch>.Fill) throws(EngineError) {
        var number = 0
        var more = true
        while more, var batch = free.pop() {
            try cancellation.check()
            more = try fill(&batch)
            guard filled.push(Numbered(number: number, batch: batch)) else { return }
            number += 1
        }
    }

    func endReading() {
        filled.finish()
    }

    func work(_ work: OrderedPipeline<Batch>.Work) throws(EngineError) -> Bool {
        while var next = filled.pop() {
            try work(&next.batch)
            guard done.push(next) else { return false }
        }
        return failure.withLock { $0 == nil }
    }

    func endWorking() {
        let isLast = working.withLock { working in
            working -= 1
            return working == 0
        }
        if isLast { done.finish() }
    }

    func take(_ cancellation: Cancellation, _ take: OrderedPipeline<Batch>.Work) throws(EngineError) {
        var early: [Int: Batch] = [:]
        var number = 0
        while receive(into: &early) {
            while var batch = early.removeValue(forKey: number) {
                try cancellation.check()
                try take(&batch)
                _ = free.push(batch)
                number += 1
            }
        }
    }

    /// A function of its own, so that nothing else holds the batch while it is taken: what is shared would be copied.
    private func receive(into early: inout [Int: Batch]) -> Bool {
        guard let arrived = done.pop() else { return false }
        early[arrived.number] = arrived.batch
        return true
    }

    /// Runs a thread's part; its failure stops the others.
    func guarding(_ body: () throws(EngineError) -> Void) {
        do throws(EngineError) {
            try body()
        } catch {
            stop(error)
        }
    }

    func stop(_ error: EngineError) {
        failure.withLock { if $0 == nil { $0 = error } }
        free.cancel()
        filled.cancel()
        done.cancel()
    }

    func rethrow() throws(EngineError) {
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
