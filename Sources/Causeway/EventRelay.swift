import CausewayEngine
import CausewayPlatform
import CausewayPreparation
import CausewayStores
import Synchronization

/// Passes a run's events on in their public form, and says how far the whole is.
///
/// One event at a time, whichever thread it comes from: the run's, or the one that asks for progress while a long
/// statement runs.
final class EventRelay: Sendable {
    private struct State {
        var meter: WorkMeter
        /// Progress before the plan would come before the event that begins everything.
        var isPlanned = false
        var isEnded = false
    }

    private let state: Mutex<State>
    private let options: EngineOptions
    private let events: @Sendable (MigrationEvent) -> Void

    init(_ request: MigrationRequest, events: @escaping @Sendable (MigrationEvent) -> Void) {
        options = request.options
        self.events = events
        state = Mutex(
            State(meter: WorkMeter(verification: request.verification, now: MonotonicClock.seconds())))
    }

    func receive(_ event: EngineEvent) {
        state.withLock { state in
            let now = MonotonicClock.seconds()
            state.meter.receive(event, now: now)
            switch event {
            case .prepared(let prepared):
                state.isPlanned = true
                events(.planned(MigrationPlan(prepared, options: options)))
            case .progress, .advanced: tell(&state, now)
            default: if let event = MigrationEvent(event) { events(event) }
            }
        }
    }

    /// Another program uses the store.
    func wait(reason: String, seconds: Double) {
        state.withLock { _ in events(.waiting(reason: reason, seconds: seconds)) }
    }

    /// Says how far the run is although nothing has happened.
    func tick() {
        state.withLock { tell(&$0, MonotonicClock.seconds()) }
    }

    /// The last event; nothing comes after it.
    func end(_ summary: MigrationSummary?) {
        state.withLock { state in
            state.isEnded = true
            if let summary { events(.finished(summary)) }
        }
    }

    private func tell(_ state: inout State, _ now: Double) {
        guard state.isPlanned, !state.isEnded, let progress = state.meter.progress(now: now) else { return }
        events(.progress(progress))
    }
}
