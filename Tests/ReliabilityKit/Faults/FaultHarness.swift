internal import CausewayPlatform

/// Harness 2: the Nth call fails, for N = 1, 2, 3… until nothing fires; the run is looked at, run again without faults,
/// and compared.
package struct FaultHarness: Sendable {
    package static let name = "faults"

    private let settings: HarnessSettings
    private let modes: [FaultMode]
    private let chains: [Subject.Chain]
    private let density: Density

    /// Which calls of a run are made to fail.
    package struct Density: Sendable {
        /// Calls at the beginning and at the end, where nearly every call is another step of the protocol.
        package var edge: Int
        /// Every how many calls there.
        package var fine: Int
        /// Every how many calls in between, where batch follows batch.
        package var coarse: Int

        /// Every call.
        package static let all = Density(edge: 0, fine: 1, coarse: 1)
        /// Primes: they meet every place of a batch's cycle of calls in turn.
        static let full = Density(edge: 60, fine: 1, coarse: 31)
        static let quick = Density(edge: 150, fine: 47, coarse: 331)

        func scaled(by scale: Double) -> Density {
            Density(
                edge: edge, fine: max(1, Int((Double(fine) / scale).rounded())),
                coarse: max(1, Int((Double(coarse) / scale).rounded())))
        }

        /// The calls among `total`, from 1; `offset` moves them, so that runs with other seeds meet others.
        package func calls(of total: Int, offset: Int) -> [Int] {
            (0..<max(0, total)).filter { call in
                let step = call < edge || call >= total - edge ? fine : coarse
                return (call + offset) % step == 0
            }.map { $0 + 1 }
        }
    }

    /// - Parameters:
    ///   - settings: seed, threads, folders.
    ///   - modes: nil is all of them.
    ///   - chains: nil is all of them, or one that changes with the seed in the quick subset.
    ///   - density: nil follows from the settings.
    package init(
        _ settings: HarnessSettings, modes: [FaultMode]? = nil, chains: [Subject.Chain]? = nil, density: Density? = nil
    ) {
        self.settings = settings
        self.modes = modes ?? FaultMode.allCases
        let all = Subject.Chain.allCases
        self.chains = chains ?? (settings.isQuick ? [all[Int(settings.seed % UInt64(all.count))]] : all)
        self.density = density ?? (settings.isQuick ? Density.quick : .full).scaled(by: settings.scale)
    }

    /// Calls after the last that a counting run made: threads may make a few more. One of them doesn't fire.
    private static let callsBeyond = 1_000

    /// Runs every mode until nothing fires.
    ///
    /// - Throws: when the harness itself can't work.
    package func run() throws -> Tally {
        let tally = Tally(Self.name)
        let folder = try settings.makeFolder(Self.name)
        let subjects = try TrialSubject.make(
            chains.map { Subject($0, seed: settings.seed) }, settings: settings, folder: folder)
        for subject in subjects {
            let totals = try count(subject)
            for mode in modes where settings.goesOn(tally) {
                var random = SeededRandom(seed: settings.seed, harness: mode.rawValue, case: 0)
                let total = totals.calls(of: mode)
                let calls = density.calls(of: total, offset: Int.random(in: 0..<1_000, using: &random))
                try ParallelCases.run(limit: calls.count, threads: settings.threads) { index in
                    _ = run(subject, mode, calls[index], tally)
                    return settings.goesOn(tally)
                }
                try ParallelCases.run(limit: Self.callsBeyond, threads: 1) { index in
                    run(subject, mode, total + 1 + index, tally) && settings.goesOn(tally)
                }
            }
        }
        try FolderTree.remove(folder)
        return tally
    }

    /// The calls that an undisturbed run makes.
    private func count(_ subject: TrialSubject) throws -> FaultRecords.Totals {
        let folder = try settings.makeFolder("\(Self.name)/\(subject.subject.chain.rawValue)-count")
        var trial = try Trial(subject, folder: folder)
        let counts = folder + "/counts"
        let ending = try trial.run(environment: [
            "LD_PRELOAD": settings.faultShim, "CAUSEWAY_FAULT_ROOT": trial.data, "CAUSEWAY_FAULT_COUNT": counts,
        ])
        guard ending == .exited(0) else { throw HarnessError("faults: the counting run ended with \(ending)") }
        return try FaultRecords.totals(counts)
    }

    /// Runs one point.
    ///
    /// - Returns: whether the fault fired; the next one can't where this one didn't.
    private func run(_ subject: TrialSubject, _ mode: FaultMode, _ number: Int, _ tally: Tally) -> Bool {
        let label = "\(mode.rawValue):\(number)"
        let folder: String
        var trial: Trial
        do {
            folder = try settings.makeFolder(
                "\(Self.name)/\(subject.subject.chain.rawValue)-\(mode.rawValue)-\(number)")
            trial = try Trial(subject, folder: folder)
        } catch {
            tally.failed("\(label): \(error)")
            return false
        }
        var hasFired = true
        let held = judge(label, mode, tally) {
            hasFired = try disturb(&trial, mode, number)
            if hasFired { try trial.settle() }
            return hasFired
        }
        settings.dispose(folder, failed: !held)
        return hasFired
    }

    /// Counts a point only where the fault fired.
    private func judge(_ label: String, _ mode: FaultMode, _ tally: Tally, _ body: () throws -> Bool) -> Bool {
        do {
            if try body() { tally.survived(mode.rawValue) }
            return true
        } catch {
            return tally.judge(label, kind: mode.rawValue) { throw error }
        }
    }

    private func disturb(_ trial: inout Trial, _ mode: FaultMode, _ number: Int) throws -> Bool {
        let counts = trial.folder + "/counts"
        let trace = trial.folder + "/trace"
        var environment = [
            "LD_PRELOAD": settings.faultShim, "CAUSEWAY_FAULT_ROOT": trial.data, "CAUSEWAY_FAULT_COUNT": counts,
            "CAUSEWAY_FAULT_MODE": "\(mode.rawValue):\(number)",
        ]
        if mode.isSync { environment["CAUSEWAY_FAULT_TRACE"] = trace }
        let ending = try trial.run(environment: environment)
        guard try FaultRecords.fired(counts) > 0 else {
            guard ending == .exited(0) else { throw trial.failure("no fault fired, and yet \(ending)") }
            return false
        }
        guard mode.allows(ending) else {
            throw trial.failure("\(ending): \(ChildRun.tail(of: trial.folder + "/run.txt", bytes: 600))")
        }
        try trial.requireOldOrNew(after: ending)
        if mode.isSync { try requireCondemned(try FaultRecords.filesNotSynced(trace), trial) }
        return true
    }

    /// After a failed fsync nobody knows what of the file is on the disk, and asking again gets a yes: it must be gone.
    private func requireCondemned(_ files: Set<UInt64>, _ trial: Trial) throws {
        guard try Files.exists(trial.workDirectory) else { return }
        for name in try Files.list(trial.workDirectory) where name.hasPrefix("step-") && name.hasSuffix(".sqlite") {
            let status = try Files.linkStatus(of: trial.workDirectory + "/" + name)
            if files.contains(status.inode) {
                throw trial.failure("\(name) is still there, although its fsync failed")
            }
        }
    }
}
