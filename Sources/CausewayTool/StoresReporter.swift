import Causeway
import CausewayPlatform
import Synchronization

/// Shows the migrations of several stores to a person, on standard error: every message with its store, and one line of
/// progress for all.
final class StoresReporter: Sendable {
    private struct State {
        var line: StatusLine
        var running: [Int: Running] = [:]
        var ended = 0
        var failed = 0
        var stopped = 0
        var meter: StoresMeter
    }

    /// A store that is being migrated.
    private struct Running {
        let status = ProgressOnSignal()
        /// What was said already.
        var warnings: Set<String> = []
    }

    private let shares: [StoreShares.Share]
    private let verbosity: TextReporter.Verbosity
    private let start = MonotonicClock.seconds()
    private let state: Mutex<State>

    init(_ shares: [StoreShares.Share], _ verbosity: TextReporter.Verbosity) {
        self.shares = shares
        self.verbosity = verbosity
        state = Mutex(State(line: StatusLine(), meter: StoresMeter(shares.map(\.bytes))))
    }

    func begin(_ place: Int) {
        state.withLock { $0.running[place] = Running() }
    }

    /// Takes an event of one store; quick, since the migration waits for it.
    func receive(_ event: MigrationEvent, of place: Int) {
        state.withLock { state in
            state.running[place]?.status.receive(event)
            switch event {
            case .progress(let progress): state.meter.advance(place, to: progress.fraction)
            case .planned(let plan): state.running[place]?.warnings.formUnion(plan.warnings)
            case .resumed: state.meter.resume(place)
            case .stepBegan(_, let step, _, _): state.meter.beginStep(step, of: place)
            case .warning(let text): state.running[place]?.warnings.insert(text)
            default: break
            }
            guard verbosity > .quiet else { return }
            for text in lines(of: event) { state.line.tell(named(text, place)) }
            // Whole, to be run elsewhere.
            if verbosity >= .statements, case .statement(let sql) = event { state.line.say(named("\(sql);", place)) }
            let now = MonotonicClock.seconds()
            let running = state
            state.line.show(now: now) { progress(running, now: now) }
        }
    }

    /// Says how one store ended: the line that stays.
    func end(_ place: Int, _ outcome: StoreOutcome, _ signals: ReceivedSignal) {
        state.withLock { state in
            let warned = state.running.removeValue(forKey: place)?.warnings ?? []
            state.ended += 1
            var isMigrated = false
            if case .done(let summary) = outcome { isMigrated = !summary.wasCurrent }
            state.meter.end(place, isMigrated: isMigrated)
            switch outcome {
            case .done(let summary):
                guard verbosity > .quiet else { return }
                for warning in summary.warnings where !warned.contains(warning) {
                    state.line.tell("warning: " + named(warning, place))
                }
                let text = SummaryText(summary: summary, output: shares[place].output).lines[0]
                state.line.say("done: " + named(text, place))
            case .failed(let error):
                let report = FailureReport(error, code: signals.code(of: error), of: shares[place].store)
                if report.isOfSignal { state.stopped += 1 } else { state.failed += 1 }
                state.line.say(report.lines(aboutStore: true).joined(separator: "\n"))
            case .notBegun: break
            }
        }
    }

    /// Says something in between, whatever the verbosity.
    func say(_ text: String) {
        state.withLock { $0.line.say(text) }
    }

    /// Removes the line of progress.
    func finish() {
        state.withLock { $0.line.erase() }
    }

    /// Each running store with what it does, in answer to SIGUSR1.
    func status() -> String {
        state.withLock { state in
            let running = state.running.sorted { $0.key < $1.key }.map { place, running in
                named(running.status.line(), place)
            }
            return ([counts(state)] + running).joined(separator: "\n")
        }
    }

    private func lines(of event: MigrationEvent) -> [String] {
        switch event {
        case .planned(let plan): PlanText.cautions(plan)
        case .warning(let text): ["warning: \(text)"]
        case .resumed(let step, let rows):
            ["resuming step \(step + 1): \(Figures.count(rows, "row is", "rows are")) there already"]
        case .waiting(let reason, let seconds): [waitingText(reason, seconds)]
        case .stepBegan(let versions, let index, let count, _) where verbosity >= .passes:
            ["step \(index + 1) of \(count): \(versions.joined(separator: " → "))"]
        case .phaseBegan(let phase) where verbosity >= .passes: [phase]
        case .passEnded(let title, let rows, let dropped, let seconds) where verbosity >= .passes:
            [
                "\(title): \(Figures.count(rows, "row", "rows")), \(Figures.grouped(dropped)) dropped, "
                    + Figures.seconds(seconds)
            ]
        default: []
        }
    }

    /// A message with its store, unless it names it already.
    private func named(_ text: String, _ place: Int) -> String {
        // A line feed in it would make two messages of one.
        let store = shares[place].store.onOneLine
        let text = text.replacing(shares[place].store, with: store)
        guard !text.names(store) else { return text }
        // "warning: " stays in front.
        if text.hasPrefix("warning: ") { return "warning: \(store): \(text.dropFirst("warning: ".count))" }
        return "\(store): \(text)"
    }

    // MARK: - Progress

    private func counts(_ state: State) -> String {
        "\(Figures.grouped(state.ended)) of \(Figures.count(shares.count, "store", "stores"))"
            + (state.failed > 0 ? ", \(Figures.grouped(state.failed)) failed" : "")
            + (state.stopped > 0 ? ", \(Figures.grouped(state.stopped)) stopped" : "")
    }

    /// `12 of 50 stores, 1 failed  42 %  ETA 0:42  A.sqlite, B.sqlite`
    private func progress(_ state: State, now: Double) -> String {
        let running = state.running.sorted { $0.key < $1.key }
        var parts = [counts(state)]
        if let fraction = state.meter.fraction { parts.append("\(Int(fraction * 100)) %") }
        if let rest = state.meter.remainingSeconds(after: now - start) { parts.append("ETA " + Figures.clock(rest)) }
        parts.append(running.map { Paths.name(of: shares[$0.key].store).onOneLine }.joined(separator: ", "))
        return parts.joined(separator: "  ")
    }
}
