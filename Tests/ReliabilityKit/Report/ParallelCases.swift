package import CausewayPlatform
internal import Synchronization

/// Runs the cases of a harness on a few threads; each case works in a folder of its own.
package enum ParallelCases {
    /// Runs cases 0, 1, 2… until one says that there are no more, or `limit` is reached.
    ///
    /// Cases that run beside the one that ends the run are finished; no case is started after it.
    /// - Parameters:
    ///   - limit: cases at most.
    ///   - threads: cases that run at once.
    ///   - body: runs a case; false ends the run.
    /// - Throws: if the system has no more threads.
    package static func run(
        limit: Int, threads: Int, _ body: @escaping @Sendable (Int) -> Bool
    ) throws(FileError) {
        let next = Next(limit: limit)
        var workers: [WorkerThread] = []
        for number in 0..<max(1, threads) {
            workers.append(
                try WorkerThread(name: "case-\(number)") {
                    while let index = next.take() {
                        if !body(index) { next.end() }
                    }
                })
        }
        for worker in workers { worker.join() }
    }

    private final class Next: Sendable {
        private let state: Mutex<(next: Int, limit: Int)>

        init(limit: Int) {
            state = Mutex((0, limit))
        }

        func take() -> Int? {
            state.withLock { state in
                guard state.next < state.limit else { return nil }
                defer { state.next += 1 }
                return state.next
            }
        }

        func end() {
            state.withLock { $0.limit = 0 }
        }
    }
}
