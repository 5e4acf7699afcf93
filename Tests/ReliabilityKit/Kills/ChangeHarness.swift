internal import CausewayPlatform
internal import CausewaySQLite

/// What may not happen between two runs, and yet does: the source is written to, another plan is asked for, a file of the
/// work directory is damaged. The second run says so, or starts over, or goes on: never with another result.
package struct ChangeHarness: Sendable {
    package static let name = "changes"

    private let settings: HarnessSettings

    package init(_ settings: HarnessSettings) {
        self.settings = settings
    }

    /// Where the first run is killed: rows are committed, more are to come; or everything is, and the swap is to come.
    private static let places = ["committed:2", "committed:5", "verifiedWritten:1", "intentWritten:1"]

    /// Runs the cases.
    ///
    /// - Throws: when the harness itself can't work.
    package func run() throws -> Tally {
        let tally = Tally(Self.name)
        let folder = try settings.makeFolder(Self.name)
        let subjects = try TrialSubject.make(
            Subject.Chain.allCases.map { Subject($0, state: .clean, seed: settings.seed) }, settings: settings,
            folder: folder)
        let damages = settings.rounds(quick: 6, full: 150)
        var cases: [(TrialSubject, String, Change)] = []
        for subject in subjects {
            for place in Self.places {
                cases += [(subject, place, .source), (subject, place, .plan)]
            }
        }
        for number in 0..<damages {
            cases.append(
                (subjects[number % subjects.count], Self.places[number / 3 % Self.places.count], .damage(number)))
        }
        let all = cases
        try ParallelCases.run(limit: all.count, threads: settings.threads) { index in
            run(all[index].0, all[index].1, all[index].2, index, tally)
            return settings.goesOn(tally)
        }
        try FolderTree.remove(folder)
        return tally
    }

    private enum Change: Sendable {
        case source, plan
        case damage(Int)

        var name: String {
            switch self {
            case .source: "source written to"
            case .plan: "another plan"
            case .damage: "work directory damaged"
            }
        }
    }

    private func run(_ subject: TrialSubject, _ place: String, _ change: Change, _ index: Int, _ tally: Tally) {
        let label = "\(change.name), \(index)"
        do {
            let folder = try settings.makeFolder("\(Self.name)/case-\(index)")
            var trial = try Trial(subject, folder: folder)
            let ending = try trial.run(environment: ["CAUSEWAY_KILL_AT": place])
            // A chain that doesn't come by so often has nothing to show here.
            guard ending == .signalled(9) else { return settings.dispose(folder, failed: false) }
            let held = tally.judge(label, kind: change.name) {
                switch change {
                case .source: try writeToSource(&trial, tally)
                case .plan: try changePlan(&trial, tally)
                case .damage(let number): try damage(&trial, number, tally)
                }
            }
            settings.dispose(folder, failed: !held)
        } catch {
            tally.failed("\(label): \(error)")
        }
    }

    /// The application changes a row. What the store says afterwards, it must say after the migration.
    private func writeToSource(_ trial: inout Trial, _ tally: Tally) throws {
        do {
            let connection = try Connection(path: trial.store, mode: .readWrite, hardening: .own)
            try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1000")
            try connection.close()
        }
        let ending = try trial.run(output: "changed")
        switch ending {
        case .exited(76):
            tally.count("refused")
            guard try counters(trial) else { throw trial.failure("the refused run changed the store") }
            try finish(&trial)
        case .exited(0): tally.count("started over")
        default: throw trial.failure("\(ending): \(ChildRun.tail(of: trial.folder + "/changed.txt", bytes: 600))")
        }
        guard try counters(trial) else { throw trial.failure("what was written between the runs is lost", rowsLost: 1) }
    }

    /// Does what the refusal tells the user to do: `--restart`, or looking and moving the work directory away.
    private func finish(_ trial: inout Trial) throws {
        var habits = Trial.Habits()
        habits.extra = ["--restart"]
        var ending = try trial.run(habits: habits, output: "restart")
        if ending == .exited(76) {
            try FolderTree.remove(trial.workDirectory)
            ending = try trial.run(output: "restart")
        }
        guard ending == .exited(0) else {
            throw trial.failure("\(ending): \(ChildRun.tail(of: trial.folder + "/restart.txt", bytes: 600))")
        }
    }

    /// Whether the store has the counters that were written between the runs.
    private func counters(_ trial: Trial) throws -> Bool {
        let connection = try Connection(path: trial.store, mode: .readWrite, hardening: .own)
        var statement = try connection.prepare("SELECT max(Z_MAX) FROM Z_PRIMARYKEY")
        return try statement.step() && statement.int64(at: 0) >= 1_000
    }

    /// The same command with an option that changes rows: refused by name, or started over; never a mixture.
    private func changePlan(_ trial: inout Trial, _ tally: Tally) throws {
        var other = Trial.Habits()
        other.extra = ["--to", "v2"]
        let ending = try trial.run(habits: other, output: "other")
        switch ending {
        case .exited(77):
            tally.count("refused")
            guard try trial.look() == .old else { throw trial.failure("the refused run changed the store") }
            try trial.settle()
        default: throw trial.failure("\(ending) instead of 77: \(ChildRun.tail(of: trial.folder + "/other.txt"))")
        }
    }

    /// A byte of a file of ours is changed, or a file is cut short, or gone. Files of rows are left out: what a disk does
    /// to them, SQLite doesn't see, and the promise doesn't cover.
    private func damage(_ trial: inout Trial, _ number: Int, _ tally: Tally) throws {
        var random = SeededRandom(seed: settings.seed, harness: Self.name, case: number)
        let names = try Files.list(trial.workDirectory).filter { name in
            name != "lock" && !name.hasSuffix("-journal")
        }
        guard let name = names.sorted().randomElement(using: &random) else {
            throw trial.failure("the work directory is empty")
        }
        let path = trial.workDirectory + "/" + name
        if name.hasSuffix(".sqlite") {
            try damageProgress(path, &random)
        } else {
            var bytes = try Files.readFile(path, limit: 64 << 20)
            if bytes.isEmpty || Int.random(in: 0..<4, using: &random) == 0 {
                bytes = Array(bytes.prefix(Int.random(in: 0...max(0, bytes.count - 1), using: &random)))
            } else {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            }
            try Files.writeFileDurably(path, bytes)
        }
        trial.note(trial.command(), " # after \(name) was damaged")
        let ending = try trial.run(output: "damaged")
        try trial.requireOldOrNew(after: ending, output: "damaged")
        switch ending {
        case .exited(0):
            tally.count("went on or started over")
            try trial.requireFinished()
        case .exited(70), .exited(76), .exited(77):
            tally.count("refused")
            try finish(&trial)
            try trial.requireNewStore()
        default: throw trial.failure("\(ending): \(ChildRun.tail(of: trial.folder + "/damaged.txt", bytes: 600))")
        }
    }

    /// Changes a byte of the progress row's blobs; a staging store without the row is left as it is.
    private func damageProgress(_ path: String, _ random: inout SeededRandom) throws {
        let connection = try Connection(path: path, mode: .readWrite, hardening: .own)
        var tables = try connection.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'zz_causeway_progress'")
        guard try tables.step(), tables.int64(at: 0) == 1 else { return }
        var columns: [String] = []
        var info = try connection.prepare("SELECT name FROM pragma_table_info('zz_causeway_progress')")
        while try info.step() { if let name = try info.string(at: 0) { columns.append(name) } }
        guard let column = columns.randomElement(using: &random) else { return }
        let place = Int.random(in: 1...40, using: &random)
        try connection.execute(
            """
            UPDATE zz_causeway_progress SET "\(column)" = CASE typeof("\(column)")
                WHEN 'integer' THEN "\(column)" + 1
                ELSE CAST(substr("\(column)", 1, \(place - 1)) || x'5a' || substr("\(column)", \(place + 1)) AS BLOB) END
            """)
    }
}
