internal import CausewayPlatform

/// Harness 5, second part: SQLite's Nth allocation fails, only once or from then on. The run says so, the store is
/// sound, and the next run succeeds.
package struct MemoryHarness: Sendable {
    package static let name = "memory"

    private let settings: HarnessSettings

    package init(_ settings: HarnessSettings) {
        self.settings = settings
    }

    /// 74: resumable. 73: the work directory's own checks. Other codes would tell the user to fix the store or the
    /// models.
    private static let allowed: Set<Int32> = [0, 73, 74]

    /// Runs the points.
    ///
    /// - Throws: if the harness itself can't work.
    package func run() throws -> Tally {
        let tally = Tally(Self.name)
        #if !os(Linux)
            tally.skip("\(Self.name): the fault library is Linux's")
            return tally
        #else
            let folder = try settings.makeFolder(Self.name)
            let all = settings.subjects
            let chosen = settings.isQuick ? [all[Int((settings.seed + 1) % UInt64(all.count))]] : all
            let subjects = try TrialSubject.make(chosen, settings: settings, folder: folder)
            for subject in subjects {
                let allocations = try count(subject)
                let points = settings.rounds(quick: 24, full: 1_200)
                var random = SeededRandom(seed: settings.seed, harness: Self.name, case: 0)
                let first = UInt64.random(in: 0..<max(1, allocations / UInt64(points)), using: &random)
                try ParallelCases.run(limit: points, threads: settings.threads) { index in
                    // Even points fail once, odd ones from then on.
                    let number = 1 + first + UInt64(index) * allocations / UInt64(points)
                    run(subject, "\(number)" + (index % 2 == 0 ? "" : "+"), tally)
                    return settings.goesOn(tally)
                }
            }
            settings.dispose(folder, failed: !tally.result.isClean)
            return tally
        #endif
    }

    private func environment(_ number: String, _ folder: String) -> [String: String] {
        [
            "LD_PRELOAD": settings.faultShim, "CAUSEWAY_FAULT_MALLOC": number,
            "CAUSEWAY_FAULT_MALLOC_COUNT": folder + "/allocations",
        ]
    }

    /// Allocations of an undisturbed run.
    private func count(_ subject: TrialSubject) throws -> UInt64 {
        let folder = try settings.makeFolder("memory/\(subject.subject.name)-count")
        var trial = try Trial(subject, folder: folder)
        let ending = try trial.run(environment: environment("0", folder))
        let counts = try FaultRecords.allocations(folder + "/allocations")
        guard ending == .exited(0), counts.made > 0 else {
            throw HarnessError("memory: the counting run: \(ending), \(counts.made) allocations")
        }
        return counts.made
    }

    private func run(_ subject: TrialSubject, _ number: String, _ tally: Tally) {
        let label = "allocation \(number)"
        do {
            let chain = subject.subject.name
            let folder = try settings.makeFolder("memory/\(chain)-\(number)")
            var trial = try Trial(subject, folder: folder)
            let ending = try trial.run(environment: environment(number, folder))
            let held = tally.judgeWhereTried(label, kind: chain) {
                // Because of threads, the last allocations may come in another order, or not at all.
                guard try FaultRecords.allocations(folder + "/allocations").fired > 0 else {
                    guard ending == .exited(0) else { throw trial.failure("no allocation failed, and yet \(ending)") }
                    return false
                }
                guard case .exited(let code) = ending, Self.allowed.contains(code) else {
                    throw trial.failure("\(ending): \(ChildRun.tail(of: folder + "/run.txt", bytes: 600))")
                }
                if code == 0 { tally.count("lived through") }
                try trial.requireOldOrNew(after: ending)
                try trial.settle()
                return true
            }
            settings.dispose(folder, failed: !held)
        } catch {
            tally.failed("\(label): \(error)")
        }
    }
}
