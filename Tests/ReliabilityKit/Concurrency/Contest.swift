internal import CausewayPlatform
internal import CausewaySQLite

/// One round: writers, a reader and two migrators on one store at the same time. Afterwards the acknowledged rows are
/// counted.
struct Contest {
    /// What differs between rounds.
    struct Setup: Sendable {
        var isWAL: Bool
        var writers: [(style: StoreWriter.Style, busyTimeout: Int32)]
        /// For `CAUSEWAY_PAUSE_AT`: the moment at which a lock that was released too early would do harm.
        var pause: String?
        var rows: Int

        var description: String {
            let styles = writers.map { "\($0.style.rawValue)/\($0.busyTimeout)" }.joined(separator: "+")
            return "\(isWAL ? "wal" : "delete") \(styles) \(pause ?? "no-pause") \(rows) rows"
        }
    }

    /// The result of a round.
    struct Outcome {
        var acknowledged = 0
        var lost: [String] = []
        /// Other faults; empty where the round held.
        var faults: [String] = []
        /// Migrator runs that were told to try again later.
        var refusals = 0
        /// Whether a writer came first, so that the work had to be discarded.
        var wasOvertaken = false
        /// Whether the store was migrated while the writers were running and had been told of committed rows.
        var wasContested = false
    }

    let settings: HarnessSettings
    let history: EntryHistory
    let folder: String
    let setup: Setup
    var random: SeededRandom

    /// Seconds during which writers and migrators compete; then the writers stop, and the migrator must succeed.
    /// Writers that open the store for every row let a migrator in sooner or later, and get more time.
    private static let contestSeconds = 2.0
    private static let freshContestSeconds = 20.0
    /// Seconds for a writer's first row; the migrators wait until then.
    private static let firstRow = 5.0
    /// Seconds that a migrator may take: more than its own wait for a lock (`--swap-timeout`, 60).
    private static let migratorLimit = 100.0
    /// Runs of the migrator after the writers have ended: the first succeeds, unless a process of the harness ends
    /// late.
    private static let finalRuns = 5
    /// What a run says that finds work of a store which was written to since.
    private static let overtaken = "has changed since its migration began"
    /// Exit codes that mean "try again": in use, or changed during the run.
    private static let comeBack: Set<Int32> = [75, 76]

    private var store: String { folder + "/Store.sqlite" }
    private var flag: String { folder + "/contest-is-on" }

    mutating func run() throws -> Outcome {
        try history.makeStore(at: store, rows: setup.rows, seed: random.next(), wal: setup.isWAL)
        try Files.writeFileDurably(flag, [])
        var outcome = Outcome()
        var writers: [ChildRun] = []
        for (index, writer) in setup.writers.enumerated() { writers.append(try start(writer, index)) }
        let reader = try ChildRun(
            .init(
                settings.reliability,
                ["reader", "--store", store, "--while", flag, "--seed", "\(random.next() >> 1)"],
                output: folder + "/reader.txt"))
        let hasRow = try awaitRow()
        Pause.milliseconds(Int.random(in: 0...40, using: &random))
        let isDone = try contest(&outcome)
        outcome.wasContested = isDone && hasRow
        Pause.milliseconds(60)
        try Files.unlink(flag)
        for (index, process) in (writers + [reader]).enumerated() {
            let ending = process.wait(limit: 60)
            if ending != .exited(0) {
                let who = index < writers.count ? "writer \(index)" : "reader"
                outcome.faults.append("\(who): \(ending): \(process.tail(bytes: 400))")
            }
        }
        if !isDone { try finish(&outcome) }
        try judge(&outcome)
        return outcome
    }

    /// Waits until a writer has been told that a row is committed.
    ///
    /// - Returns: whether one was.
    private func awaitRow() throws -> Bool {
        let deadline = MonotonicClock.seconds() + Self.firstRow
        while MonotonicClock.seconds() < deadline {
            for index in setup.writers.indices {
                if let file = try Files.statusIfExists("\(folder)/acked-\(index)"), file.size > 0 { return true }
            }
            Pause.milliseconds(1)
        }
        return false
    }

    private mutating func start(
        _ writer: (style: StoreWriter.Style, busyTimeout: Int32), _ index: Int
    ) throws -> ChildRun {
        try ChildRun(
            .init(
                settings.reliability,
                [
                    "writer", "--store", store, "--while", flag, "--acknowledge", "\(folder)/acked-\(index)",
                    "--name", "w\(index)", "--style", writer.style.rawValue,
                    "--busy-timeout", "\(writer.busyTimeout)", "--seed", "\(random.next() >> 1)",
                ], output: "\(folder)/writer-\(index).txt"))
    }

