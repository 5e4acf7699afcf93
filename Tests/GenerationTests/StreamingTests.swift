import CausewayGeneration
import CausewayModel
import CausewayStoreFormat
import Foundation
import Testing

@Suite("Streaming of many rows", .serialized)
struct StreamingTests {
    @Test("200,000 rows need no more memory than the page cache and the sorter of an index")
    func bounded() throws {
        let folder = try GeneratedStore.makeFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let layout = try StoreLayout(model: try ModelCase.fixture("Orchard/v2"), frameworkVersion: 1526)
        let generator = try StoreGenerator(
            layout: layout, options: GenerationOptions(rows: 200_000, seed: 1, rowsPerExternalFile: 20_000))
        var least = Int.max
        var most = 0
        var reports = 0
        try generator.generate(at: folder.appendingPathComponent("S.sqlite").path) { progress in
            reports += 1
            if let memory = residentBytes() {
                least = min(least, memory)
                most = max(most, memory)
            }
            return true
        }
        #expect(reports > 12)
        // 64 MiB of page cache, the sorter's share, the allocator's slack; other suites run beside this one.
        if most > 0 { #expect(most - least < 400 << 20) }
    }

    /// Resident memory of this process; nil where there is no /proc.
    private func residentBytes() -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 4_096 }
    }
}
