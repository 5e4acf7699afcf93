internal import CausewayEngine
internal import CausewayPlatform
internal import CausewayPreparation
internal import Foundation
internal import Synchronization

/// Tries every state that a crash may leave at every point of a run (InsideCrashSafety §3.1).
///
/// A command is traced once. At every crash point the model says which states of the disk are possible. Each is made,
/// read and resumed in this process.
package struct CrashExplorer: Sendable {
    package struct Settings: Sendable {
        package var subject: Subject
        package var work = Exploration.Work()
        /// Threads that check states.
        package var jobs = 1
        /// Every nth crash point before the swap is tried, and every nth in the swap.
        package var stride = 1
        package var swapStride = 1
        /// Only the crash points of the swap, with every subset of the changes that aren't durable.
        package var isExhaustiveSwap = false
        /// Only the crash points at which pages are written and no connection is open on the new store, every nth as
        /// `stride` says.
        package var isAmongPages = false
        /// Renames across folders count as two changes.
        package var splitsRenames = false
        /// Only this state: `K:label`, as in a failure.
        package var only: String?
        /// States, at most; for fewer, crash points are left out evenly.
        package var budget: Int?
        /// States of one crash point, at most; nil is all. If there are more, an even selection is tried.
        package var statesPerPoint: Int?
        /// Stops at the first failure: enough where one is expected.
        package var stopsAtFailure = false
        /// If false, states are only counted.
        package var checks = true
        /// Where the folders are made; nil is a file system in memory, if there is one.
        package var scratch: String?

        package init(_ subject: Subject) {
            self.subject = subject
        }

        var name: String {
            var words = ["crash states", "\(subject)"]
            if isAmongPages { words.append("among pages") }
            if isExhaustiveSwap { words.append("swap, all subsets") }
            if splitsRenames { words.append("non-atomic renames") }
            if work.checkpointInterval > 0 { words.append("without commits") }
            if let mutant = work.mutant { words.append("mutant \(mutant)") }
            if let fault = work.fault { words.append("fault \(fault)") }
            return words.joined(separator: ", ")
        }

        /// Every nth crash point before the swap that is visited, of a run with so many operations.
        func visited(of operations: Int) -> Int {
            // A crash point has about ten new states.
            max(1, stride, budget.map { operations * 10 / max(1, $0) } ?? 1)
        }

        /// Whether every crash point of such a run is visited, and all its states are checked.
        func isComplete(of operations: Int) -> Bool {
            visited(of: operations) == 1 && swapStride <= 1 && !isExhaustiveSwap && !isAmongPages && only == nil
                && statesPerPoint == nil && checks && !stopsAtFailure
        }

        /// The command line of `reliability` that replays a state.
        func replay(_ label: String) -> String {
            "--subject \(subject.chain.rawValue) --engine \(subject.engine.rawValue) --source \(subject.state.rawValue) --state \(label)"
                + (splitsRenames ? " --nonatomic" : "") + (work.fault.map { " --fault \($0)" } ?? "")
                + (work.mutant.map { " --mutant \($0)" } ?? "")
                + (work.checkpointInterval > 0 ? " --interval \(work.checkpointInterval)" : "")
        }
    }

    package let settings: Settings

    package init(_ settings: Settings) {
        self.settings = settings
    }

    /// Traces and explores.
    package func run() throws -> HarnessResult {
        let folder = try ScratchFolder(in: settings.scratch)
        defer { folder.remove() }
        let exploration = try Exploration(settings.subject, in: folder.path + "/source", work: settings.work)
        return try explore(exploration, in: folder.path)
    }

    /// Explores a run that has been traced.
    package func explore(_ exploration: Exploration, in folder: String) throws -> HarnessResult {
        let result = Mutex(HarnessResult(name: settings.name))
        let progress = Mutex(LostProgress())
        let problem = Mutex<String?>(nil)
        let threads = try (0..<max(1, settings.jobs)).map { worker in
            try WorkerThread(name: "explore-\(worker)") {
                do {
                    let part = try explore(exploration, "\(folder)/worker-\(worker)", worker)
                    result.withLock { $0.add(part.result) }
                    progress.withLock { $0.add(part.progress) }
                } catch {
                    problem.withLock { $0 = "\(error)" }
                }
            }
        }
        for thread in threads { thread.join() }
        if let problem = problem.withLock({ $0 }) { throw HarnessError(problem) }
        let isComplete = settings.isComplete(of: exploration.trace.operations.count)
        return result.withLock { result in
            progress.withLock { $0.judge(&result, isExact: isComplete, replay: settings.replay) }
            return result
        }
    }

    /// A thread's share: every thread makes all states and checks every nth.
    private func explore(
        _ exploration: Exploration, _ scratch: String, _ worker: Int
    ) throws -> (result: HarnessResult, progress: LostProgress) {
        var progress = LostProgress()
        var result = HarnessResult(name: settings.name)
        let checker = try StateChecker(exploration, scratch: scratch)
        var walk = try CrashWalk(exploration, settings)
        var number = 0
        while let states = try walk.next() {
            for state in states {
                number += 1
                guard settings.checks, number % max(1, settings.jobs) == worker else { continue }
                try check(state, checker, exploration, &result, &progress)
                if settings.stopsAtFailure, !result.isClean { return (result, progress) }
            }
        }
        if worker == 0 {
            result.tried = walk.tried
            result.repeated = walk.tried - number
            result.details["operations"] = exploration.trace.operations.count
            result.details["crash points"] = walk.points
        }
        return (result, progress)
    }

    private func check(
        _ state: CrashState, _ checker: StateChecker, _ exploration: Exploration, _ result: inout HarnessResult,
        _ progress: inout LostProgress
    ) throws {
        let mustBeNew = state.point >= exploration.success
        let finding = try checker.check(state, mustBeNew: mustBeNew)
        switch finding.view {
        case .old: result.count("seen old")
        case .new: result.count("seen new")
        case .broken: result.count("seen broken")
        }
        if mustBeNew { result.count("after success") }
        if let outcome = finding.outcome {
            result.count(outcome.wasSwapped ? "cleaned up" : outcome.resumed == nil ? "no rows taken up" : "resumed")
            // After a failed fsync all work is discarded, so that the crash isn't the cause of the loss. A rename that
            // isn't atomic may leave the new store without a name, and then it must be made again.
            let isNamed = finding.view == .new || state.hasStaging
            if settings.work.fault == nil, !settings.splitsRenames || isNamed { progress.note(state, finding.takenUp) }
        }
        guard !finding.faults.isEmpty else {
            result.survived += 1
            return
        }
        result.rowsLost += finding.rowsLost
        result.fail("\(finding.faults.joined(separator: "; ")) [\(settings.replay(state.label))]")
    }
}
