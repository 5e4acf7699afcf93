import CausewayGeneration
import CausewayModel
import CausewayStoreFormat
import Foundation
import Testing

@Suite("Streaming of many rows", .timeLimit(.minutes(60)))
struct StreamingTests {
    /// MiB: 64 of page cache, the sorter's memory, the allocator's overhead. Keeping the rows would take 200.
    private static let bound = 150

    @Test("200,000 rows need no more memory than the page cache and the sorter of an index")
    func bounded() async throws {
        // In a process of its own: other suites use memory of this one.
        await #expect(processExitsWith: .success) {
            let folder = try GeneratedStore.makeFolder()
            defer { try? FileManager.default.removeItem(at: folder) }
            let layout = try StoreLayout(model: try ModelCase.fixture("Orchard/v2"), frameworkVersion: 1526)
            let before = Self.peakMebibytes()
            let generator = try StoreGenerator(
                layout: layout, options: GenerationOptions(rows: 200_000, seed: 1, rowsPerExternalFile: 20_000))
            var reports = 0
            try generator.generate(at: folder.appendingPathComponent("S.sqlite").path) { _ in
                reports += 1
                return true
            }
            #expect(reports > 12)
            if let before, let after = Self.peakMebibytes() { #expect(after - before < Self.bound) }
        }
    }

    /// The peak resident memory of this process; nil without /proc.
    private static func peakMebibytes() -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 / 1_024 }
    }
}
