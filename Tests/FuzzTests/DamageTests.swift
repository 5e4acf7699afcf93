import CausewayFuzzTargets
import Foundation
import Testing

private enum BuiltTool {
    /// The command beside the test bundle; `swift build --build-tests` builds it too.
    static let command: String? = {
        let executable =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            ?? CommandLine.arguments[0]
        let folder = URL(fileURLWithPath: executable).deletingLastPathComponent()
        return ["causeway", "CausewayMain"].map { folder.appendingPathComponent($0).path }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }()
}

/// The quick subset of harness 7; `swift run reliability --full` runs all of it.
@Suite(
    "Hostile and damaged input", .timeLimit(.minutes(60)),
    .enabled(if: BuiltTool.command != nil, "the causeway executable isn't built"))
struct DamageTests {
    private func harness() throws -> DamageHarness {
        DamageHarness(
            command: try #require(BuiltTool.command), folder: FileManager.default.temporaryDirectory.path)
    }

    @Test("hostile input is bounded, and refused with its exit code", arguments: DamageHarness.hostileInputs)
    func hostile(name: String) throws {
        let result = try harness().hostile([name])
        #expect(result.tried == 1)
        #expect(result.failures == [])
    }

    @Test("a damaged store is refused untouched, or every row that SQLite reads from it arrives")
    func damaged() throws {
        let result = try harness().damagedFixtures(
            Corpus.package.appendingPathComponent("Fixtures").path, histories: ["Orchard", "Kennel"], variants: 16,
            seed: 1)
        #expect(result.tried == 32)
        #expect(result.survived == 32)
        #expect(result.copiedFaithfully > 0)
        #expect(result.failures == [])
    }

    @Test("every damaged checkpoint is refused")
    func checkpoints() throws {
        let result = try DamageHarness.damagedCheckpoints(seed: 1, stride: 23)
        #expect(result.tried > 500)
        #expect(result.survived == result.tried)
        #expect(result.failures == [])
    }
}
