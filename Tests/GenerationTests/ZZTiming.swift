import CausewayGeneration
import CausewayModel
import CausewayStoreFormat
import Foundation
import Testing

@Suite struct ZZTiming {
    @Test func timing() throws {
        let folder = try GeneratedStore.makeFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let layout = try StoreLayout(model: try ModelCase.fixture("Orchard/v3"), frameworkVersion: 1145)
        let generator = try StoreGenerator(layout: layout, options: GenerationOptions(rows: 10_000_000, seed: 1))
        let start = Date()
        try generator.generate(at: folder.appendingPathComponent("S.sqlite").path)
        let size = try FileManager.default.attributesOfItem(atPath: folder.appendingPathComponent("S.sqlite").path)[.size] ?? 0
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("VmHWM") }
        print("T 10M rows", Date().timeIntervalSince(start), "s", size, status)
    }
}
