internal import CausewayPlatform

/// Harness 4: writers and readers on the store, and two migrators at once. What a writer was told is committed is in the
/// final store, whatever the order of events.
package struct ConcurrencyHarness: Sendable {
    package static let name = "concurrency"

    private let settings: HarnessSettings

    package init(_ settings: HarnessSettings) {
        self.settings = settings
    }

    /// Windows in which a lock that was dropped would do harm, held open longer than a writer's turn.
    private static let pauses: [String?] = [nil, "sidecarsAbsent:150", nil, "lockedExclusively:150"]
    /// Milliseconds; 0 is an application without one.
    private static let busyTimeouts: [Int32] = [0, 2_000]

    /// Runs the rounds.
    ///
    /// - Throws: when the harness itself can't work: no executable, no thread.
    package func run() throws -> Tally {
        let tally = Tally(Self.name)
        let folder = try settings.makeFolder("concurrency")
        let history = try EntryHistory(in: folder)
        // Rounds one after the other: each has five processes of its own.
        for round in 0..<settings.rounds(quick: 8, full: 100) where settings.goesOn(tally) {
            try run(round, history, tally)
        }
        requireContest(tally)
        return tally
    }

    /// Writers that write nothing and migrators that wait until they have gone would show nothing.
    private func requireContest(_ tally: Tally) {
        // A trial of a mutant asks what is lost; a round without a contest would be no catch.
        guard !settings.stopsAtFailure else { return }
        let details = tally.result.details
        for kind in [Self.acknowledged, Self.contested] where details[kind, default: 0] == 0 {
            tally.failed("\(kind): none in \(tally.result.tried) rounds; nothing was contested")
        }
    }

    private static let acknowledged = "acknowledged rows"
    private static let contested = "swapped under writers"

    private func run(_ round: Int, _ history: EntryHistory, _ tally: Tally) throws {
        var random = SeededRandom(seed: settings.seed, harness: Self.name, case: round)
        let setup = Self.setup(round, &random)
        let folder = try settings.makeFolder("concurrency/round-\(round)")
        var contest = Contest(
            settings: settings, history: history, folder: folder, setup: setup, random: random)
        let label = "round \(round) (\(setup.description))"
        do {
            let outcome = try contest.run()
            tally.count(Self.acknowledged, outcome.acknowledged)
            tally.count("refusals", outcome.refusals)
            if outcome.wasContested { tally.count(Self.contested) }
            if outcome.lost.isEmpty, outcome.faults.isEmpty {
                tally.survived()
                settings.dispose(folder, failed: false)
                return
            }
            var reasons = outcome.faults
            if !outcome.lost.isEmpty {
                reasons.insert("\(outcome.lost.count) acknowledged rows are lost, \(outcome.lost[0]) first", at: 0)
            }
            tally.failed("\(label): \(reasons.joined(separator: "; "))", rowsLost: outcome.lost.count)
        } catch {
            tally.failed("\(label): \(error)")
        }
        settings.dispose(folder, failed: true)
    }

    private static func setup(_ round: Int, _ random: inout SeededRandom) -> Contest.Setup {
        // Turn about, so that a few rounds see every kind; the number of rows moves the swap against the writers.
        let timeout = busyTimeouts[round / 2 % 2]
        let styles: [[StoreWriter.Style]] = [
            [.fresh, .fresh], [.fresh, .coreData], [.kept, .fresh], [.kept, .kept], [.coreData, .coreData],
        ]
        let chosen = styles[round % styles.count]
        return Contest.Setup(
            isWAL: round % 2 == 1, writers: chosen.map { ($0, timeout) }, pause: pauses[round % pauses.count],
            rows: Int.random(in: 0...400, using: &random))
    }
}
