import CausewayPlatform
import Synchronization

/// The remaining time of work that only says which part of it is done.
package struct ActivityMeter {
    /// Before this much time and this part of the work nothing is said about the rest.
    private static let silentSeconds = 1.0
    private static let silentPart = 0.05

    private let start: Double
    /// It never falls.
    private var fraction: Double?
    private var activity = ""

    /// - Parameter now: seconds of any clock that never goes back, here and below.
    package init(now: Double) {
        start = now
    }

    /// - Parameters:
    ///   - activity: what is being done.
    ///   - fraction: of the whole work, from 0 to 1; nil where it isn't known.
    package mutating func update(_ activity: String, fraction: Double?) {
        self.activity = activity
        if let fraction { self.fraction = max(self.fraction ?? 0, min(1, fraction)) }
    }

    /// ` 42 %  ETA 0:42  values of Post`
    package func text(now: Double) -> String {
        (ProgressMeter.whole(fraction, remainingSeconds: rest(now: now)) + [activity]).joined(separator: "  ")
    }

    private func rest(now: Double) -> Double? {
        let elapsed = now - start
        guard let fraction, fraction >= Self.silentPart, elapsed >= Self.silentSeconds else { return nil }
        return elapsed * (1 - fraction) / fraction
    }

    /// The same as an event, with the members that a migration's has.
    func event(now: Double) -> EventLine {
        EventLine(
            progress: activity, fraction: fraction ?? 0, elapsedSeconds: now - start, remainingSeconds: rest(now: now))
    }
}

/// How far a command is that reads for long, on standard error: a line on a terminal, or events as JSON lines.
///
/// Not on standard output: what is printed there is one document, or the rows of an export. `update` may be called
/// often: the line is drawn ten times a second at most, an event is written twice a second.
package final class ActivityLine: Sendable {
    /// Seconds between two events.
    private static let interval = 0.5

    private struct State {
        var meter = ActivityMeter(now: MonotonicClock.seconds())
        var line: StatusLine
        var lastEvent = -Double.infinity
    }

    private let isJSON: Bool
    private let store: String?
    /// nil where nobody wants to see it.
    private let state: Mutex<State?>

    /// - Parameters:
    ///   - isJSON: whether the command prints JSON; then only events are written, wherever standard error leads.
    ///   - store: as the user gave it, for the events; nil where it is about two.
    package init(asJSON isJSON: Bool, store: String?) {
        (self.isJSON, self.store) = (isJSON, store)
        let line = StatusLine(.error)
        state = Mutex(isJSON || line.isTerminal ? State(line: line) : nil)
    }

    /// - Parameters:
    ///   - activity: what is being done.
    ///   - fraction: of the whole work, from 0 to 1; nil where it isn't known.
    package func update(_ activity: String, fraction: Double? = nil) {
        state.withLock { state in
            state?.meter.update(activity, fraction: fraction)
            guard let meter = state?.meter else { return }
            let now = MonotonicClock.seconds()
            guard !isJSON else {
                guard now - (state?.lastEvent ?? now) >= Self.interval else { return }
                state?.lastEvent = now
                write(meter.event(now: now))
                return
            }
            state?.line.show(now: now) { meter.text(now: now) }
        }
    }

    /// A reader that has gone doesn't stop the work.
    private func write(_ event: EventLine) {
        guard let text = try? JSONText.line(StampedLine(header: EventHeader(store: store), body: event)) else { return }
        StandardStream.error.writeLine(text)
    }

    /// Removes the line, so that the result stands alone.
    package func finish() {
        state.withLock { $0?.line.erase() }
    }
}
