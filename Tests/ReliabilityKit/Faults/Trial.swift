package import CausewayPlatform
package import CausewayPreparation

/// One case: a new source, runs of the command that are disturbed in some way, and the checks after each.
///
/// The oracle is outside of the process under test: it reads a copy of the files, through SQLite.
package struct Trial {
    /// What a trial found wrong; the text says what, and how to reproduce it.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        package let rowsLost: Int
    }

    /// Settings that may change between runs, as they may for a user: none of them changes rows.
    package struct Habits: Sendable {
        package var batchRows = Subject.defaultBatchRows
        package var jobs = 1
        /// Seconds; 0 commits every batch.
        package var checkpointInterval = 0.0
        /// nil is the subject's. Another one than before makes the open step start over.
        package var engine: EngineChoice?
        /// Whether events aren't printed.
        package var isQuiet = true
        package var extra: [String] = []

        /// Commits after every batch; after several batches; only at the ends of a short run.
        private static let intervals = [0, 0.02, uncommitted]
        /// Longer than any run: everything between a run's start and end is one transaction.
        package static let uncommitted = 5.0

        package init() {}

        package init(_ random: inout SeededRandom) {
            batchRows = Int.random(in: 1...12, using: &random)
            jobs = Int.random(in: 1...3, using: &random)
            checkpointInterval = Self.intervals.randomElement(using: &random) ?? 0
        }

        /// Settings of which some make the open step start over: another engine, so little memory that pages have no
        /// room, a higher level of verification. Half of them leave engine and memory as they are.
        package static func changing(_ random: inout SeededRandom) -> Habits {
            var habits = Habits(&random)
            let level = ["none", "quick", "quick", "full"][Int.random(in: 0..<4, using: &random)]
            habits.extra += ["--verify", level]
            switch Int.random(in: 0..<8, using: &random) {
            case 0: habits.engine = .pages
            case 1: habits.engine = .statements
            case 2: habits.engine = .auto
            case 3: habits.extra += ["--memory-limit", "300K"]
            default: break
            }
            if Bool.random(using: &random) {
                habits.extra += ["--batch-bytes", String(Int.random(in: 4...64, using: &random) << 10)]
            }
            return habits
        }
    }

    package let subject: TrialSubject
    /// The case's own folder.
    package let folder: String
    /// The store's folder; the fault shim watches nothing else.
    package let data: String
    private(set) var commands: [String] = []

    /// Seconds; a run takes well under one.
    private static let runLimit = 120.0

    /// Makes a new source in the folder, or in `data` if that is given.
    package init(_ subject: TrialSubject, folder: String, data: String? = nil) throws(FileError) {
        self.subject = subject
        self.folder = folder
        self.data = data ?? folder + "/data"
        try FolderTree.copy(subject.pristine, to: self.data)
    }

    package var store: String { data + "/" + Subject.storeName }
    package var workDirectory: String { data + "/" + Subject.workName }

    /// The command that migrates; its output goes to a file of the case.
    package func command(
        environment: [String: String] = [:], habits: Habits = Habits(), output: String = "run"
    ) -> ChildRun.Command {
        let arguments = subject.subject.arguments(
            store: store, batchRows: habits.batchRows, jobs: habits.jobs, engine: habits.engine,
            checkpointInterval: habits.checkpointInterval,
            extra: (habits.isQuiet ? ["--json", "--quiet"] : ["--json"]) + habits.extra)
        return ChildRun.Command(
            subject.executable, arguments, environment: environment, output: "\(folder)/\(output).txt")
    }

    /// Runs the command to its end.
    package mutating func run(
        environment: [String: String] = [:], habits: Habits = Habits(), output: String = "run"
    ) throws(FileError) -> ChildRun.Ending {
        let command = command(environment: environment, habits: habits, output: output)
        note(command)
        return try ChildRun(command).wait(limit: Self.runLimit)
    }

    /// Records a run for the replay, or what was done before it.
    package mutating func note(_ command: ChildRun.Command, _ remark: String = "") {
        commands.append(command.description + remark)
    }

    /// What an application would find at the store's path now. It reads a copy: recovery by an application must not
    /// help the command's own.
    package func look() throws -> StoreOracle.View {
        try withCopy { subject.oracle.view($0) }
    }

    private func withCopy<Result>(_ body: (String) throws -> Result) throws -> Result {
        let copy = folder + "/look"
        try FolderTree.remove(copy)
        try Files.makeDirectory(copy)
        for name in try Files.list(data) where name != Subject.workName && !name.contains(".premigration") {
            try FolderTree.copy(data + "/" + name, to: copy + "/" + name)
        }
        let result = try body(copy + "/" + Subject.storeName)
        try FolderTree.remove(copy)
        return result
    }

    /// The store is the old or the new one, and the new one if the run said so.
    @discardableResult
    package func requireOldOrNew(after ending: ChildRun.Ending, output: String = "run") throws -> StoreOracle.View {
        let view = try look()
        switch (view, ending) {
        case (.broken(let reason), _):
            throw try broken("after \(ending) the store is neither old nor new: \(reason)")
        case (.old, .exited(0)): throw failure("the run reported success, but the store is the old one")
        case (_, .hung): throw failure("the run doesn't end: \(ChildRun.tail(of: "\(folder)/\(output).txt"))")
        case (_, .exited(let code)) where code != 0: try requireTruth(view, code: code, output: output)
        default: break
        }
        return view
    }

    /// A failure message says whether the store is new; it must be right.
    private func requireTruth(_ view: StoreOracle.View, code: Int32, output: String) throws {
        let line = try failureLine(code: code, output: output)
        if line.storeIsNew != (view == .new) {
            throw failure("exit \(code) says that the store is \(line.storeIsNew ? "new" : "untouched"): it isn't")
        }
    }

    /// The message of a run that failed.
    func failureLine(code: Int32, output: String = "run") throws -> FailureLine {
        let text = ChildRun.tail(of: "\(folder)/\(output).txt", bytes: 64 << 10)
        guard let line = FailureLine(in: text) else {
            throw failure("exit \(code) without a line that says what became of the store: \(text.suffix(400))")
        }
        return line
    }

    /// The content of the store, old or new.
    func digest() throws -> StoreDigest {
        try withCopy { try StoreDigest($0) }
    }

    /// Runs undisturbed, which must succeed, and compares the result with that of the undisturbed run, cell by cell.
    package mutating func settle(habits: Habits = Habits()) throws {
        let wasNew = try look() == .new
        let ending = try run(habits: habits, output: "settle")
        guard ending == .exited(0) else {
            let said = ChildRun.tail(of: folder + "/settle.txt", bytes: 600)
            throw failure("the undisturbed run afterwards ended with \(ending): \(said)")
        }
        try requireFinished(wasNew: wasNew)
    }

    /// The store is the new one; other files may lie beside it.
    package func requireNewStore() throws {
        switch try look() {
        case .new: break
        case .old: throw failure("the store is still the old one")
        case .broken(let reason): throw try broken("the store is neither old nor new: \(reason)")
        }
    }

    /// The store is the new one, the original lies beside it, and there are no other files.
    package func requireFinished(wasNew: Bool = false) throws {
        if case .broken(let reason) = try look() {
            throw try broken("the finished store differs from the undisturbed run's: \(reason)")
        }
        // Reading a store checkpoints its -wal; a copy is read, so that a sidecar that the command left is noticed.
        let copy = folder + "/finished"
        try FolderTree.remove(copy)
        try FolderTree.copy(data, to: copy)
        let faults = subject.oracle.faults(inFinished: copy, needsBackup: !wasNew)
        try FolderTree.remove(copy)
        if !faults.isEmpty { throw failure("after a run that succeeded: \(faults.joined(separator: "; "))") }
    }

    private func broken(_ text: String) throws -> Failure {
        failure(text, rowsLost: try withCopy { subject.rowsLost(in: $0) })
    }

    /// A failure with the commands that reproduce it.
    package func failure(_ text: String, rowsLost: Int = 0) -> Failure {
        let source = "\(subject.subject) \(subject.subject.rows) rows, seed \(subject.subject.seed)"
        return Failure(
            description: "\(source): \(text)\n    replay: \(commands.joined(separator: "\n            "))",
            rowsLost: rowsLost)
    }
}
