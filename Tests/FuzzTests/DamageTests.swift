import CausewayFuzzTargets
import Foundation
import Testing

private enum BuiltTool {
    /// Beside the test bundle; `swift build --build-tests` builds it too.
    static let command: String? = {
        let executable =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            ?? CommandLine.arguments[0]
        let folder = URL(fileURLWithPath: executable).deletingLastPathComponent()
        return ["causeway", "CausewayMain"].map { folder.appendingPathComponent($0).path }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }()
}

/// The quick subset of harness 7; `swift run reliability` runs all of it.
@Suite("Hostile and damaged input", .enabled(if: BuiltTool.command != nil, "the causeway executable isn't built"))
struct DamageTests {
    private static let orchard = Corpus.package.appendingPathComponent("Fixtures/Orchard")

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
        let subject = DamageHarness.Subject(
            store: Self.orchard.appendingPathComponent("Orchard-v1.sqlite").path,
            models: Self.orchard.appendingPathComponent("Orchard.xcdatamodeld").path, target: "v2")
        let result = try harness().damagedStores([subject], variants: 33, seed: 1)
        #expect(result.tried == 33)
        #expect(result.refused + result.copiedFaithfully == 33)
        #expect(result.failures == [])
    }
}
