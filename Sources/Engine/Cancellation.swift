import Synchronization

/// Asks a run to stop; it does so at the next batch or statement.
package final class Cancellation: Sendable {
    private let reason = Mutex<EngineError.Kind?>(nil)

    package init() {}

    /// - Parameter kind: `.interrupted` or `.terminated`; the first one counts.
    package func cancel(_ kind: EngineError.Kind = .interrupted) {
        reason.withLock { if $0 == nil { $0 = kind } }
    }

    package var isCancelled: Bool { reason.withLock { $0 != nil } }

    /// Throws if the run was asked to stop.
    func check() throws(EngineError) {
        if let kind = reason.withLock({ $0 }) {
            throw EngineError(kind, "stopped before the new store was complete")
        }
    }
}