    private func migration(_ number: Int) -> ChildRun.Command {
        var command = ChildRun.Command(
            settings.causeway, ["migrate", store, "--models", history.models, "--to", "v2", "--quiet"],
            output: "\(folder)/migrator-\(number).txt")
        if let pause = setup.pause { command.environment["CAUSEWAY_PAUSE_AT"] = pause }
        return command
    }

    private func begin(_ number: Int) throws -> (process: ChildRun, started: Double)? {
        (try ChildRun(migration(number)), MonotonicClock.seconds())
    }

    /// Two migrators at once. Each is started again when told to try later, until one succeeds or time is up.
    private mutating func contest(_ outcome: inout Outcome) throws -> Bool {
        let isFresh = setup.writers.allSatisfy { $0.style == .fresh }
        let deadline = MonotonicClock.seconds() + (isFresh ? Self.freshContestSeconds : Self.contestSeconds)
        var running: [(process: ChildRun, started: Double)?] = [try begin(0), try begin(1)]
        var isDone = false
        while running.contains(where: { $0 != nil }) {
            for index in running.indices {
                guard let (process, started) = running[index] else { continue }
                // Without a limit, two that wait for each other would wait for ever.
                let isLate = MonotonicClock.seconds() - started > Self.migratorLimit
                guard let ending = isLate ? process.wait(limit: 0) : process.poll() else { continue }
                running[index] = nil
                note(ending, process, &outcome)
                if ending == .exited(0) { isDone = true }
                if !isDone, MonotonicClock.seconds() < deadline { running[index] = try begin(index) }
            }
            Pause.milliseconds(2)
        }
        return isDone
    }

    private func note(_ ending: ChildRun.Ending, _ process: ChildRun, _ outcome: inout Outcome) {
        switch ending {
        case .exited(0): break
        case .exited(let code) where Self.comeBack.contains(code): outcome.refusals += 1
        default: outcome.faults.append("migrator: \(ending): \(process.tail(bytes: 600))")
        }
    }

    private func finish(_ outcome: inout Outcome) throws {
        var said = ""
        for _ in 0..<Self.finalRuns {
            var command = migration(2)
            // A writer may come first between the lock that lets readers in and the one that lets no process in. The
            // work is then of no use, and a migrator must say so.
            if said.contains(Self.overtaken) {
                command.arguments.append("--restart")
                outcome.wasOvertaken = true
            }
            let process = try ChildRun(command)
            let ending = process.wait(limit: Self.migratorLimit)
            if ending == .exited(0) { return }
            note(ending, process, &outcome)
            said = "\(ending): \(process.tail(bytes: 800))"
        }
        outcome.faults.append(
            "the store isn't migrated \(Self.finalRuns) runs after the writers have gone: \(said)")
    }

    /// The original lies beside the new store, once, and is sound. A copy of it is read, so that no sidecars appear
    /// beside it.
    private func judgeBackups(_ outcome: inout Outcome) throws {
        let backups = try Files.list(folder).filter { $0.hasPrefix("Store.sqlite.premigration") }
        if backups.count != 1 { outcome.faults.append("there are \(backups.count) backups") }
        for name in backups {
            let copy = folder + "/backup.sqlite"
            try Files.unlink(copy)
            try Files.copyFile(from: folder + "/" + name, to: copy)
            let connection = try Connection(path: copy, mode: .readWrite, hardening: .own)
            if let fault = try SoundnessCheck.retrying({ try SoundnessCheck.fault(connection) }) {
                outcome.faults.append("\(name): \(fault)")
            }
            var statement = try connection.prepare("SELECT count(*) FROM ZENTRY")
            if try statement.step(), statement.int64(at: 0) < setup.rows {
                outcome.faults.append("\(name): has \(statement.int64(at: 0)) of \(setup.rows) rows")
            }
        }
    }

    /// Every acknowledged row is there once, the store is sound, and no other files lie beside it.
    private func judge(_ outcome: inout Outcome) throws {
        var acknowledged: Set<String> = []
        for index in setup.writers.indices {
            // The harness reads this file itself: it holds what one of its writers wrote in two seconds.
            let content = try Files.readFile("\(folder)/acked-\(index)", limit: 16 << 20)
            for line in String(decoding: content, as: UTF8.self).split(separator: "\n") {
                acknowledged.insert(String(line))
            }
        }
        outcome.acknowledged = acknowledged.count
        let judgement = try SoundnessCheck.retrying { try EntryJudgement(store: store) }
        outcome.lost = acknowledged.subtracting(judgement.markers).sorted()
        outcome.faults += judgement.faults
        try judgeBackups(&outcome)
        if judgement.rows < setup.rows {
            outcome.faults.append("\(setup.rows - judgement.rows) of the store's own rows are gone")
        }
        let leftovers = try Files.list(folder).filter { $0.hasPrefix(".Store") }
        if !leftovers.isEmpty { outcome.faults.append("left over: \(leftovers.joined(separator: ", "))") }
    }
}
