import CausewayStores

/// Work on numbered places by several threads: what comes of each is taken in their order.
struct PlacePipeline {
    let places: Range<Int>
    /// Threads that work, at least 1.
    let workers: Int
    /// Places that are worked on, or wait to be taken, at a time.
    private let inFlight: Int
    private let cancellation: Cancellation

    /// A worker: sets itself up on its own thread, then works on every place that it gets.
    typealias Working<Value> =
        @Sendable (_ every: (@escaping (Int) throws(EngineError) -> Value) throws(EngineError) -> Void)
        throws(EngineError) -> Void

    /// - Parameters:
    ///   - places: all of them.
    ///   - jobs: threads at most.
    ///   - inFlight: nil: one for each worker, and one that is taken.
    ///   - cancellation: checked before each place is begun and before it is taken.
    init(_ places: Range<Int>, jobs: Int, inFlight: Int? = nil, cancellation: Cancellation) {
        self.places = places
        workers = max(1, min(jobs, places.count))
        self.inFlight = max(workers, inFlight ?? workers + 1)
        self.cancellation = cancellation
    }

    private struct Work<Value: Sendable>: Sendable {
        var place = 0
        var value: Value?
    }

    /// - Parameters:
    ///   - working: called once for each worker, on its thread.
    ///   - take: called for each place, in their order, on the caller's thread.
    /// - Throws: the first failure of any thread; all have ended by then.
    func run<Value: Sendable>(
        working: @escaping Working<Value>, take: (Int, Value) throws(EngineError) -> Void
    ) throws(EngineError) {
        guard !places.isEmpty else { return }
        let places = places
        try OrderedPipeline(
            workers: workers, batches: (0..<inFlight).map { _ in Work<Value>() }, cancellation: cancellation
        ).run(
            reading: { every throws(EngineError) in
                var next = places.lowerBound
                try every { (work: inout Work<Value>) throws(EngineError) in
                    work.place = next
                    next += 1
                    return next < places.upperBound
                }
            },
            working: { _, every throws(EngineError) in
                try working { (body) throws(EngineError) in
                    _ = try every { (work: inout Work<Value>) throws(EngineError) in
                        work.value = try body(work.place)
                    }
                }
            },
            take: { work throws(EngineError) in
                guard let value = work.value.take() else { return }
                try take(work.place, value)
            })
    }
}
