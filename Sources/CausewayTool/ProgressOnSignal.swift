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
            case .progress(let progress): state.meter.update(progress, now: now)
            case .phaseBegan(let phase): (state.activity, state.movesRows) = (phase, false)
            case .resumed: state.meter.rebase()
            case .checkpoint: state.checkpoint = now
            case .waiting: (state.activity, state.movesRows) = ("waiting until the store is free", false)
            case .planned, .passEnded, .warning, .statement, .finished: break
            }
        }
    }

    /// `step 1 of 2 (v1 → v2), pass Post, 1,234 of 5,000 rows, 567 rows/s, 42 %, 0:42 left, last checkpoint 2.1 s ago`
    package func line(now: Double = MonotonicClock.seconds()) -> String {
        state.withLock { state in
            var parts = [state.step, state.activity].filter { !$0.isEmpty }
            let progress = state.meter.progress
            if let progress, progress.totalRows > 0 {
                let total = Figures.count(progress.totalRows, "row", "rows")
                parts.append("\(Figures.grouped(progress.rows)) of \(total)")
            }
            if state.movesRows { parts.append(Figures.grouped(Int(state.meter.rowsPerSecond.rounded())) + " rows/s") }
            if let progress {
                parts.append("\(Int(progress.fraction * 100)) %")
                parts.append(
                    progress.remainingSeconds.map { "\(Figures.clock($0)) left" } ?? "estimating the time left")
            }
            parts.append(
                state.checkpoint.map { "last checkpoint \(Figures.seconds(now - $0)) ago" } ?? "no checkpoint yet")
            return parts.joined(separator: ", ")
        }
    }
}
