import CausewayPlatform
import CausewayStores
import Synchronization

/// Keeps the first failure of several threads.
final class FirstFailure: Sendable {
    private let error = Mutex<EngineError?>(nil)

    func record(_ failure: EngineError) {
        error.withLock { if $0 == nil { $0 = failure } }
    }

    /// Runs a thread's body; a failure is recorded and stops the others.
    func catching(_ stop: () -> Void, _ body: () throws(EngineError) -> Void) {
        do throws(EngineError) {
            try body()
        } catch {
            record(error)
            stop()
        }
    }

    func rethrow() throws(EngineError) {
        if let failure = error.withLock({ $0 }) { throw failure }
    }
}

/// The threads of one pass. One that can't be started stops those that run.
final class ThreadGroup {
    private let stop: () -> Void
    private var threads: [WorkerThread] = []

    init(stop: @escaping () -> Void) {
        self.stop = stop
    }

    func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(EngineError) {
        do {
            threads.append(try WorkerThread(name: name, body))
        } catch {
            stop()
            join()
            throw EngineError(error, during: "starting a thread")
        }
    }

    func join() {
        for thread in threads { thread.join() }
    }
}
