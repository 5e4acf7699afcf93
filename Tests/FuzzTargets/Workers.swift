import CausewayPlatform
import Synchronization

/// Runs cases on a few threads and adds up what they found.
enum Workers {
    /// Runs cases 0 to `count` − 1.
    ///
    /// - Throws: the error of the first case that couldn't be run; later ones aren't started.
    static func run(
        _ count: Int, threads: Int, _ body: @escaping @Sendable (Int) throws -> DamageHarness.Result
    ) throws -> DamageHarness.Result {
        let shared = Shared()
        var workers: [WorkerThread] = []
        for number in 0..<max(1, min(threads, count)) {
            workers.append(
                try WorkerThread(name: "damage-\(number)") {
                    while let index = shared.next(below: count) {
                        do {
                            shared.add(try body(index))
                        } catch {
                            shared.fail(error)
                        }
                    }
                })
        }
        for worker in workers { worker.join() }
        return try shared.result()
    }

    private struct State {
        var next = 0
        var result = DamageHarness.Result()
        var failure: (any Error)?
    }

    private final class Shared: Sendable {
        private let state = Mutex(State())

        func next(below count: Int) -> Int? {
            state.withLock { state in
                guard state.next < count, state.failure == nil else { return nil }
                defer { state.next += 1 }
                return state.next
            }
        }

        func add(_ result: DamageHarness.Result) {
            state.withLock { $0.result.add(result) }
        }

        func fail(_ error: any Error) {
            state.withLock { $0.failure = $0.failure ?? error }
        }

        func result() throws -> DamageHarness.Result {
            let (result, failure) = state.withLock { ($0.result, $0.failure) }
            if let failure { throw failure }
            return result
        }
    }
}
