import CausewayEngine
import CausewayPlatform
import CausewayStores
import Synchronization
import Testing

/// A test's batch: a number, and how often it was filled.
private struct TestBatch: Sendable {
    let identity: Int
    var number = -1
    var square = -1
    var fills = 0

    static func some(_ count: Int) -> [TestBatch] { (0..<count).map { TestBatch(identity: $0) } }
}

private let total = 500

@Suite("The ordered pipeline", .timeLimit(.minutes(60)))
struct OrderedPipelineTests {
    /// The number of threads that are running.
    private final class Threads: Sendable {
        let running = Atomic<Int>(0)

        func enter() { running.add(1, ordering: .sequentiallyConsistent) }
        func leave() { running.subtract(1, ordering: .sequentiallyConsistent) }
        var count: Int { running.load(ordering: .sequentiallyConsistent) }
    }

    /// The test's replacements for the work of the pipeline's parts.
    private struct Part {
        var read: @Sendable (Int) throws(EngineError) -> Void = { _ in }
        var begin: @Sendable (Int) throws(EngineError) -> Void = { _ in }
        var work: @Sendable (Int) throws(EngineError) -> Void = { _ in }
        var end: @Sendable (Bool) throws(EngineError) -> Void = { _ in }
        var take: (TestBatch) throws(EngineError) -> Void = { _ in }
    }

    /// Squares the numbers below `total`. All threads have ended afterwards, also after a failure.
    private func run(
        workers: Int = 3, batches: Int = 7, cancellation: Cancellation = Cancellation(), _ part: Part
    ) throws(EngineError) {
        let threads = Threads()
        defer { #expect(threads.count == 0) }
        let (read, begin, work, end) = (part.read, part.begin, part.work, part.end)
        let pipeline = OrderedPipeline(workers: workers, batches: TestBatch.some(batches), cancellation: cancellation)
        try pipeline.run(
            reading: { every throws(EngineError) in
                threads.enter()
                defer { threads.leave() }
                var next = 0
                try every { (batch: inout TestBatch) throws(EngineError) in
                    try read(next)
                    batch.number = next
                    batch.fills += 1
                    next += 1
                    return next < total
                }
            },
            working: { worker, every throws(EngineError) in
                threads.enter()
                defer { threads.leave() }
                try begin(worker)
                let isComplete = try every { (batch: inout TestBatch) throws(EngineError) in
                    try work(batch.number)
                    batch.square = batch.number * batch.number
                }
                try end(isComplete)
            },
            take: { batch throws(EngineError) in try part.take(batch) })
    }

    private static func failure(_ name: String) -> EngineError { EngineError(.sourceData, name) }

    @Test("batches are taken in the order in which they were read", arguments: [1, 2, 5], [5, 6, 40])
    func order(workers: Int, batches: Int) throws {
        var taken: [Int] = []
        let begun = Atomic<Int>(0)
        let ended = Atomic<Int>(0)
        var part = Part()
        part.begin = { _ in begun.add(1, ordering: .relaxed) }
        // Later batches are often ready before earlier ones.
        part.work = { number in if number % 5 == 0 { Pause.rest(milliseconds: 1) } }
        part.end = { isComplete in
            #expect(isComplete)
            ended.add(1, ordering: .relaxed)
        }
        part.take = { batch in
            #expect(batch.square == batch.number * batch.number)
            taken.append(batch.number)
        }
        try run(workers: workers, batches: batches, part)
        #expect(taken == Array(0..<total))
        let (allBegun, allEnded) = (begun.load(ordering: .relaxed), ended.load(ordering: .relaxed))
        #expect(allBegun == workers)
        #expect(allEnded == workers)
    }

    @Test("a fixed number of batches is reused, however slow the consumer is")
    func bounded() throws {
        let batches = 4
        let inFlight = Atomic<Int>(0)
        let most = Mutex(0)
        var fills: [Int: Int] = [:]
        var part = Part()
        part.read = { _ in
            let now = inFlight.add(1, ordering: .sequentiallyConsistent).newValue
            most.withLock { $0 = max($0, now) }
        }
        part.take = { batch in
            if batch.number % 50 == 0 { Pause.rest(milliseconds: 5) }
            #expect(batch.fills == fills[batch.identity, default: 0] + 1)
            fills[batch.identity] = batch.fills
            inFlight.subtract(1, ordering: .sequentiallyConsistent)
        }
        try run(batches: batches, part)
        #expect(most.withLock { $0 } == batches)
        // Every batch was recycled: only the batches made at the start were filled.
        #expect(fills.count == batches)
        #expect(fills.values.reduce(0, +) == total)
    }

    /// Where a thread fails.
    enum Place: CaseIterable {
        case read, begin, work, end, take
    }

    @Test("the first failure of any thread ends all threads, and is thrown", arguments: Place.allCases)
    func failure(at place: Place) throws {
        var taken = 0
        var part = Part()
        switch place {
        case .read: part.read = { number throws(EngineError) in if number == 9 { throw Self.failure("read") } }
        case .begin: part.begin = { worker throws(EngineError) in if worker == 1 { throw Self.failure("begin") } }
        case .work: part.work = { number throws(EngineError) in if number == 9 { throw Self.failure("work") } }
        case .end: part.end = { isComplete throws(EngineError) in if isComplete { throw Self.failure("end") } }
        case .take: break
        }
        part.take = { batch throws(EngineError) in
            #expect(batch.number == taken)
            taken += 1
            if place == .take, taken == 9 { throw Self.failure("take") }
        }
        let error = #expect(throws: EngineError.self) { try run(part) }
        #expect(error?.message == "\(place)")
        // A failed batch and those after it are never taken.
        if place == .read || place == .work { #expect(taken <= 9) }
    }

    @Test("of two failures the first is thrown, and a stopped thread knows that it was stopped")
    func twoFailures() throws {
        let isStopped = Atomic<Bool>(false)
        var part = Part()
        // Without the fourth batch the last is never read: no thread is done before the failure.
        part.work = { number throws(EngineError) in if number == 3 { throw Self.failure("first") } }
        part.end = { isComplete throws(EngineError) in
            #expect(!isComplete)
            isStopped.store(true, ordering: .sequentiallyConsistent)
            throw Self.failure("second")
        }
        let error = #expect(throws: EngineError.self) { try run(part) }
        #expect(error?.message == "first")
        let wasStopped = isStopped.load(ordering: .sequentiallyConsistent)
        #expect(wasStopped)
    }

    @Test("a run that is cancelled ends with the cancellation's error")
    func cancelled() throws {
        let cancellation = Cancellation()
        var taken = 0
        var part = Part()
        part.take = { _ in
            taken += 1
            if taken == 20 { cancellation.cancel(.terminated) }
        }
        let error = #expect(throws: EngineError.self) { try run(cancellation: cancellation, part) }
        #expect(error?.kind == .terminated)
        #expect(taken == 20)
    }
}
