internal import CausewayPlatform

/// Harness 3, third part: SIGINT and SIGTERM save a checkpoint and end with 130 and 143, a second one ends at once, and
/// SIGUSR1 ends nothing.
package struct SignalHarness: Sendable {
    package static let name = "signals"

    private let settings: HarnessSettings

    package init(_ settings: HarnessSettings) {
        self.settings = settings
    }

    private static let interrupt: Int32 = 2
    private static let user1: Int32 = 10
    private static let terminate: Int32 = 15
    /// Signals that one migration gets at most; then it is left alone.
    private static let signalLimit = 6
    /// Milliseconds: how long a run is held, and how long one that was told to end at once may take on a busy machine.
    private static let hold = 6_000
    /// Seconds without a change after which a run counts as held.
    private static let quiet = 0.4
    private static let atOnce = 2_500.0

    /// Runs the rounds.
    ///
    /// - Throws: when the harness itself can't work.
    package func run() throws -> Tally {
        let tally = Tally(Self.name)
        let folder = try settings.makeFolder(Self.name)
        let subjects = try TrialSubject.make(
            Subject.Chain.allCases.map { Subject($0, seed: settings.seed) }, settings: settings, folder: folder)
        try ParallelCases.run(limit: settings.rounds(quick: 6, full: 60), threads: settings.threads) { round in
            self.round("random \(round)", subjects[round % subjects.count], tally) { trial in
                try interrupt(&trial, SeededRandom(seed: settings.seed, harness: Self.name, case: round), tally)
            }
            return settings.goesOn(tally)
        }
        for (index, subject) in subjects.enumerated() {
            let first = index % 2 == 0 ? Self.interrupt : Self.terminate
            round("second signal", subject, tally) { try second(&$0, first, tally) }
            round("SIGUSR1", subject, tally) { try status(&$0, tally) }
        }
        try FolderTree.remove(folder)
        return tally
    }

    private func round(
        _ label: String, _ subject: TrialSubject, _ tally: Tally, _ body: (inout Trial) throws -> Void
    ) {
        do {
            let chain = subject.subject.chain.rawValue
            let folder = try settings.makeFolder("\(Self.name)/\(chain)-\(label.filter { $0 != " " })")
            var trial = try Trial(subject, folder: folder)
            let held = tally.judge(label) { try body(&trial) }
            settings.dispose(folder, failed: !held)
        } catch {
            tally.failed("\(label): \(error)")
        }
    }

    /// Signals at random moments, until a run comes through.
    private func interrupt(_ trial: inout Trial, _ start: SeededRandom, _ tally: Tally) throws {
        var random = start
        for _ in 0..<Self.signalLimit {
            let signal = Bool.random(using: &random) ? Self.interrupt : Self.terminate
            let command = trial.command(habits: Trial.Habits(&random))
            let milliseconds = Int(Double.random(in: 0...trial.subject.seconds * 1.1, using: &random) * 1_000)
            trial.note(command, " & sleep \(Double(milliseconds) / 1_000); kill -\(signal) $!")
            let before = try Self.work(of: trial)
            let process = try ChildRun(command)
            Pause.milliseconds(milliseconds)
            process.send(signal)
            let ending = process.wait(limit: 60)
            let view = try trial.requireOldOrNew(after: ending)
            switch ending {
            case .exited(0): return try trial.requireFinished(wasNew: true)
            case .exited(128 + signal): tally.count("ended with a checkpoint")
            case .signalled(signal):
                // Before the handler is in place there is nothing to save, after the swap nothing to stop.
                guard try view == .new || Self.work(of: trial) == before else {
                    throw trial.failure(
                        "signal \(signal) ended the run in the middle, instead of its saving a checkpoint")
                }
                tally.count("before or after the work")
            default:
                throw trial.failure("\(ending) after signal \(signal): \(process.tail(bytes: 600))")
            }
        }
        try trial.settle(habits: Trial.Habits(&random))
    }

    /// What a run would change first: the work directory's files; nil without one. The lock is taken anew by every run.
    private static func work(of trial: Trial) throws -> [String: FileStatus]? {
        guard try Files.exists(trial.workDirectory) else { return nil }
        var files: [String: FileStatus] = [:]
        for name in try Files.list(trial.workDirectory) where name != "lock" {
            files[name] = try Files.linkStatus(of: trial.workDirectory + "/" + name)
        }
        return files
    }

    /// Starts a run that is held once its staging store is there, and waits until nothing moves any more.
    private func held(_ trial: inout Trial, milliseconds: Int) throws -> ChildRun {
        let command = trial.command(environment: ["CAUSEWAY_PAUSE_AT": "stagingCreated:\(milliseconds)"])
        trial.note(command, " # held before the rows")
        let process = try ChildRun(command)
        let started = MonotonicClock.seconds()
        var seen: [String: FileStatus]?
        var since = started
        while process.isRunning, MonotonicClock.seconds() - started < 60 {
            let now = try Self.work(of: trial)
            if now != seen { (seen, since) = (now, MonotonicClock.seconds()) }
            if now?["step-1.sqlite"] != nil, MonotonicClock.seconds() - since > Self.quiet { break }
            Pause.milliseconds(5)
        }
        return process
    }

    private func second(_ trial: inout Trial, _ signal: Int32, _ tally: Tally) throws {
        let process = try held(&trial, milliseconds: Self.hold)
        process.send(signal)
        Pause.milliseconds(150)
        guard process.isRunning else {
            throw trial.failure(
                "the run ended at the first signal \(signal), although it is held: is stagingCreated wired?")
        }
        let sent = MonotonicClock.seconds()
        process.send(signal)
        let ending = process.wait(limit: 30)
        let took = (MonotonicClock.seconds() - sent) * 1_000
        guard ending == .exited(128 + signal), took < Self.atOnce else {
            throw trial.failure("\(ending) \(Int(took)) ms after the second signal \(signal)")
        }
        tally.count("ended at once")
        try trial.settle()
    }

    private func status(_ trial: inout Trial, _ tally: Tally) throws {
        let process = try held(&trial, milliseconds: 1_500)
        process.send(Self.user1)
        let ending = process.wait(limit: 60)
        guard ending == .exited(0) else { throw trial.failure("SIGUSR1 ended the run: \(ending)") }
        tally.count("SIGUSR1 lived through")
        try trial.requireFinished()
    }
}
