internal import CausewayPlatform
internal import CausewayPreparation

/// Harness 3, third part: SIGINT and SIGTERM save a checkpoint and end the run with 130 and 143; a second one ends it
/// at once. SIGUSR1 doesn't end a run, and neither do SIGPIPE and SIGXFSZ, which the system sends.
package struct SignalHarness: Sendable {
    package static let name = "signals"

    private let settings: HarnessSettings

    package init(_ settings: HarnessSettings) {
        self.settings = settings
    }

    private static let interrupt: Int32 = 2
    private static let user1: Int32 = 10
    private static let terminate: Int32 = 15
    /// Signals that one migration gets, at most; then it runs undisturbed.
    private static let signalLimit = 6
    /// Milliseconds: how long a run is held, and how long it may take to end at once on a busy machine.
    private static let hold = 6_000
    /// After so many seconds without a change a run counts as held.
    private static let quiet = 0.4
    private static let atOnce = 2_500.0

    /// Runs the rounds.
    ///
    /// - Throws: if the harness itself can't work.
    package func run() throws -> Tally {
        let tally = Tally(Self.name)
        let folder = try settings.makeFolder(Self.name)
        let subjects = try TrialSubject.make(
            settings.subjects, settings: settings, folder: folder)
        try ParallelCases.run(limit: settings.rounds(quick: 6, full: 60), threads: settings.threads) { round in
            self.round("random \(round)", subjects[round % subjects.count], tally) { trial in
                try interrupt(&trial, SeededRandom(seed: settings.seed, harness: Self.name, case: round), tally)
            }
            return settings.goesOn(tally)
        }
        // The chain in which associations wait for a commit, with no commit before the end.
        let merged = subjects.filter { $0.subject.chain == .merged }
        try ParallelCases.run(limit: settings.rounds(quick: 6, full: 60), threads: settings.threads) { round in
            for subject in merged {
                self.round("uncommitted \(round)", subject, tally) { trial in
                    let random = SeededRandom(seed: settings.seed, harness: Self.name + " uncommitted", case: round)
                    try interruptUncommitted(&trial, random, tally)
                }
            }
            return settings.goesOn(tally)
        }
        for (index, subject) in subjects.enumerated() {
            let first = index % 2 == 0 ? Self.interrupt : Self.terminate
            round("second signal", subject, tally) { try second(&$0, first, tally) }
            round("SIGUSR1", subject, tally) { try status(&$0, tally) }
            round("SIGPIPE", subject, tally) { try OutputTrials.unread(&$0, errorsToo: index % 2 == 1) }
        }
        try limitFiles(subjects, tally)
        requireCheckpoints(tally)
        settings.dispose(folder, failed: !tally.result.isClean)
        return tally
    }

    private func limitFiles(_ subjects: [TrialSubject], _ tally: Tally) throws {
        try ParallelCases.run(limit: settings.rounds(quick: 4, full: 40), threads: settings.threads) { number in
            var random = SeededRandom(seed: settings.seed, harness: Self.name + " limits", case: number)
            round("SIGXFSZ \(number)", subjects[number % subjects.count], tally) { trial in
                if try OutputTrials.limited(&trial, &random) { tally.count("stopped by the limit for files") }
            }
            return settings.goesOn(tally)
        }
    }

    private static let saved = "ended with a checkpoint"

    /// The harness shows nothing if all signals come before the rows or after them.
    private func requireCheckpoints(_ tally: Tally) {
        guard !settings.stopsAtFailure, tally.result.details[Self.saved, default: 0] == 0 else { return }
        tally.failed("no signal ended a run among its rows; nothing was shown")
    }

    private func round(
        _ label: String, _ subject: TrialSubject, _ tally: Tally, _ body: (inout Trial) throws -> Void
    ) {
        do {
            let chain = subject.subject.name
            let folder = try settings.makeFolder("\(Self.name)/\(chain)-\(label.filter { $0 != " " })")
            var trial = try Trial(subject, folder: folder)
            let held = tally.judge(label) { try body(&trial) }
            settings.dispose(folder, failed: !held)
        } catch {
            tally.failed("\(label): \(error)")
        }
    }

    /// Sends signals at random moments until a run succeeds.
    private func interrupt(_ trial: inout Trial, _ start: SeededRandom, _ tally: Tally) throws {
        var random = start
        var saved: ProgressRow?
        for _ in 0..<Self.signalLimit {
            let habits = Self.talking(Trial.Habits(&random))
            // Every other run is slowed down among its rows, so that signals meet them.
            let pause = Bool.random(using: &random) ? Int.random(in: 2...10, using: &random) : 0
            let slowed = pause * trial.subject.subject.rows / habits.batchRows
            let moment = Int.random(in: 0...Int(trial.subject.seconds * 1_100) + slowed, using: &random)
            let command = trial.command(
                environment: pause > 0 ? ["CAUSEWAY_PAUSE_AT": "batchWritten:\(pause)"] : [:], habits: habits)
            let ending = try signal(&trial, command, after: moment, &saved, &random, tally)
            if ending == .exited(0) { return try trial.requireFinished(wasNew: true) }
        }
        try settle(&trial, saved, &random)
    }

    /// Sends a signal among rows of which no batch is committed yet; only what is saved then is left.
    private func interruptUncommitted(_ trial: inout Trial, _ start: SeededRandom, _ tally: Tally) throws {
        var random = start
        var saved: ProgressRow?
        for _ in 0..<Int.random(in: 1...2, using: &random) {
            var habits = Self.talking(Trial.Habits(&random))
            habits.checkpointInterval = Trial.Habits.uncommitted
            let pause = Int.random(in: 4...12, using: &random)
            let command = trial.command(
                environment: ["CAUSEWAY_PAUSE_AT": "batchWritten:\(pause)"], habits: habits)
            let batches = trial.subject.subject.rows / habits.batchRows + 4
            let ending = try signal(
                &trial, command, after: Int.random(in: 0...pause * batches, using: &random), &saved, &random, tally,
                isAmongRows: true)
            if ending == .exited(0) { return try trial.requireFinished(wasNew: true) }
        }
        try settle(&trial, saved, &random)
    }

    private static func talking(_ habits: Trial.Habits) -> Trial.Habits {
        var habits = habits
        habits.isQuiet = false
        return habits
    }

    /// Runs undisturbed: resumes where the last run saved, and makes the same store, cell by cell.
    private func settle(_ trial: inout Trial, _ saved: ProgressRow?, _ random: inout SeededRandom) throws {
        try trial.settle(habits: Self.talking(Trial.Habits(&random)))
        try requireTakenUp(trial, saved, output: "settle")
    }

    /// A run that succeeded or saved something has resumed at least what was saved before.
    private func requireTakenUp(_ trial: Trial, _ saved: ProgressRow?, output: String) throws {
        guard let saved else { return }
        let text = ChildRun.tail(of: "\(trial.folder)/\(output).txt", bytes: 16 << 20)
        // Steps that run together are named by the first of them; their store is the last one's.
        let subject = trial.subject.subject
        let last = subject.engine == .pages ? min(saved.step, subject.stepsTogether) : 0
        let found = ResumedLine(in: text).map { ProgressRow(step: max($0.index, last), rows: $0.rows) }
        guard let found, found >= saved else {
            throw trial.failure("\(saved) was saved, and \(found.map { "\($0)" } ?? "nothing") is taken up")
        }
    }

    /// Starts a run and sends it a signal.
    ///
    /// - Parameters:
    ///   - trial: of the run.
    ///   - command: how it is run.
    ///   - milliseconds: after its start, or after it began to make a store.
    ///   - saved: what earlier runs saved; becomes what this run saved.
    ///   - random: chooses the signal.
    ///   - tally: counts the results.
    ///   - isAmongRows: whether to wait until the run makes a store.
    /// - Returns: how it ended: by itself or by the signal.
    /// - Throws: what is wrong.
    private func signal(
        _ trial: inout Trial, _ command: ChildRun.Command, after milliseconds: Int, _ saved: inout ProgressRow?,
        _ random: inout SeededRandom, _ tally: Tally, isAmongRows: Bool = false
    ) throws -> ChildRun.Ending {
        let signal = Bool.random(using: &random) ? Self.interrupt : Self.terminate
        let seconds = Double(milliseconds) / 1_000
        trial.note(command, " & sleep \(seconds)\(isAmongRows ? " # from step-1.sqlite on" : ""); kill -\(signal) $!")
        let before = try Self.work(of: trial)
        let process = try ChildRun(command)
        if isAmongRows { try awaitRows(process, trial) }
        Pause.milliseconds(milliseconds)
        process.send(signal)
        let ending = process.wait(limit: 60)
        let view = try trial.requireOldOrNew(after: ending)
        switch ending {
        case .exited(0): try requireTakenUp(trial, saved, output: "run")
        case .exited(128 + signal): try requireSaved(trial, code: 128 + signal, &saved, tally)
        case .signalled(signal):
            // Before the handler is installed there is nothing to save; after the swap there is nothing to stop.
            guard try view == .new || Self.work(of: trial) == before else {
                throw trial.failure("signal \(signal) ended the run in the middle, instead of its saving a checkpoint")
            }
            // The next run finds the new store and has nothing to resume.
            if view == .new { saved = nil }
            tally.count("before or after the work")
        default: throw trial.failure("\(ending) after signal \(signal): \(process.tail(bytes: 600))")
        }
        return ending
    }

    /// A run that was stopped has saved its work: not less than the run before, and it says so.
    private func requireSaved(
        _ trial: Trial, code: Int32, _ saved: inout ProgressRow?, _ tally: Tally
    ) throws {
        let now: ProgressRow?
        do {
            now = try ProgressRow(in: trial.workDirectory, scratch: trial.folder + "/progress")
        } catch {
            throw trial.failure("what was saved can't be read: \(error)")
        }
        guard let now else {
            // Between two steps, before the first row, or at the swap.
            saved = nil
            return tally.count("ended before the rows or after them")
        }
        guard try trial.failureLine(code: code).isResumable else {
            throw trial.failure("\(now) is saved, but the run says that nothing can be resumed")
        }
        if let saved, now < saved { throw trial.failure("\(saved) was saved before, and now only \(now)") }
        saved = now
        tally.count(Self.saved)
    }

    /// Waits until a run makes a store or has ended.
    private func awaitRows(_ process: ChildRun, _ trial: Trial) throws {
        let deadline = MonotonicClock.seconds() + 30
        while process.isRunning, MonotonicClock.seconds() < deadline {
            // The store of steps that run together is the last one's.
            let names = try Files.exists(trial.workDirectory) ? Files.list(trial.workDirectory) : []
            if names.contains(where: { $0.hasPrefix("step-") && $0.hasSuffix(".sqlite") }) { return }
            Pause.milliseconds(1)
        }
    }

    /// What a run would change first: the work directory's files, without the lock, which every run takes anew; nil
    /// without a work directory.
    private static func work(of trial: Trial) throws -> [String: FileStatus]? {
        var files: [String: FileStatus] = [:]
        let names: [String]
        do throws(FileError) {
            names = try Files.list(trial.workDirectory)
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
        for name in names where name != "lock" {
            do throws(FileError) {
                files[name] = try Files.linkStatus(of: trial.workDirectory + "/" + name)
            } catch {
                // The run continues meanwhile: a checkpoint is renamed, an old one is removed.
                guard error.code == .notFound else { throw error }
            }
        }
        return files
    }

    /// Starts a run that is held once its staging store exists, and waits until its files no longer change.
    private func held(_ trial: inout Trial, milliseconds: Int) throws -> ChildRun {
        var command = trial.command(environment: ["CAUSEWAY_PAUSE_AT": "stagingCreated:\(milliseconds)"])
        command.errors = Self.errors(trial)
        trial.note(command, " # held before the rows")
        let process = try ChildRun(command)
        let started = MonotonicClock.seconds()
        var seen: [String: FileStatus]?
        var since = started
        while process.isRunning, MonotonicClock.seconds() - started < 60 {
            let now = try Self.work(of: trial)
            if now != seen { (seen, since) = (now, MonotonicClock.seconds()) }
            let isMade = now?.keys.contains { $0.hasPrefix("step-") && $0.hasSuffix(".sqlite") } == true
            if isMade, MonotonicClock.seconds() - since > Self.quiet { break }
            Pause.milliseconds(5)
        }
        return process
    }

    /// The file for what the run prints on standard error.
    private static func errors(_ trial: Trial) -> String { trial.folder + "/errors.txt" }

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
        let said = ChildRun.tail(of: Self.errors(trial)).split(separator: "\n")
        guard let line = said.first(where: { $0.hasPrefix("step 1 of ") }), line.contains("checkpoint") else {
            throw trial.failure("SIGUSR1 isn't answered with a line of status on standard error: \(said)")
        }
        tally.count("SIGUSR1 answered")
        try trial.requireFinished()
    }
}
