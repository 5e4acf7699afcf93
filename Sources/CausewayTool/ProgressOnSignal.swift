package import Causeway
import CausewayPlatform
import Synchronization

/// What a running migration is doing, in one line, in answer to SIGUSR1.
package final class ProgressOnSignal: Sendable {
    private struct State {
        var meter: ProgressMeter
        var step = ""
        /// A pass, or a phase that moves no rows.
        var activity = "preparing"
        var movesRows = false
        var rows = 0
        var total = 0
        /// When the last checkpoint was saved.
        var checkpoint: Double?
    }

    private let state: Mutex<State>

    /// - Parameter now: seconds of any clock that never goes back, here and below.
    package init(now: Double = MonotonicClock.seconds()) {
        state = Mutex(State(meter: ProgressMeter(now: now)))
    }

    /// Takes an event; quick, since the migration waits for it.
    package func receive(_ event: MigrationEvent, now: Double = MonotonicClock.seconds()) {
        state.withLock { state in
            switch event {
            case .stepBegan(let versions, let index, let count, _):
                state.step = "step \(index + 1) of \(count) (\(versions.joined(separator: " → ")))"
            case .passBegan(let title): (state.activity, state.movesRows) = ("pass \(title)", true)
            case .progress(let rows, let bytes, let total):
                state.meter.update(rows: rows, bytes: bytes, total: total, now: now)
                (state.rows, state.total) = (rows, total)
            case .phaseBegan(let phase): (state.activity, state.movesRows) = (phase, false)
            case .resumed: state.meter.rebase()
            case .checkpoint: state.checkpoint = now
            case .planned, .passEnded, .warning, .statement: break
            }
        }
    }

    /// `step 1 of 2 (v1 → v2), pass Post, 1,234 of 5,000 rows, 567 rows/s, last checkpoint 2.1 s ago`
    package func line(now: Double = MonotonicClock.seconds()) -> String {
        state.withLock { state in
            var parts = [state.step, state.activity].filter { !$0.isEmpty }
            if state.total > 0 {
                parts.append("\(Figures.grouped(state.rows)) of \(Figures.count(state.total, "row", "rows"))")
            }
            if state.movesRows { parts.append(Figures.grouped(Int(state.meter.rowsPerSecond.rounded())) + " rows/s") }
            parts.append(
                state.checkpoint.map { "last checkpoint \(Figures.seconds(now - $0)) ago" } ?? "no checkpoint yet")
            return parts.joined(separator: ", ")
        }
    }
}
