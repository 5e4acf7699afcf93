package import CausewaySQLite
import Synchronization

/// Asks a run to stop: at the next batch, and in the middle of a long statement.
package final class Cancellation: Sendable {
    private struct State {
        var reason: EngineError.Kind?
        /// Connections whose statements may run long.
        var connections: [InterruptHandle] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// - Parameter kind: `.interrupted` or `.terminated`; the first one counts.
    package func cancel(_ kind: EngineError.Kind = .interrupted) {
        let connections = state.withLock { state in
            if state.reason == nil { state.reason = kind }
            return state.connections
        }
        for connection in connections { connection.interrupt() }
    }

    package var isCancelled: Bool { state.withLock { $0.reason != nil } }

    /// Names a connection whose statements are to be interrupted.
    package func attach(_ connection: InterruptHandle) {
        state.withLock { $0.connections.append(connection) }
    }

    /// The connection's statements are short again, or a part of what must not be torn.
    package func detach(_ connection: InterruptHandle) {
        state.withLock { $0.connections.removeAll { $0 === connection } }
    }

    /// Throws if the run was asked to stop.
    package func check() throws(EngineError) {
        if let kind = state.withLock({ $0.reason }) {
            throw EngineError(kind, "stopped before the new store was complete")
        }
    }
}
