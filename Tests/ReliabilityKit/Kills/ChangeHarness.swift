internal import CausewayPlatform
internal import CausewayPreparation
internal import CausewaySQLite

/// Changes that may not happen between two runs: the source is written to, another plan is asked for, or a file of the
/// work directory is damaged. The second run says so, starts over, or resumes; it never gives another result.
package struct ChangeHarness: Sendable {
    package static let name = "changes"

    private let settings: HarnessSettings

    package init(_ settings: HarnessSettings) {
        self.settings = settings
    }

    /// Where the first run is killed: some rows are committed and more follow; or all are, and the swap follows.
    private static let places = ["committed:2", "committed:5", "verifiedWritten:1", "intentWritten:1"]

    /// As `places`: pages are being written, are all written, and the places that both engines share.
    private static let placesAmongPages = [
        "checkpointWritten:3", "pagesDone:1", "verifiedWritten:1", "intentWritten:1",
    ]

    private static func places(of subject: TrialSubject) -> [String] {
        subject.subject.engine == .pages ? placesAmongPages : places
    }

    private static let placesAmongRows = ["committed:5", "committed:9", "committed:14"]

    /// Runs the cases.
    ///
    /// - Throws: if the harness itself can't work.
    package func run() throws -> Tally {
        let tally = Tally(Self.name)
        let folder = try settings.makeFolder(Self.name)
        let subjects = try TrialSubject.make(
            settings.subjects.map {
                Subject($0.chain, engine: $0.engine, state: .clean, seed: settings.seed)
            }, settings: settings, folder: folder)
        let damages = settings.rounds(quick: 6, full: 150)
        var cases: [(TrialSubject, String, Change)] = []
        for subject in subjects {
            for place in Self.places(of: subject) {
                cases += [(subject, place, .source), (subject, place, .plan), (subject, place, .replacement)]
            }
            for place in Self.placesAmongRows { cases.append((subject, place, .row)) }
        }
        // The quick subset takes every other case; other seeds take the others.
        if settings.isQuick {
            cases = cases.enumerated().filter { ($0.offset + Int(settings.seed % 2)) % 2 == 0 }.map(\.element)
        }
        for number in 0..<damages {
            let subject = subjects[number % subjects.count]
            let places = Self.places(of: subject)
            cases.append((subject, places[number / 3 % places.count], .damage(number)))
        }
        let all = cases
        try ParallelCases.run(limit: all.count, threads: settings.threads) { index in
            run(all[index].0, all[index].1, all[index].2, index, tally)
            return settings.goesOn(tally)
        }
        settings.dispose(folder, failed: !tally.result.isClean)
        return tally
    }

    private enum Change: Sendable {
        case source, plan, replacement, row
        case damage(Int)

        var name: String {
            switch self {
            case .source: "source written to"
            case .plan: "another plan"
            case .replacement: "another store put in place"
            case .row: "a row taken out of the new store"
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
            let held = tally.judgeWhereTried(label, kind: change.name) {
                if ending == .exited(0) {
                    // A chain that doesn't reach the place so often has no such case.
                    return false
                }
                guard ending == .signalled(9) else { throw trial.failure("\(ending) instead of SIGKILL or success") }
                switch change {
                case .source: try changeSource(&trial, isReplaced: false)
                case .replacement: try changeSource(&trial, isReplaced: true)
                case .plan: try changePlan(&trial)
                case .row: return try loseRow(&trial)
                case .damage(let number): return try damage(&trial, number, tally)
                }
                return true
            }
            settings.dispose(folder, failed: !held)
        } catch {
            tally.failed("\(label): \(error)")
        }
    }

    /// The application changes a row, in the store or in another file that replaces it. The next run must refuse,
    /// whatever work there is to resume. The user then does what the refusal says, and the migrated store must have the
    /// change.
    private func changeSource(_ trial: inout Trial, isReplaced: Bool) throws {
        if isReplaced {
            try FolderTree.copy(trial.store, to: trial.store + ".other")
            try Files.rename(trial.store + ".other", to: trial.store)
        }
        do {
            let connection = try Connection(path: trial.store, mode: .readWrite, hardening: .own)
            try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1000")
            try connection.close()
        }
        trial.note(trial.command(), " # after the store was \(isReplaced ? "replaced" : "written to")")
        let wanted = try undisturbed(trial)
        let wasAboutToSwap = try Files.exists(trial.workDirectory + "/swap.json")
        let before = try FolderTree.contents(of: trial.workDirectory)
        try expect(76, try trial.run(output: "changed"), "changed", trial)
        guard try FolderTree.contents(of: trial.workDirectory) == before else {
            throw trial.failure("the refused run changed the work directory")
        }
        guard try counters(trial) else { throw trial.failure("the refused run changed the store") }
        // With an intent to swap and another file, the run can't tell which store is the right one: the user must look.
        try finish(&trial, byHand: isReplaced && wasAboutToSwap)
        let found = try trial.digest()
        guard found != wanted else { return }
        throw trial.failure(
            "what was written between the runs is lost: \(found.differences(from: wanted).joined(separator: "; "))",
            rowsLost: max(1, found.rowsMissing(from: wanted)))
    }

    /// The result of a run on the store as it is now, without earlier work.
    private func undisturbed(_ trial: Trial) throws -> StoreDigest {
        let folder = trial.folder + "/alone"
        try Files.makeDirectory(folder)
        for name in try Files.list(trial.data) where name != Subject.workName && !name.contains(".premigration") {
            try FolderTree.copy(trial.data + "/" + name, to: folder + "/" + name)
        }
        let store = folder + "/" + Subject.storeName
        let subject = trial.subject
        let ending = try ChildRun.run(
            .init(subject.executable, subject.subject.arguments(store: store), output: trial.folder + "/alone.txt"))
        guard ending == .exited(0) else { throw trial.failure("an undisturbed run on the changed store: \(ending)") }
        return try StoreDigest(store)
    }

    private func expect(_ code: Int32, _ ending: ChildRun.Ending, _ output: String, _ trial: Trial) throws {
        guard ending == .exited(code) else {
            let said = ChildRun.tail(of: "\(trial.folder)/\(output).txt", bytes: 600)
            throw trial.failure("\(ending) instead of exit \(code): \(said)")
        }
        guard code != 0 else { return }
        let line = try trial.failureLine(code: code, output: output)
        guard !line.storeIsNew else { throw trial.failure("exit \(code) says that the store is new: it isn't") }
    }

    /// Does what the refusal says: `--restart`, or moving the work directory away by hand.
    private func finish(_ trial: inout Trial, byHand: Bool) throws {
        var habits = Trial.Habits()
        habits.extra = ["--restart"]
        try expect(byHand ? 76 : 0, try trial.run(habits: habits, output: "restart"), "restart", trial)
        guard byHand else { return }
        try FolderTree.remove(trial.workDirectory)
        trial.note(trial.command(), " # after the work directory was removed")
        try expect(0, try trial.run(output: "anew"), "anew", trial)
    }

    /// Whether the store has the counters that were written between the two runs.
    private func counters(_ trial: Trial) throws -> Bool {
        let connection = try Connection(path: trial.store, mode: .readWrite, hardening: .own)
        var statement = try connection.prepare("SELECT max(Z_MAX) FROM Z_PRIMARYKEY")
        return try statement.step() && statement.int64(at: 0) >= 1_000
    }

    /// The same command with an option that changes rows is refused by name; results of two plans are never mixed.
    private func changePlan(_ trial: inout Trial) throws {
        var other = Trial.Habits()
        other.extra = ["--to", "v2"]
        try expect(77, try trial.run(habits: other, output: "other"), "other", trial)
        guard try trial.look() == .old else { throw trial.failure("the refused run changed the store") }
        try trial.settle()
    }

    /// A committed row is removed from the new store, which SQLite still finds sound. The verification must find that,
    /// or code that looks the row up.
    ///
    /// - Returns: whether there was such a row.
    private func loseRow(_ trial: inout Trial) throws -> Bool {
        guard let table = try WorkDamage.removeRow(in: trial.workDirectory) else { return false }
        trial.note(trial.command(), " # after a row of \(table) was taken out of the new store")
        let ending = try trial.run(output: "damaged")
        guard case .exited(let code) = ending, [65, 70].contains(code) else {
            throw trial.failure("\(ending), although the new store lacks a row", rowsLost: ending == .exited(0) ? 1 : 0)
        }
        try expect(code, ending, "damaged", trial)
        guard try trial.look() == .old else { throw trial.failure("the refused run changed the store") }
        try finish(&trial, byHand: false)
        try trial.requireFinished()
        return true
    }

    /// A file of the work directory is damaged.
    ///
    /// - Returns: whether there was such a file.
    private func damage(_ trial: inout Trial, _ number: Int, _ tally: Tally) throws -> Bool {
        var random = SeededRandom(seed: settings.seed, harness: Self.name, case: number)
        guard let damage = try WorkDamage.make(in: trial.workDirectory, store: trial.store, &random) else {
            return false
        }
        trial.note(trial.command(), " # after \(damage.name) was damaged")
        try expect(damage.code, try trial.run(output: "damaged"), "damaged", trial)
        tally.count(damage.code == 0 ? "made anew" : "refused with \(damage.code)")
        if damage.code != 0 {
            guard try trial.look() == .old else { throw trial.failure("the refused run changed the store") }
            try finish(&trial, byHand: false)
        }
        try trial.requireFinished()
        return true
    }
}
