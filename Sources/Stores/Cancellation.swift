package import CausewaySQLite
import Synchronization

/// Asks a run to stop, at the next batch or in the middle of a long statement.
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

    /// Runs what may take long: a request to stop interrupts the connection's statements. Other statements are short,
    /// or inside a critical section.
    package func interrupting<Result, Failure: Error>(
        _ connection: InterruptHandle, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        state.withLock { $0.connections.append(connection) }
        defer {
            state.withLock { state in
                if let last = state.connections.lastIndex(where: { $0 === connection }) {
                    state.connections.remove(at: last)
                }
            }
        }
        return try body()
    }

    /// Throws if the run was asked to stop.
    package func check() throws(EngineError) {
        if let kind = state.withLock({ $0.reason }) {
            throw EngineError(kind, "stopped before the new store was complete")
        }
    }

    /// Rows between two checks.
    private static let rowsPerCheck = 4_096

    /// Counts a row, and checks now and then.
    package func check(afterRow rows: inout Int) throws(EngineError) {
        rows += 1
        if rows.isMultiple(of: Self.rowsPerCheck) { try check() }
    }
}
