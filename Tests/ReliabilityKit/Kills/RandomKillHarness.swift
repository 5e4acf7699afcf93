internal import CausewayPlatform

/// Harness 3, second part: SIGKILL at random moments until a run succeeds. Each restart has another batch size, number
/// of workers and level of verification, some another engine or a limit for memory; some are killed at a named place
/// too.
package struct RandomKillHarness: Sendable {
    package static let name = "random-kills"

    private let settings: HarnessSettings
    private let chains: [Subject.Chain]

    package init(_ settings: HarnessSettings, chains: [Subject.Chain]? = nil) {
        self.settings = settings
        self.chains = chains ?? Subject.Chain.allCases
    }

    /// Kills of one migration, at most; then it runs undisturbed.
    private static let killLimit = 12
    /// SIGKILL.
    private static let killed = ChildRun.Ending.signalled(9)

    /// Runs the rounds.
    ///
    /// - Throws: if the harness itself can't work.
    package func run() throws -> Tally {
        let tally = Tally(Self.name)
        let folder = try settings.makeFolder("random-kills")
        let states = Subject.SourceState.allCases
        let engines = settings.engines
        // Chains and states alternate with the rounds, in cycles of different length.
        let subjects = try TrialSubject.make(
            chains.enumerated().flatMap { index, chain in
                settings.isQuick
                    ? [
                        Subject(
                            chain, engine: engines[index % engines.count],
                            state: states[(index + Int(settings.seed % 3)) % 3], seed: settings.seed)
                    ]
                    : states.flatMap { Subject.all([chain], on: engines, state: $0, seed: settings.seed) }
            }, settings: settings, folder: folder)
        let rounds = settings.rounds(quick: 9, full: 180)
        try ParallelCases.run(limit: rounds, threads: settings.threads) { round in
            self.round(round, subjects[round % subjects.count], tally)
            return settings.goesOn(tally)
        }
        settings.dispose(folder, failed: !tally.result.isClean)
        return tally
    }

    private func round(_ round: Int, _ subject: TrialSubject, _ tally: Tally) {
        let label = "round \(round)"
        do {
            let folder = try settings.makeFolder("random-kills/round-\(round)")
            var trial = try Trial(subject, folder: folder)
            let held = tally.judge(label, kind: "rounds of \(subject.subject.name)") {
                try kill(&trial, SeededRandom(seed: settings.seed, harness: Self.name, case: round), tally)
            }
            settings.dispose(folder, failed: !held)
        } catch {
            tally.failed("\(label): \(error)")
        }
    }

    /// Kills until a run succeeds.
    private func kill(_ trial: inout Trial, _ start: SeededRandom, _ tally: Tally) throws {
        var random = start
        for _ in 0..<Self.killLimit {
            var habits = Trial.Habits.changing(&random)
            // Steps that run together and steps that don't go on with each other's work.
            if trial.subject.subject.stepsTogether > 1, Int.random(in: 0..<3, using: &random) == 0 {
                habits.extra.append("--no-fuse")
            }
            var environment: [String: String] = [:]
            if Int.random(in: 0..<4, using: &random) == 0, let point = KillPoint.allCases.randomElement(using: &random)
            {
                environment["CAUSEWAY_KILL_AT"] = "\(point.rawValue):\(Int.random(in: 1...3, using: &random))"
            }
            // Some runs are slowed down among their rows, so that kills meet batches that aren't committed.
            let pause = Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 2...8, using: &random) : 0
            if pause > 0 { environment["CAUSEWAY_PAUSE_AT"] = "batchWritten:\(pause)" }
            let slowed = pause * trial.subject.subject.rows / habits.batchRows
            let milliseconds = Int.random(in: 0...Int(trial.subject.seconds * 1_200) + slowed, using: &random)
            let command = trial.command(environment: environment, habits: habits)
            trial.note(command, " & sleep \(Double(milliseconds) / 1_000); kill -9 $!")
            let process = try ChildRun(command)
            Pause.milliseconds(milliseconds)
            process.send(9)
            let ending = process.wait()
            let wasNew = try trial.requireOldOrNew(after: ending) == .new
            if ending == Self.killed {
                tally.count("kills")
                if wasNew { tally.count("kills after the swap") }
            } else if ending == .exited(0) {
                return try trial.requireFinished(wasNew: true)
            } else {
                throw trial.failure("\(ending) instead of SIGKILL or success: \(process.tail(bytes: 600))")
            }
        }
        try trial.settle(habits: .changing(&random))
    }
}
