import Causeway
import CausewayPlatform
import Synchronization

/// Shows a running migration to a person, on standard error: one line that is rewritten on a terminal, plain lines
/// elsewhere.
final class TextReporter: Sendable {
    enum Verbosity: Comparable {
        /// Errors only.
        case quiet
        case normal
        /// Every pass.
        case passes
        /// Every statement.
        case statements
    }

    private struct State {
        var meter: ProgressMeter
        var plan: MigrationPlan?
        /// What was said already.
        var warnings: Set<String> = []
        var step = 0
        /// The current pass, or a phase that moves no rows.
        var activity = ""
        var movesRows = false
        var line: StatusLine
    }

    private let verbosity: Verbosity
    private let state: Mutex<State>

    init(_ verbosity: Verbosity, stream: StandardStream = .error) {
        self.verbosity = verbosity
        let now = MonotonicClock.seconds()
        state = Mutex(State(meter: ProgressMeter(now: now), line: StatusLine(stream, now: now)))
    }

    /// Takes an event; quick, since the migration waits for it.
    func receive(_ event: MigrationEvent) {
        guard verbosity > .quiet else { return }
        state.withLock { state in
            switch event {
            case .planned(let plan): begin(plan, &state)
            case .stepBegan(let versions, let index, let count, _):
                state.step = index
                if verbosity >= .passes || count > 1 {
                    say("step \(index + 1) of \(count): \(versions.joined(separator: " → "))", &state)
                }
            case .passBegan(let title): show(title, movesRows: true, &state)
            case .progress(let progress):
                state.meter.update(progress, now: MonotonicClock.seconds())
                draw(&state)
            case .passEnded(let title, let rows, let dropped, let seconds):
                if verbosity >= .passes { say(pass(title, rows, dropped, seconds, state), &state) }
            case .phaseBegan(let phase):
                if verbosity >= .passes { say(phase, &state) }
                show(phase, movesRows: false, &state)
            case .resumed(let step, let rows):
                state.meter.rebase()
                say("resuming step \(step + 1): \(Figures.count(rows, "row is", "rows are")) there already", &state)
            case .checkpoint(let sequence, let rows):
                if verbosity >= .statements {
                    say("  checkpoint \(sequence): \(Figures.count(rows, "row", "rows"))", &state)
                }
            case .warning(let text):
                state.warnings.insert(text)
                state.line.tell("warning: \(text)")
            case .waiting(let reason, let seconds): state.line.tell(waitingText(reason, seconds))
            case .statement(let sql): if verbosity >= .statements { say("  \(sql);", &state) }
            case .finished: break
            }
        }
    }

    /// Says something in between, whatever the verbosity.
    func say(_ text: String) {
        state.withLock { say(text, &$0) }
    }

    /// Prints the warnings that only the end of the run has shown.
    func warn(of summary: MigrationSummary) {
        guard verbosity > .quiet else { return }
        state.withLock { state in
            for warning in summary.warnings where !state.warnings.contains(warning) {
                state.line.tell("warning: \(warning)")
            }
        }
    }

    /// Removes the line, so that results and errors stand alone.
    func finish() {
        state.withLock { $0.line.erase() }
    }

    private func begin(_ plan: MigrationPlan, _ state: inout State) {
        state.plan = plan
        state.warnings.formUnion(plan.warnings)
        for line in PlanText.cautions(plan) { state.line.tell(line) }
        if verbosity >= .passes {
            say(
                "plan: \(plan.path.joined(separator: " → ")), up to \(Figures.bytes(plan.diskBytes)) of disk and "
                    + "\(Figures.bytes(plan.memoryBytes)) of memory for rows", &state)
        }
    }

    private func pass(_ title: String, _ rows: Int, _ dropped: Int, _ seconds: Double, _ state: State) -> String {
        let passes = state.plan.flatMap { $0.steps.indices.contains(state.step) ? $0.steps[state.step].passes : nil }
        let method = passes?.first { $0.title == title }?.method ?? "move"
        return "  \(title): \(method), \(Figures.count(rows, "row", "rows")), \(Figures.grouped(dropped)) dropped, "
            + Figures.seconds(seconds)
    }

    private func show(_ activity: String, movesRows: Bool, _ state: inout State) {
        (state.activity, state.movesRows) = (activity, movesRows)
        state.line.hurry()
        draw(&state)
    }

    private func draw(_ state: inout State) {
        let (meter, activity, movesRows) = (state.meter, state.activity, state.movesRows)
        state.line.show { meter.text(activity, movesRows: movesRows) }
    }

    private func say(_ text: String, _ state: inout State) {
        state.line.say(text)
    }
}
