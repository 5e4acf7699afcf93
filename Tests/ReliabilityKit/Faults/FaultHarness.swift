internal import CausewayPlatform
internal import CausewayPreparation

/// Harness 2: the Nth call fails, for N = 1, 2, 3… until no fault fires. Each run is checked, run again without faults,
/// and compared.
package struct FaultHarness: Sendable {
    package static let name = "faults"

    private let settings: HarnessSettings
    private let modes: [FaultMode]
    private let subjects: [Subject]
    private let density: Density
    /// Whether every call of one chain is tried.
    private let isWhole: Bool

    /// Which calls of a run are made to fail.
    package struct Density: Sendable {
        /// Calls at the beginning and at the end, where nearly every call is a different step of the protocol.
        package var edge: Int
        /// At the edges, every nth call is tried.
        package var fine: Int
        /// Between the edges, where batches repeat, every nth call is tried.
        package var coarse: Int

        /// Every call.
        package static let all = Density(edge: 0, fine: 1, coarse: 1)
        /// Prime numbers: over time they reach every call of a batch's cycle.
        static let full = Density(edge: 60, fine: 1, coarse: 31)
        static let quick = Density(edge: 150, fine: 47, coarse: 331)

        func scaled(by scale: Double) -> Density {
            Density(
                edge: edge, fine: max(1, Int((Double(fine) / scale).rounded())),
                coarse: max(1, Int((Double(coarse) / scale).rounded())))
        }

        /// The numbers of the calls that are tried among `total`, from 1. `offset` shifts them, so that other seeds try
        /// other calls.
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
    ///   - chains: nil is all of them, or in the quick subset one that depends on the seed.
    ///   - density: nil depends on the settings; the full run tries every call of one chain.
    package init(
        _ settings: HarnessSettings, modes: [FaultMode]? = nil, chains: [Subject.Chain]? = nil, density: Density? = nil
    ) {
        self.settings = settings
        self.modes = modes ?? FaultMode.allCases
        let all = Subject.Chain.allCases
        if let chains {
            subjects = Subject.all(chains, on: settings.engines, seed: settings.seed)
        } else if settings.isQuick {
            let chain = all[Int(settings.seed % UInt64(all.count))]
            subjects = settings.engines.map {
                Subject($0 == .pages ? .inferred : chain, engine: $0, seed: settings.seed)
            }
        } else {
            subjects = Subject.all(on: settings.engines, seed: settings.seed)
        }
        self.density = density ?? (settings.isQuick ? Density.quick : .full).scaled(by: settings.scale)
        isWhole = density == nil && !settings.isQuick
    }

    /// Bytes of a trace.
    private static let traceLimit = 1 << 30
    /// Calls that are tried beyond the last one that was counted: threads may make a few more. The fault must not fire
    /// at one of them.
    private static let callsBeyond = 1_000
    /// Chains of which one has every call tried: the chains with the fewest calls.
    private static let wholeChains: [Subject.Chain] = [.split, .staged]

    /// A subject as it is run here, with the number of calls that an undisturbed run makes.
    private struct Course: Sendable {
        let subject: TrialSubject
        let habits: Trial.Habits
        let totals: FaultRecords.Totals
        /// The calls among pages, by mode.
        var pages: [FaultMode: [Int]] = [:]

        var name: String {
            "\(subject.subject.name)\(habits.checkpointInterval > 0 ? " without commits" : "")"
        }
    }

    /// Runs every mode until no fault fires.
    ///
    /// - Throws: if the harness itself can't work.
    package func run() throws -> Tally {
        let tally = Tally(Self.name)
        let folder = try settings.makeFolder(Self.name)
        let subjects = try TrialSubject.make(
            self.subjects, settings: settings, folder: folder)
        let courses = try subjects.flatMap { subject in
            try Self.habits(for: subject.subject.chain).map { try course(subject, $0) }
        }
        let whole = courses.filter { Self.wholeChains.contains($0.subject.subject.chain) }
            .min { $0.totals.mutating < $1.totals.mutating }?.name
        for course in courses {
            let isWhole = isWhole && course.name == whole
            for mode in modes where settings.goesOn(tally) {
                try run(course, mode, isWhole ? Density.all.scaled(by: settings.scale) : density, tally)
            }
        }
        settings.dispose(folder, failed: !tally.result.isClean)
        return tally
    }

    /// How runs commit. Where associations wait for a commit, also with no commit until the end of a run.
    private static func habits(for chain: Subject.Chain) -> [Trial.Habits] {
        var habits = [Trial.Habits()]
        if chain == .merged {
            habits.append(Trial.Habits())
            habits[1].checkpointInterval = Trial.Habits.uncommitted
        }
        return habits
    }

    /// Tries a mode at the calls that the density chooses, and beyond the last one. The details count them.
    private func run(_ course: Course, _ mode: FaultMode, _ density: Density, _ tally: Tally) throws {
        var random = SeededRandom(seed: settings.seed, harness: mode.rawValue, case: 0)
        let total = course.totals.calls(of: mode)
        let offset = Int.random(in: 0..<1_000, using: &random)
        let calls = Self.merged(density.calls(of: total, offset: offset), pageCalls(of: course, mode, offset))
        tally.count("calls of a run", total)
        tally.count("calls of a run, \(course.name)", total)
        tally.count("calls tried, \(course.name)", calls.count)
        try ParallelCases.run(limit: calls.count, threads: settings.threads) { index in
            _ = run(course, mode, calls[index], tally)
            return settings.goesOn(tally)
        }
        try ParallelCases.run(limit: Self.callsBeyond, threads: 1) { index in
            run(course, mode, total + 1 + index, tally) && settings.goesOn(tally)
        }
    }

    /// The calls among pages that are tried: all of them, in the quick subset some.
    private func pageCalls(of course: Course, _ mode: FaultMode, _ offset: Int) -> [Int] {
        let calls = course.pages[mode] ?? []
        let step = settings.isQuick ? max(1, calls.count / Self.quickPageCalls) : 1
        return calls.enumerated().filter { ($0.offset + offset) % step == 0 }.map(\.element)
    }

    /// In the quick subset, calls among pages a mode, about.
    private static let quickPageCalls = 3

    private static func merged(_ one: [Int], _ other: [Int]) -> [Int] { Set(one).union(other).sorted() }

    private func folder(_ course: Course, _ name: String) throws -> String {
        let chain = course.name.replacing(" ", with: "-")
        return try settings.makeFolder("\(Self.name)/\(chain)-\(name)")
    }

    /// Counts the calls that an undisturbed run makes.
    private func course(_ subject: TrialSubject, _ habits: Trial.Habits) throws -> Course {
        let none = FaultRecords.Totals(mutating: 0, takingRoom: 0, syncs: 0, opens: 0, reads: 0)
        let folder = try folder(Course(subject: subject, habits: habits, totals: none), "count")
        var trial = try Trial(subject, folder: folder)
        let (counts, trace) = (folder + "/counts", folder + "/trace")
        let ending = try trial.run(
            environment: [
                "LD_PRELOAD": settings.faultShim, "CAUSEWAY_FAULT_ROOT": trial.data, "CAUSEWAY_FAULT_COUNT": counts,
                "CAUSEWAY_FAULT_TRACE": trace,
            ], habits: habits)
        guard ending == .exited(0) else { throw HarnessError("faults: the counting run ended with \(ending)") }
        var course = Course(subject: subject, habits: habits, totals: try FaultRecords.totals(counts))
        let operations = try Trace(Files.readFile(trace, limit: Self.traceLimit))
        for mode in modes { course.pages[mode] = operations.callsAmongPages(of: mode) }
        return course
    }

    /// Runs one point.
    ///
    /// - Returns: whether the fault fired; if not, no later one can.
    private func run(_ course: Course, _ mode: FaultMode, _ number: Int, _ tally: Tally) -> Bool {
        let label = "\(mode.rawValue):\(number)"
        let folder: String
        var trial: Trial
        do {
            folder = try self.folder(course, "\(mode.rawValue)-\(number)")
            trial = try Trial(course.subject, folder: folder)
        } catch {
            tally.failed("\(label): \(error)")
            return false
        }
        var hasFired = true
        let held = tally.judgeWhereTried(label, kind: mode.rawValue) {
            hasFired = try disturb(&trial, course.habits, mode, number)
            if hasFired { try trial.settle() }
            return hasFired
        }
        settings.dispose(folder, failed: !held)
        return hasFired
    }

    private func disturb(
        _ trial: inout Trial, _ habits: Trial.Habits, _ mode: FaultMode, _ number: Int
    ) throws -> Bool {
        let counts = trial.folder + "/counts"
        let trace = trial.folder + "/trace"
        var environment = [
            "LD_PRELOAD": settings.faultShim, "CAUSEWAY_FAULT_ROOT": trial.data, "CAUSEWAY_FAULT_COUNT": counts,
            "CAUSEWAY_FAULT_MODE": "\(mode.rawValue):\(number)",
        ]
        if mode.isSync { environment["CAUSEWAY_FAULT_TRACE"] = trace }
        let ending = try trial.run(environment: environment, habits: habits)
        guard try FaultRecords.fired(counts) > 0 else {
            guard ending == .exited(0) else { throw trial.failure("no fault fired, and yet \(ending)") }
            return false
        }
        guard mode.allows(ending) else {
            throw trial.failure("\(ending): \(ChildRun.tail(of: trial.folder + "/run.txt", bytes: 600))")
        }
        try trial.requireOldOrNew(after: ending)
        if mode.isSync {
            let record = try SyncRecord(trace: trace, store: trial.store)
            if let fault = try record.fault(after: ending, data: trial.data, work: trial.workDirectory) {
                throw trial.failure(fault)
            }
        }
        return true
    }
}
