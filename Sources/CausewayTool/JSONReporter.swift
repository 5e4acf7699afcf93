import Causeway
import CausewayPlatform
import Synchronization

/// Writes the events of a running migration to standard output as JSON lines; the member `event` names the event, and
/// every line says when, of which store, in which step and pass (`EventHeader`).
final class JSONReporter: Sendable {
    /// Seconds between two lines of progress.
    private static let interval = 0.5
    /// Several stores write at the same time, and a pipe takes long lines in parts.
    private static let writing = Mutex(())

    private struct State {
        var lastProgress = -Double.infinity
        var place = EventPlace()
    }

    private let showsEvents: Bool
    private let showsStatements: Bool
    private let store: String
    private let state = Mutex(State())

    /// - Parameters:
    ///   - showsEvents: false for the summary alone.
    ///   - showsStatements: whether statements are events too.
    ///   - store: as the user gave it, in every line.
    init(showsEvents: Bool, showsStatements: Bool, store: String) {
        self.showsEvents = showsEvents
        self.showsStatements = showsStatements
        self.store = store
    }

    func receive(_ event: MigrationEvent) {
        // Under the lock, so that lines come in the order of the events.
        state.withLock { state in
            state.place.begin(event)
            if showsEvents, isWanted(event, &state), let line = EventLine(event) {
                write(StampedLine(header: state.place.header(store), body: line))
            }
            state.place.end(event)
        }
    }

    /// The last line of a run that succeeded.
    @discardableResult
    func write(_ summary: MigrationSummary) -> WriteOutcome {
        write(StampedLine(header: EventHeader(store: store), body: EventLine(summary)))
    }

    /// How one of several stores ended.
    func write(_ outcome: StoreOutcome, _ signals: ReceivedSignal) {
        switch outcome {
        case .done(let summary): write(summary)
        case .failed(let error):
            write(
                StampedLine(header: header, body: FailureReport(error, code: signals.code(of: error), of: store)))
        case .notBegun: break
        }
    }

    /// When and where it is now, for the line of an error.
    var header: EventHeader { state.withLock { $0.place.header(store) } }

    private func isWanted(_ event: MigrationEvent, _ state: inout State) -> Bool {
        switch event {
        case .statement: return showsStatements
        case .progress:
            let now = MonotonicClock.seconds()
            guard now - state.lastProgress >= Self.interval else { return false }
            state.lastProgress = now
            return true
        default: return true
        }
    }

    @discardableResult
    private func write(_ line: some Encodable) -> WriteOutcome {
        do {
            let text = try JSONText.line(line)
            // A reader that closes the pipe doesn't stop the migration.
            return Self.writing.withLock { _ in StandardStream.output.writeLine(text) }
        } catch {
            StandardStream.error.writeLine("warning: an event can't be written as JSON: \(error)")
            return .written
        }
    }
}
