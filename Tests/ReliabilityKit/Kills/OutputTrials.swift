internal import CausewayPlatform

/// Signals that the system sends: SIGPIPE to a process that writes to a closed pipe, SIGXFSZ to one that exceeds the
/// user's limit for files. Neither may end a migration.
struct OutputTrials {
    /// Blocks of `ulimit -f`, in bytes.
    private static let block = 512
    /// The smallest limit, in blocks: the command's own output must fit.
    private static let smallest = 24

    /// The command's output isn't read: it continues, and succeeds.
    ///
    /// - Parameters:
    ///   - trial: not run yet.
    ///   - errorsToo: whether its errors go to the same pipe.
    /// - Throws: what is wrong.
    static func unread(_ trial: inout Trial, errorsToo: Bool) throws {
        var habits = Trial.Habits()
        habits.isQuiet = false
        var command = trial.command(habits: habits)
        command.isUnread = true
        if !errorsToo { command.errors = trial.folder + "/errors.txt" }
        trial.note(command)
        let ending = try ChildRun(command).wait(limit: 60)
        guard ending == .exited(0) else { throw trial.failure("\(ending) where nobody reads what is printed") }
        try trial.requireFinished()
    }

    /// No file may exceed a limit, which is larger or smaller than the stores are.
    ///
    /// - Returns: whether the limit was reached.
    /// - Throws: what is wrong.
    static func limited(_ trial: inout Trial, _ random: inout SeededRandom) throws -> Bool {
        let store = Int(try Files.linkStatus(of: trial.store).size) / block
        let blocks = Int.random(in: smallest...max(smallest, store * 5 / 4), using: &random)
        var command = trial.command(habits: Trial.Habits(&random))
        command.arguments = ["-c", "ulimit -f \(blocks) && exec \"$0\" \"$@\"", command.executable] + command.arguments
        command.executable = "/bin/sh"
        trial.note(command)
        let ending = try ChildRun(command).wait(limit: 60)
        let wasMet = ending != .exited(0)
        if wasMet {
            guard case .exited(let code) = ending, code == 73 || code == 74 else {
                throw trial.failure("\(ending) where no file may be larger: \(ChildRun.tail(of: command.output))")
            }
            let line = try trial.failureLine(code: code)
            guard line.isResumable || line.hasBegunNothing else {
                throw trial.failure("exit \(code) says that running again doesn't help")
            }
        }
        try trial.requireOldOrNew(after: ending)
        try trial.settle(habits: Trial.Habits(&random))
        return wasMet
    }
}
