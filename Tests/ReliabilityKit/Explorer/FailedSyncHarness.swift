internal import CausewayPlatform
internal import CausewayPreparation
internal import Foundation

/// A failed fsync together with a power cut: the Nth fsync of a run fails, and every state that a crash may leave of
/// this run is tried. The data of the failed fsync never reach the disk: a second fsync only reports success
/// (InsideCrashSafety §2.2).
struct FailedSyncHarness {
    static let name = "failed-syncs"

    private let settings: HarnessSettings

    init(_ settings: HarnessSettings) {
        self.settings = settings
    }

    /// States that are checked in one run, approximately.
    private static let statesPerRun = 60
    /// Fsyncs of a run that are tried in the quick subset.
    private static let quickSyncs = 3.0
    /// In the full run every nth fsync is tried.
    private static let everyNth = 3.0

    /// - Throws: if the harness itself can't work.
    func run() throws -> HarnessReport {
        var sum = HarnessResult(name: Self.name)
        let all = Subject.Chain.allCases
        let chain = all[Int((settings.seed + 1) % UInt64(all.count))]
        let subjects =
            settings.isQuick
            ? settings.engines.map { Subject($0 == .pages ? .inferred : chain, engine: $0, seed: settings.seed) }
            : Subject.all(on: settings.engines, seed: settings.seed)
        let intervals = settings.isQuick ? [0] : [0, Trial.Habits.uncommitted]
        for (subject, interval) in subjects.flatMap({ subject in intervals.map { (subject, $0) } }) {
            let course = try course(of: subject, interval)
            for number in numbers(of: course.counts.syncs, pages: course.trace.callsAmongPages(of: .sync) ?? []) {
                if settings.stopsAtFailure, !sum.isClean { break }
                var explorer = CrashExplorer.Settings(subject)
                explorer.jobs = settings.threads
                explorer.work.checkpointInterval = interval
                explorer.work.fault = "\(FaultMode.sync.rawValue):\(number)"
                explorer.work.mutant = ProcessInfo.processInfo.environment["CAUSEWAY_MUTANT"]
                explorer.budget = Self.statesPerRun
                explorer.swapStride = settings.isQuick ? 5 : 2
                explorer.statesPerPoint = settings.isQuick ? 2 : 4
                explorer.stopsAtFailure = settings.stopsAtFailure
                sum.add(try CrashExplorer(explorer).run())
                sum.count("failed fsyncs")
            }
        }
        return HarnessReport(result: sum)
    }

    /// The fsyncs that are tried, from 1. They include the last ones, which belong to the swap. The quick subset tries
    /// only those among pages, where there are any: the others are the same for both engines.
    private func numbers(of total: Int, pages: [Int]) -> [Int] {
        if settings.isQuick, !pages.isEmpty {
            let wanted = max(1, min(pages.count, Int((Self.quickSyncs * settings.scale).rounded())))
            return (0..<wanted).map { pages[($0 * pages.count + pages.count / 2) / wanted] }
        }
        let step =
            settings.isQuick
            ? max(1, Double(total) / (Self.quickSyncs * settings.scale)) : Self.everyNth / settings.scale
        let offset = Double(settings.seed % UInt64(max(1, Int(step))))
        return Set(stride(from: 1 + offset, through: Double(total), by: max(1, step)).map { Int($0) }).sorted()
    }

    /// An undisturbed run, traced.
    private func course(of subject: Subject, _ interval: Double) throws -> ShimmedCommand.Ending {
        let folder = try ScratchFolder(in: nil)
        defer { folder.remove() }
        let data = folder.path + "/data"
        try Files.makeDirectory(data)
        try subject.makeStore(in: data)
        var command = ShimmedCommand(
            try subject.executable,
            subject.arguments(store: data + "/" + Subject.storeName, checkpointInterval: interval), root: data,
            scratch: folder.path + "/shim")
        command.traces = true
        let ending = try command.run()
        guard ending.status == 0 else {
            throw HarnessError("\(subject): the undisturbed run ends with \(ending.status): \(ending.errors)")
        }
        return ending
    }
}
