import Synchronization

/// A running migration as a sequence of events, the last of which is ``MigrationEvent/finished(_:)``.
///
/// ```swift
/// for try await event in migrator.events() {
///     switch event {
///     case .progress(let progress): show(progress.fraction, progress.remainingSeconds)
///     case .finished(let summary): print(summary.rows, "rows")
///     default: break
///     }
/// }
/// ```
///
/// The migration begins with the first iteration, and doesn't wait for who reads: of progress only the newest event is
/// kept, of all others each. It stops where the iterating task is cancelled, or the loop is left: what is done is
/// saved, the store is as it was, and the same call resumes. Every iteration is a migration of its own.
public struct MigrationEvents: AsyncSequence, Sendable {
    /// What it gives.
    public typealias Element = MigrationEvent
    /// How it fails.
    public typealias Failure = MigrationError

    let migrator: Migrator
    /// Seconds between two events of progress where nothing else says anything.
    let interval: Double

    /// Iterates over one migration, which the first `next` begins.
    public final class AsyncIterator: AsyncIteratorProtocol {
        private let migrator: Migrator
        private let interval: Double
        private let buffer = EventBuffer()
        private var task: Task<Void, Never>?

        init(_ migrator: Migrator, interval: Double) {
            (self.migrator, self.interval) = (migrator, interval)
        }

        deinit {
            task?.cancel()
        }

        /// The next event; waits for it.
        ///
        /// - Parameter actor: where the caller runs.
        /// - Returns: nil after the last.
        /// - Throws: `MigrationError` where the migration fails, `interrupted` where it was cancelled.
        public func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(MigrationError) -> MigrationEvent? {
            let task = running()
            let buffer = buffer
            let next = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in buffer.wait(continuation) }
            } onCancel: {
                task.cancel()
            }
            switch next {
            case .event(let event): return event
            case .end: return nil
            case .failure(let error): throw error
            }
        }

        /// For callers that don't say where they run.
        ///
        /// - Returns: nil after the last.
        /// - Throws: `MigrationError`.
        public func next() async throws(MigrationError) -> MigrationEvent? {
            try await next(isolation: nil)
        }

        private func running() -> Task<Void, Never> {
            if let task { return task }
            let (migrator, interval, buffer) = (migrator, interval, buffer)
            let begun = Task {
                do throws(MigrationError) {
                    try await migrator.migrate(tickingEvery: interval) { buffer.add($0) }
                    buffer.end(nil)
                } catch {
                    buffer.end(error)
                }
            }
            task = begun
            return begun
        }
    }

    /// Begins nothing yet: the first `next` does.
    ///
    /// - Returns: the iterator over a migration.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(migrator, interval: interval)
    }
}

extension Migrator {
    /// The migration as a sequence of events; the last one is ``MigrationEvent/finished(_:)``.
    ///
    /// - Parameter interval: seconds between two events of progress while nothing else happens.
    /// - Returns: the sequence, each iteration of which migrates.
    public func events(progressEvery interval: Double = 0.5) -> MigrationEvents {
        MigrationEvents(migrator: self, interval: interval)
    }
}

/// Events that nobody has read yet. Neighbouring ones of progress become the newest of them, so its length follows from
/// the passes and phases, and not from the rows.
final class EventBuffer: Sendable {
    /// What a reader gets.
    enum Next: Sendable {
        case event(MigrationEvent)
        case end
        case failure(MigrationError)
    }

    private struct State {
        var events: [MigrationEvent] = []
        /// How it ended; a failure is told once.
        var end: Next?
        var reader: CheckedContinuation<Next, Never>?

        /// What there is to read; nil where it must be waited for.
        mutating func next() -> Next? {
            if !events.isEmpty { return .event(events.removeFirst()) }
            guard let found = end else { return nil }
            end = .end
            return found
        }

        mutating func answer() -> (CheckedContinuation<Next, Never>, Next)? {
            guard let reader, let next = next() else { return nil }
            self.reader = nil
            return (reader, next)
        }
    }

    private let state = Mutex(State())

    func add(_ event: MigrationEvent) {
        change { state in
            if case .progress = event, case .progress? = state.events.last {
                state.events[state.events.count - 1] = event
            } else {
                state.events.append(event)
            }
        }
    }

    func end(_ failure: MigrationError?) {
        change { $0.end = failure.map { .failure($0) } ?? .end }
    }

    func wait(_ reader: CheckedContinuation<Next, Never>) {
        change { state in
            precondition(state.reader == nil, "an iterator has one reader")
            state.reader = reader
        }
    }

    /// Changes the state, and answers the reader outside the lock.
    private func change(_ body: (inout State) -> Void) {
        let answer = state.withLock { state in
            body(&state)
            return state.answer()
        }
        if let (reader, next) = answer { reader.resume(returning: next) }
    }
}
