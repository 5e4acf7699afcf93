import CausewayReliabilityKit
import Testing

/// A harness's run in a test: the quick subset's settings, in a folder that is removed afterwards.
struct HarnessRun {
    private let folder: ScratchFolder
    let settings: HarnessSettings

    init(scale: Double = 1, seed: UInt64 = 1) throws {
        folder = try ScratchFolder()
        settings = HarnessSettings(
            seed: seed, threads: 2, isQuick: true, scale: scale, binaries: Package.buildFolder, scratch: folder.path)
    }

    func remove() { folder.remove() }

    /// Runs a harness by name and expects that it tried something and nothing failed.
    static func expectClean(_ name: String, atLeast count: Int, scale: Double = 1) throws {
        let run = try HarnessRun(scale: scale)
        defer { run.remove() }
        let harness = try #require(Harness.named(name))
        let report = harness.run(run.settings)
        for failure in report.result.failures { Issue.record("\(name): \(failure)") }
        for reason in report.skipped { print("skipped: \(reason)") }
        #expect(report.result.failed == 0)
        #expect(report.result.rowsLost == 0)
        if report.skipped.isEmpty { #expect(report.result.tried >= count) }
    }
}
