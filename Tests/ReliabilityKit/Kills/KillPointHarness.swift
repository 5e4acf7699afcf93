package import CausewayPlatform
internal import CausewayPreparation
internal import Synchronization

/// Harness 3, first part: SIGKILL at every named place of the protocol, each time that a run reaches it. A place that
/// no chain reaches is a failure.
package struct KillPointHarness: Sendable {
    package static let name = "kill-points"

    private let settings: HarnessSettings
    private let points: [KillPoint]
    private let chains: [Subject.Chain]

    /// - Parameters:
    ///   - settings: seed, threads, folders.
    ///   - points: nil is all; each must be reached.
    ///   - chains: nil is all of them.
    package init(_ settings: HarnessSettings, points: [KillPoint]? = nil, chains: [Subject.Chain]? = nil) {
        self.settings = settings
        self.points =
            points
            ?? KillPoint.allCases.filter { point in
                point != .sidecarsMoved && (settings.engines.contains(.pages) || !Self.ofPages.contains(point))
            }
        self.chains = chains ?? Subject.Chain.allCases
    }

    /// Statements don't reach these.
    private static let ofPages: Set<KillPoint> = [.pagesCopied, .pagesBegun, .pagesWhole, .pagesDone]
    /// Among the rows, where the engines differ: the quick subset kills both there.
    private static let amongRows: Set<KillPoint> = [
        .stagingCreated, .batchWritten, .committing, .committed, .checkpointWritten, .rowsMade, .indexMade,
        .schemaFinished,
    ]

    /// Times that a run of a subject reaches one place, at most.
    private static let visitLimit = 10_000
    /// After the first visit, the quick subset kills at these visits: enough to meet a later batch.
    private static let quickVisits = [1, 4]

    /// Kills at every place.
    ///
    /// - Throws: if the harness itself can't work.
    package func run() throws -> Tally {
        let tally = Tally(Self.name)
        let reached = Mutex<Set<KillPoint>>([])
        let folder = try settings.makeFolder("kill-points")
        let subjects = try TrialSubject.make(
            Subject.all(chains, on: settings.engines, seed: settings.seed), settings: settings, folder: folder)
        // Places are tried in parallel, the visits of one place one after the other: the first visit that isn't reached
        // ends it.
        try ParallelCases.run(limit: points.count, threads: settings.threads) { index in
            let point = points[index]
            var engines: Set<EngineChoice> = []
            let wanted = Self.amongRows.contains(point) ? settings.engines.count : 1
            for turn in subjects.indices {
                // The quick subset alternates chains and engines, and stops at the first that reaches the place; among
                // the rows at the first of each engine.
                let subject = subjects[settings.isQuick ? (turn + index) % subjects.count : turn]
                if settings.isQuick, engines.contains(subject.subject.engine) { continue }
                guard visit(subject, point, tally) else { continue }
                engines.insert(subject.subject.engine)
                _ = reached.withLock { $0.insert(point) }
                if settings.isQuick, engines.count == wanted { break }
            }
            return settings.goesOn(tally)
        }
        // A trial of a mutant asks what a kill does; a place that isn't reached isn't a catch.
        guard !settings.stopsAtFailure else { return tally }
        let missed = Set(points).subtracting(reached.withLock { $0 })
        for point in points where missed.contains(point) {
            tally.failed("\(point.rawValue): no chain comes by this place; it isn't wired, or the chains are too small")
        }
        tally.count("places", points.count - missed.count)
        settings.dispose(folder, failed: !tally.result.isClean)
        return tally
    }

    /// Kills at the visits of a place: at each where every batch is committed; at some where only the ends of a run
    /// are, so that what counts is much older than what is in the files.
    ///
    /// - Returns: whether a visit was reached.
    private func visit(_ subject: TrialSubject, _ point: KillPoint, _ tally: Tally) -> Bool {
        var wasReached = false
        if settings.isQuick {
            for number in Self.quickVisits {
                let interval = number == 1 ? Trial.Habits.uncommitted : 0
                guard kill(subject, point, number, interval, tally) else { break }
                wasReached = true
            }
            return wasReached
        }
        for number in 1...Self.visitLimit {
            guard kill(subject, point, number, 0, tally) else { break }
            wasReached = true
        }
        var number = 1
        while number <= Self.visitLimit, kill(subject, point, number, Trial.Habits.uncommitted, tally) {
            wasReached = true
            number *= 2
        }
        return wasReached
    }

    /// Kills at one visit; `interval` is in seconds, between two checkpoints of the run that is killed.
    ///
    /// - Returns: whether the run reached the place so often.
    private func kill(
        _ subject: TrialSubject, _ point: KillPoint, _ number: Int, _ interval: Double, _ tally: Tally
    ) -> Bool {
        let label = "\(point.rawValue):\(number)"
        let chain = subject.subject.name
        var habits = Trial.Habits()
        habits.checkpointInterval = interval
        var wasKilled = false
        var held = true
        do {
            let folder = try settings.makeFolder("kill-points/\(chain)-\(point.rawValue)-\(number)")
            var trial = try Trial(subject, folder: folder)
            let ending = try trial.run(environment: ["CAUSEWAY_KILL_AT": label], habits: habits)
            wasKilled = ending == .signalled(9)
            if wasKilled || ending != .exited(0) {
                held = tally.judge(label, kind: chain) {
                    guard wasKilled else { throw trial.failure("\(ending) instead of SIGKILL or success") }
                    try trial.requireOldOrNew(after: ending)
                    var random = SeededRandom(seed: settings.seed, harness: label, case: number)
                    try trial.settle(habits: .changing(&random))
                }
            }
            settings.dispose(folder, failed: !held)
        } catch {
            tally.failed("\(label) of \(chain): \(error)")
        }
        return wasKilled
    }
}
