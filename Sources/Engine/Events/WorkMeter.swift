package import CausewayPreparation

/// How far a run is, and how long the rest takes: the plan's work, weighted with the rates that the run has measured.
///
/// A phase whose rows are counted, or that says how far it is, is measured by that. One that is a single statement of
/// SQLite counts by time, against what it should take at the run's rates, and never as more than 95 % before it ends.
/// The fraction never falls; the remaining seconds follow what is measured, smoothed over a few seconds.
package struct WorkMeter: Sendable {
    private struct Phase {
        let plan: WorkPlan.Phase
        /// From 0 to 1.
        var share = 0.0
        /// What of `share` an earlier run had done, or nobody had to do: it says nothing about this run's rate.
        var credit = 0.0
        /// Seconds that this run was in it.
        var seconds = 0.0
        /// Whether the phase itself says how far it is.
        var isMeasured = false
        var isClosed = false

        /// Work of this run whose time is known, in the plan's seconds.
        var earned: Double { isMeasured || isClosed ? plan.seconds * (share - credit) : 0 }
    }

    private let verification: VerificationLevel
    private let start: Double
    private var phases: [Phase] = []
    private var current: Int?
    /// Until when the current phase's seconds are counted.
    private var counted: Double
    private var rowsOfStep = 0
    /// The current step's place among those that the plan has phases for, and the rows before it.
    private var step: Int?
    private var rowsBefore = 0
    private var isResuming = false
    private var shown = MigrationProgress()
    /// The remaining seconds as shown last, and when.
    private var estimate: (seconds: Double, time: Double)?

    /// - Parameters:
    ///   - verification: how much of the new store is read again.
    ///   - now: seconds of any clock that never goes back, here and below.
    package init(verification: VerificationLevel, now: Double) {
        (self.verification, start, counted) = (verification, now, now)
    }

    // MARK: - What happens

    /// Begins the work of a plan.
    package mutating func begin(_ plan: WorkPlan, now: Double) {
        guard phases.isEmpty else { return }
        phases = plan.phases.map { Phase(plan: $0) }
        rowsOfStep = plan.rowsOfStep
        (current, counted) = (phases.isEmpty ? nil : 0, now)
        shown.phase = "check"
    }

    /// Takes an event of the engine.
    package mutating func receive(_ event: EngineEvent, now: Double) {
        count(now)
        switch event {
        case .prepared(let prepared): begin(WorkPlan(prepared, verification: verification), now: now)
        case .stepBegan(_, let index, let count, _): beginStep(index, of: count)
        case .passBegan(let title):
            enter(current(.rows, .statementRows), "rows")
            shown.pass = title
        case .progress(let rows, let bytes, let total):
            (shown.rows, shown.bytes, shown.totalRows) = (rows, bytes, total)
            measureRows()
        case .advanced(let share): if let current { measure(current, share) }
        case .passEnded: shown.pass = nil
        case .phaseBegan(let name):
            let kind = Self.kind(of: name)
            enter(kind == .indexes ? current(.indexes, .statementIndexes) : kind, name)
        case .resumed(let step, let rows):
            isResuming = true
            rowsBefore = min(rows, rowsBefore + rowsOfStep * (self.step == step ? 0 : max(0, step - (self.step ?? 0))))
            shown.rows = rows
            measureRows()
            isResuming = false
        case .checkpoint, .warning, .statement: break
        }
    }

    private static func kind(of phase: String) -> WorkPlan.Kind {
        switch phase {
        case "check": .check
        case "copying pages": .copying
        case "relationships": .relationships
        case "validation": .validation
        case "indexes", "removing free pages": .indexes
        case "verification": .verification
        case "swap": .swap
        // Handlers have names of their own.
        default: .handlers
        }
    }

    private mutating func beginStep(_ index: Int, of count: Int) {
        if !phases.contains(where: { $0.plan.step == index }) { addStep(index) }
        // Steps that an earlier run has done.
        let skipped = Set(phases.compactMap(\.plan.step).filter { $0 < index && (step ?? -1) < $0 }).count
        if step != nil { rowsBefore = max(rowsBefore, shown.rows) } else { rowsBefore = skipped * rowsOfStep }
        for place in phases.indices where phases[place].plan.kind == .check || phases[place].plan.step ?? .max < index {
            close(place)
        }
        (step, shown.step, shown.stepCount, shown.pass) = (index, index + 1, count, nil)
        current = phases.firstIndex { $0.plan.step == index }
    }

    /// Steps that were to run together run one by one: each has the work of all.
    private mutating func addStep(_ index: Int) {
        guard let last = phases.compactMap(\.plan.step).filter({ $0 < index }).max() else { return }
        let copies = phases.filter { $0.plan.step == last }.map { phase in
            Phase(
                plan: WorkPlan.Phase(
                    phase.plan.kind, step: index, seconds: phase.plan.seconds, rows: phase.plan.rows))
        }
        let place = phases.lastIndex { $0.plan.step == last } ?? phases.count - 1
        phases.insert(contentsOf: copies, at: place + 1)
    }

    /// Of two kinds of work that have one name, the one that comes now: that of pages is done first.
    private func current(_ ofPages: WorkPlan.Kind, _ ofStatements: WorkPlan.Kind) -> WorkPlan.Kind {
        let own = phases.filter { $0.plan.step == step }
        guard let first = own.first(where: { $0.plan.kind == ofPages }) else { return ofStatements }
        guard own.contains(where: { $0.plan.kind == ofStatements }) else { return ofPages }
        let isPast = current.map { phases[$0].plan.kind > ofPages } ?? false
        return first.isClosed || first.share >= 1 || isPast ? ofStatements : ofPages
    }

    private mutating func enter(_ kind: WorkPlan.Kind, _ name: String) {
        (shown.phase, shown.pass) = (name, nil)
        let isOfRun = kind == .check || kind == .swap
        if kind == .swap { (step, shown.step) = (nil, nil) }
        guard let place = phases.firstIndex(where: { $0.plan.kind == kind && $0.plan.step == (isOfRun ? nil : step) })
        else { return }
        if let current, place > current {
            for earlier in phases.indices.prefix(place) where !mayGoOn(earlier, before: kind) { close(earlier) }
        }
        current = place
    }

    /// Of mappings, some may move rows by statements after the indexes of the others.
    private func mayGoOn(_ place: Int, before kind: WorkPlan.Kind) -> Bool {
        let phase = phases[place]
        return phase.plan.kind == .rows && phase.plan.step == step && kind == .indexes && phase.isMeasured
            && phase.share < 0.9
    }

    private mutating func close(_ place: Int) {
        guard !phases[place].isClosed else { return }
        phases[place].isClosed = true
        // What nobody was in wasn't there to do.
        if phases[place].seconds == 0 { phases[place].credit = 1 }
        phases[place].share = 1
    }

    /// Rows of the current step, of which those of copied pages come first.
    private mutating func measureRows() {
        var rows = Double(max(0, shown.rows - rowsBefore))
        for place in phases.indices where phases[place].plan.step == step && phases[place].plan.rows > 0 {
            let expected = Double(phases[place].plan.rows)
            measure(place, min(1, rows / expected))
            rows = max(0, rows - expected)
        }
    }

    private mutating func measure(_ place: Int, _ share: Double) {
        guard !phases[place].isClosed, share > phases[place].share || isResuming else { return }
        if isResuming { phases[place].credit = min(1, share) }
        phases[place].share = min(1, max(phases[place].share, share))
        phases[place].isMeasured = true
    }

    /// Gives the current phase the time since the last event.
    private mutating func count(_ now: Double) {
        if let current { phases[current].seconds += max(0, now - counted) }
        counted = max(counted, now)
    }

    // MARK: - What is left

    /// How much slower than planned this run is: over all, and by kind where that is measured.
    private struct Slowness {
        var all = 1.0
        /// The same, to tell the time that kinds will take of which nothing is measured. The check is the first to read
        /// the store, and may have waited for a disk from which nobody reads it again: it counts only where nothing
        /// else is measured, and then by its root, as nobody knows whether the disk is slow or the machine.
        var ahead = 1.0
        var kinds: [WorkPlan.Kind: Double] = [:]
        /// The part of this run's work that is measured.
        var known = 0.0
    }

    /// A plan isn't wrong by more than this.
    private static let slownesses = 0.001...10_000.0
    /// Part of a phase's work that says something about its rate: statements may work long before their first row,
    /// pages are written from the start. Less counts where nothing else is known.
    private static func tellingShare(_ kind: WorkPlan.Kind) -> Double {
        kind == .copying || kind == .rows ? 0.02 : 0.2
    }
    private static let leastTellingShare = 0.005
    /// Seconds that say something.
    private static let tellingSeconds = 0.1

    private var slowness: Slowness {
        var sums = measured(atLeast: Self.tellingShare)
        if sums.values.allSatisfy({ $0.seconds < Self.tellingSeconds }) {
            sums = measured { _ in Self.leastTellingShare }
        }
        let whole = phases.reduce(0) { $0 + $1.plan.seconds * (1 - $1.credit) }
        func ratio(_ seconds: Double, _ earned: Double) -> Double {
            min(max(seconds / earned, Self.slownesses.lowerBound), Self.slownesses.upperBound)
        }
        func sum(_ isIn: (WorkPlan.Kind) -> Bool) -> (seconds: Double, earned: Double) {
            sums.reduce((0, 0)) { isIn($1.key) ? ($0.0 + $1.value.seconds, $0.1 + $1.value.earned) : $0 }
        }
        var result = Slowness()
        let (seconds, earned) = sum { _ in true }
        if earned > 0, seconds >= Self.tellingSeconds {
            result.all = ratio(seconds, earned)
        } else if let current, phases[current].plan.seconds > 0, phases[current].seconds > phases[current].plan.seconds
        {
            // Nothing is measured yet, and the first phase takes longer than planned: the others will too, or its end
            // would look like that of the half of all work.
            result.all = ratio(phases[current].seconds, phases[current].plan.seconds)
        }
        let afterCheck = sum { $0 != .check }
        let isPastCheck = afterCheck.earned > 0 && afterCheck.seconds >= Self.tellingSeconds
        result.ahead = isPastCheck ? ratio(afterCheck.seconds, afterCheck.earned) : result.all.squareRoot()
        for (kind, sum) in sums where sum.seconds >= Self.tellingSeconds {
            result.kinds[kind] = ratio(sum.seconds, sum.earned)
        }
        result.known = whole > 0 ? earned / whole : 0
        return result
    }

    /// By kind: seconds of this run, and the work that was done in them, of phases that are so far.
    private func measured(
        atLeast share: (WorkPlan.Kind) -> Double
    ) -> [WorkPlan.Kind: (seconds: Double, earned: Double)] {
        var sums: [WorkPlan.Kind: (seconds: Double, earned: Double)] = [:]
        for phase in phases
        where phase.earned > 0 && (phase.isClosed || phase.share - phase.credit >= share(phase.plan.kind)) {
            sums[phase.plan.kind, default: (0, 0)].seconds += phase.seconds
            sums[phase.plan.kind, default: (0, 0)].earned += phase.earned
        }
        return sums
    }

    /// Part of a phase that counts by time at most.
    private static let mostByTime = 0.95

    /// Seconds of a phase in all, and the part of it that is done. Kinds of which nothing is measured are as much
    /// slower than planned as `unmeasured` says, by default as all are.
    private func work(
        _ place: Int, _ slowness: Slowness, unmeasured: Double? = nil
    ) -> (seconds: Double, share: Double) {
        let phase = phases[place]
        let seconds = phase.plan.seconds * (slowness.kinds[phase.plan.kind] ?? unmeasured ?? slowness.all)
        guard place == current, !phase.isMeasured, !phase.isClosed else { return (seconds, phase.share) }
        // It takes longer than expected: a little is always left.
        let whole = max(seconds, phase.seconds / Self.mostByTime)
        return (whole, max(phase.share, whole > 0 ? min(Self.mostByTime, phase.seconds / whole) : 0))
    }

    /// Before this much time and this part of the work nothing is said about the rest.
    private static let silentSeconds = 1.0
    private static let silentPart = 0.02
    /// Seconds over which the remaining time follows what is measured, and the part of the run that they are at most:
    /// what a run has told in its first seconds is worth less than what it has measured since.
    private static let smoothing = 3.0
    private static let smoothingPart = 0.2

    /// The progress at a time; nil before there is a plan.
    package mutating func progress(now: Double) -> MigrationProgress? {
        guard !phases.isEmpty else { return nil }
        count(now)
        let slowness = slowness
        var (whole, done, left) = (0.0, 0.0, 0.0)
        for place in phases.indices {
            let work = work(place, slowness)
            whole += work.seconds
            done += work.seconds * work.share
            let rest = self.work(place, slowness, unmeasured: slowness.ahead)
            left += rest.seconds * (1 - rest.share)
        }
        if whole > 0 { shown.fraction = max(shown.fraction, min(0.999, done / whole)) }
        shown.elapsedSeconds = max(0, now - start)
        shown.remainingSeconds = nil
        if shown.elapsedSeconds >= Self.silentSeconds, slowness.known >= Self.silentPart {
            let seconds = smoothed(left, now)
            estimate = (seconds: seconds, time: now)
            shown.remainingSeconds = seconds
        }
        return shown
    }

    private func smoothed(_ seconds: Double, _ now: Double) -> Double {
        guard let estimate else { return seconds }
        let passed = max(0, now - estimate.time)
        let expected = max(0, estimate.seconds - passed)
        let smoothing = min(Self.smoothing, max(0, now - start) * Self.smoothingPart)
        return expected + (seconds - expected) * (smoothing > 0 ? min(1, passed / smoothing) : 1)
    }

    /// The current phase's part of the whole, and the rows at its begin and end, for those who see only rows.
    package mutating func outlook(now: Double) -> WorkOutlook? {
        guard let progress = progress(now: now), let current else { return nil }
        let slowness = slowness
        let seconds = phases.indices.map { work($0, slowness) }
        let whole = max(1e-9, seconds.reduce(0) { $0 + $1.seconds })
        let rest = seconds[current].seconds * (1 - seconds[current].share) / whole
        let rows = Double(phases[current].plan.rows) * (1 - phases[current].share)
        return WorkOutlook(
            fraction: progress.fraction, fractionAfter: min(0.999, progress.fraction + rest), rows: progress.rows,
            rowsAfter: progress.rows + Int(rows), remainingSeconds: progress.remainingSeconds)
    }
}
