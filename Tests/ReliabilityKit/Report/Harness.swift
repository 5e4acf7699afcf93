internal import CausewayPlatform
internal import CausewayPreparation
internal import Foundation

/// A harness by the name that `reliability --only` takes.
package struct Harness: Sendable {
    package let name: String
    /// What it does to the migration, in one line.
    package let purpose: String
    private let body: @Sendable (HarnessSettings) throws -> HarnessReport

    package init(
        _ name: String, _ purpose: String, _ body: @escaping @Sendable (HarnessSettings) throws -> HarnessReport
    ) {
        self.name = name
        self.purpose = purpose
        self.body = body
    }

    /// Runs it and measures the time. A harness that couldn't work counts as failed, and the others continue.
    package func run(_ settings: HarnessSettings) -> HarnessReport {
        let started = MonotonicClock.seconds()
        var report: HarnessReport
        do {
            report = try body(settings)
        } catch {
            report = HarnessReport(name, breakdown: error)
        }
        report.seconds = MonotonicClock.seconds() - started
        return report
    }

    /// All of them, the quickest to fail first.
    package static let all: [Harness] = [
        Harness(KillPointHarness.name, "SIGKILL at every named place of the protocol") {
            HarnessReport(try KillPointHarness($0).run())
        },
        Harness("explorer", "every crash point of a run × what of it may be on the disk") { try explore($0) },
        Harness("swap", "the swap: every subset of what isn't durable, renames not atomic") { try exploreSwap($0) },
        Harness(FailedSyncHarness.name, "the Nth fsync fails, and the power is cut after it") {
            try FailedSyncHarness($0).run()
        },
        Harness(FaultHarness.name, "the Nth call fails: I/O error, full disk, fsync, torn write, no descriptor") {
            HarnessReport(try FaultHarness($0).run())
        },
        Harness(ChangeHarness.name, "source, plan or progress are changed between two runs") {
            HarnessReport(try ChangeHarness($0).run())
        },
        Harness(RandomKillHarness.name, "SIGKILL at random moments, other batch sizes and workers at each restart") {
            HarnessReport(try RandomKillHarness($0).run())
        },
        Harness(SignalHarness.name, "SIGINT, SIGTERM, twice, SIGUSR1, SIGPIPE and SIGXFSZ") {
            HarnessReport(try SignalHarness($0).run())
        },
        Harness(ConcurrencyHarness.name, "writers and readers on the store, two migrators at once") {
            HarnessReport(try ConcurrencyHarness($0).run())
        },
        Harness(MemoryHarness.name, "the Nth allocation of SQLite's fails, once or from then on") {
            HarnessReport(try MemoryHarness($0).run())
        },
        Harness(DiskSizeHarness.name, "disks of many sizes, disks that fill up meanwhile") {
            HarnessReport(try DiskSizeHarness($0).run())
        },
        Harness(PowerCutHarness.name, "real power cuts on ext4 and XFS") {
            HarnessReport(try PowerCutHarness($0).run())
        },
        Harness(MutantHarness.name, "deliberate breaks of the protocol: each must be caught") {
            HarnessReport(try MutantHarness($0).run())
        },
    ]

    /// The harness of that name.
    package static func named(_ name: String) -> Harness? { all.first { $0.name == name } }

    /// States that the quick subset checks; the full run has no such limit.
    private static let quickStates = 400.0
    /// In the quick subset every nth crash point among the pages is tried.
    private static let quickPageStride = 4.0

    private static func explore(_ settings: HarnessSettings) throws -> HarnessReport {
        let all = Subject.Chain.allCases
        let chain = all[Int((settings.seed + 2) % UInt64(all.count))]
        let subjects =
            settings.isQuick
            // One chain by statements, and the one with batches of pages.
            ? settings.engines.map { Subject($0 == .pages ? .inferred : chain, engine: $0, seed: settings.seed) }
            : Subject.all(on: settings.engines, seed: settings.seed)
        return try explore(
            subjects, "explorer", settings, intervals: settings.isQuick ? [0] : [0, Trial.Habits.uncommitted]
        ) { explorer in
            if settings.isQuick, explorer.subject.engine == .pages {
                explorer.isAmongPages = true
                explorer.stride = max(1, Int((quickPageStride / settings.scale).rounded()))
                return
            }
            if settings.isQuick {
                explorer.budget = Int(quickStates * settings.scale)
            } else {
                // Every crash point before the swap is tried; a scale below 1 leaves some out.
                explorer.stride = max(1, Int((1 / settings.scale).rounded()))
            }
        }
    }

    private static func exploreSwap(_ settings: HarnessSettings) throws -> HarnessReport {
        // No engine is at work any more.
        let chains = settings.isQuick ? [Subject.Chain.inferred] : Subject.Chain.allCases
        let subjects = Subject.all(chains, on: [settings.engines[0]], seed: settings.seed)
        return try explore(subjects, "swap", settings) { explorer in
            explorer.isExhaustiveSwap = true
            explorer.splitsRenames = true
            if settings.isQuick { explorer.budget = Int(quickStates * settings.scale) }
        }
    }

    private static func explore(
        _ subjects: [Subject], _ name: String, _ settings: HarnessSettings, intervals: [Double] = [0],
        _ adjust: (inout CrashExplorer.Settings) -> Void
    ) throws -> HarnessReport {
        var sum = HarnessResult(name: name)
        for (subject, interval) in subjects.flatMap({ subject in intervals.map { (subject, $0) } }) {
            var explorer = CrashExplorer.Settings(subject)
            explorer.work.checkpointInterval = interval
            explorer.jobs = settings.threads
            explorer.stopsAtFailure = settings.stopsAtFailure
            // A mutant is traced as it is: it may fail.
            explorer.work.mutant = ProcessInfo.processInfo.environment["CAUSEWAY_MUTANT"]
            adjust(&explorer)
            sum.add(try CrashExplorer(explorer).run())
        }
        return HarnessReport(result: sum)
    }
}
