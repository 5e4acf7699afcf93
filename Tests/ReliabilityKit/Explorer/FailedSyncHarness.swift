internal import CausewayPlatform
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
        let chains = settings.isQuick ? [all[Int((settings.seed + 1) % UInt64(all.count))]] : all
        for chain in chains {
            let subject = Subject(chain, seed: settings.seed)
            for number in numbers(of: try syncs(of: subject)) {
                if settings.stopsAtFailure, !sum.isClean { break }
                var explorer = CrashExplorer.Settings(subject)
                explorer.jobs = settings.threads
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

    /// The fsyncs that are tried, from 1. They include the last ones, which belong to the swap.
    private func numbers(of total: Int) -> [Int] {
        let step =
            settings.isQuick
            ? max(1, Double(total) / (Self.quickSyncs * settings.scale)) : Self.everyNth / settings.scale
        let offset = Double(settings.seed % UInt64(max(1, Int(step))))
        return Set(stride(from: 1 + offset, through: Double(total), by: max(1, step)).map { Int($0) }).sorted()
    }

    /// The number of fsyncs of an undisturbed run.
    private func syncs(of subject: Subject) throws -> Int {
        let folder = try ScratchFolder(in: nil)
        defer { folder.remove() }
        let data = folder.path + "/data"
        try Files.makeDirectory(data)
        try subject.makeStore(in: data)
        let command = ShimmedCommand(
            try subject.executable, subject.arguments(store: data + "/" + Subject.storeName), root: data,
            scratch: folder.path + "/shim")
        let ending = try command.run()
        guard ending.status == 0 else {
            throw HarnessError("\(subject): the undisturbed run ends with \(ending.status): \(ending.errors)")
        }
        return ending.counts.syncs
    }
}
