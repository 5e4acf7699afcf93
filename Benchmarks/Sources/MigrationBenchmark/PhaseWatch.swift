import Causeway
import Synchronization

/// Adds up how long each phase of a migration takes. The migration tells where a phase begins; it lasts until the next.
final class PhaseWatch: Sendable {
    private struct State {
        var current = "planning"
        var start = ContinuousClock.now
        var seconds: [String: Double] = [:]

        mutating func begin(_ phase: String) {
            let now = ContinuousClock.now
            seconds[current, default: 0] += (now - start).inSeconds
            (current, start) = (phase, now)
        }
    }

    private let state = Mutex(State())

    func receive(_ event: MigrationEvent) {
        switch event {
        case .phaseBegan(let phase): state.withLock { $0.begin(phase) }
        case .stepBegan: state.withLock { $0.begin("rows") }
        default: break
        }
    }

    /// Ends the last phase.
    func seconds() -> [String: Double] {
        state.withLock { state in
            state.begin("end")
            return state.seconds
        }
    }
}

extension Duration {
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

extension Double {
    /// Three places after the point: what a clock on a busy machine is worth.
    var rounded3: Double { (self * 1_000).rounded() / 1_000 }
}
