internal import CausewayPlatform
internal import CausewaySQLite

/// Harness 4: writers and readers on the store, and two migrators at once. The final store has every row that a writer
/// was told is committed, in whatever order events come.
package struct ConcurrencyHarness: Sendable {
    package static let name = "concurrency"

    private let settings: HarnessSettings

    package init(_ settings: HarnessSettings) {
        self.settings = settings
    }

    /// Moments at which a lock that was released too early would do harm, each held longer than a writer's turn.
    private static let pauses: [String?] = [nil, "sidecarsAbsent:150", nil, "lockedExclusively:150"]
    /// Milliseconds; 0 is an application without one.
    private static let busyTimeouts: [Int32] = [0, 2_000]

    /// Runs the rounds.
    ///
    /// - Throws: if the harness itself can't work: no executable, no thread.
    package func run() throws -> Tally {
        let tally = Tally(Self.name)
        let folder = try settings.makeFolder("concurrency")
        let history = try EntryHistory(in: folder)
        try writer(whileHeldAt: "planWritten", madeBefore: "plan.json", history, tally)
        try writer(whileHeldAt: "intentWritten", madeBefore: "swap.json", history, tally)
        try newcomer(history, tally)
        for suffix in ["-wal", "-journal"] { try sidecar(suffix, history, tally) }
        // Rounds run one after the other: each has five processes of its own.
        for round in 0..<settings.rounds(quick: 8, full: 100) where settings.goesOn(tally) {
            try run(round, history, tally)
        }
        requireContest(tally)
        return tally
    }

    /// A round shows nothing where the writers write nothing, or the migrators wait until the writers have ended.
    private func requireContest(_ tally: Tally) {
        // A trial of a mutant asks what is lost; a round without a contest isn't a catch.
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
            if outcome.wasOvertaken { tally.count("overtaken by a writer, made anew") }
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

    /// From the plan to the rename, no process may begin to write: a row that it was told is committed would be lost.
    /// `file` is the file of the work directory that the run makes just before the point.
    private func writer(
        whileHeldAt point: String, madeBefore file: String, _ history: EntryHistory, _ tally: Tally
    ) throws {
        let folder = try settings.makeFolder("concurrency/writer-\(point)")
        let store = folder + "/Store.sqlite"
        try history.makeStore(at: store, rows: 20, seed: settings.seed, wal: false)
        let migrator = try migrator(of: store, history, ["CAUSEWAY_PAUSE_AT": "\(point):2000"])
        let sign = folder + "/.Store.sqlite.migration/" + file
        while migrator.isRunning, try !Files.exists(sign) { Pause.milliseconds(1) }
        // `BEGIN IMMEDIATE` doesn't commit: a commit would be refused because of the readers alone.
        let refusal = Self.ask(store, "BEGIN IMMEDIATE")
        let wasHeld = migrator.isRunning
        let ending = migrator.wait(limit: 60)
        let held = tally.judge("a writer while the run is held at \(point)", kind: "writers refused") {
            guard wasHeld else { throw HarnessError("the run wasn't held: \(ending): \(migrator.tail())") }
            guard let refusal, refusal.code == .busy else {
                throw HarnessError("he was let in: \(refusal.map { "\($0)" } ?? "no error"), the migrator: \(ending)")
            }
            guard ending == .exited(0) else { throw HarnessError("the migrator: \(ending): \(migrator.tail())") }
        }
        settings.dispose(folder, failed: !held)
    }

    private func migrator(
        of store: String, _ history: EntryHistory, _ environment: [String: String] = [:]
    ) throws -> ChildRun {
        try ChildRun(
            .init(
                settings.causeway, ["migrate", store, "--models", history.models, "--to", "v2", "--quiet"],
                environment: environment, output: store + ".migrator.txt"))
    }

    /// Between the rename and the end of the handover, no process gets access to the new store: one that has the old
    /// file open could take the new process's journal for its own.
    private func newcomer(_ history: EntryHistory, _ tally: Tally) throws {
        let folder = try settings.makeFolder("concurrency/newcomer")
        let store = folder + "/Store.sqlite"
        try history.makeStore(at: store, rows: 20, seed: settings.seed, wal: false)
        let old = try Files.status(of: store)
        let migrator = try migrator(of: store, history, ["CAUSEWAY_PAUSE_AT": "swapDurable:1000"])
        var refusal: SQLiteError?
        while migrator.isRunning {
            // In the middle of the swap, the -wal and the new store may not exist yet.
            if try !Files.status(of: store).isSameFile(as: old) {
                refusal = Self.ask(store)
                break
            }
            Pause.milliseconds(1)
        }
        let ending = migrator.wait(limit: 60)
        let held = tally.judge("a newcomer while the new store is handed over", kind: "newcomers") {
            guard ending == .exited(0) else { throw HarnessError("the migrator: \(ending): \(migrator.tail())") }
            guard let refusal, refusal.code == .busy else {
                throw HarnessError("it was let in: \(refusal.map { "\($0)" } ?? "no error")")
            }
            if let error = Self.ask(store) { throw HarnessError("it is kept out afterwards: \(error)") }
        }
        settings.dispose(folder, failed: !held)
    }

    /// A sidecar that another program makes just before the swap: the new store would take it for its own.
    private func sidecar(_ suffix: String, _ history: EntryHistory, _ tally: Tally) throws {
        let folder = try settings.makeFolder("concurrency/sidecar\(suffix)")
        let store = folder + "/Store.sqlite"
        try history.makeStore(at: store, rows: 20, seed: settings.seed, wal: false)
        let old = try Files.status(of: store)
        let migrator = try migrator(of: store, history, ["CAUSEWAY_PAUSE_AT": "lockedExclusively:1000"])
        let verified = folder + "/.Store.sqlite.migration/step-1.verified.json"
        while migrator.isRunning, try !Files.exists(verified) { Pause.milliseconds(1) }
        // On a machine that isn't too busy the exclusive lock is held by then. If not, SQLite finds the sidecar, which
        // is fine too.
        Pause.milliseconds(400)
        try Files.writeFileDurably(store + suffix, [UInt8](repeating: 7, count: 64))
        let ending = migrator.wait(limit: 60)
        let held = tally.judge("a \(suffix) that appears before the swap", kind: "sidecars") {
            let isOld = try Files.status(of: store).isSameFile(as: old)
            switch ending {
            case .exited(0):
                guard !isOld, try !Files.exists(store + suffix) else { throw HarnessError("the swap left it there") }
            case .exited(75), .exited(76):
                guard isOld else { throw HarnessError("\(ending), but the store was replaced") }
                if try Files.exists(store + suffix) { try Files.unlink(store + suffix) }
                let again = try self.migrator(of: store, history)
                guard again.wait(limit: 60) == .exited(0), try !Files.status(of: store).isSameFile(as: old) else {
                    throw HarnessError("it can't be resumed afterwards: \(again.tail())")
                }
            default: throw HarnessError("the migrator: \(ending): \(migrator.tail())")
            }
        }
        settings.dispose(folder, failed: !held)
    }

    /// Runs a statement, without waiting for locks.
    private static func ask(_ store: String, _ sql: String = "SELECT * FROM ZENTRY LIMIT 1") -> SQLiteError? {
        do throws(SQLiteError) {
            let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
            try connection.setBusyTimeout(milliseconds: 0)
            var statement = try connection.prepare(sql)
            _ = try statement.step()
            return nil
        } catch {
            return error
        }
    }

    private static func setup(_ round: Int, _ random: inout SeededRandom) -> Contest.Setup {
        // Settings alternate, so that a few rounds have every kind; the number of rows moves the swap against the
        // writers.
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
