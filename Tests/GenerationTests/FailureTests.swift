import CausewayGeneration
import CausewayModel
import CausewayStoreFormat
import Foundation
import Testing

@Suite("Refusals and failures of the generator", .timeLimit(.minutes(60)))
struct FailureTests {
    private func generator(_ rows: Int = 5_000) throws -> StoreGenerator {
        let layout = try StoreLayout(model: try ModelCase.fixture("Orchard/v1"), frameworkVersion: 1526)
        return try StoreGenerator(layout: layout, options: GenerationOptions(rows: rows, seed: 1))
    }

    @Test(
        "a name that is taken is refused and nothing is touched", arguments: ["S.sqlite", "S.sqlite-wal", ".S_SUPPORT"])
    func taken(_ name: String) throws {
        let folder = try GeneratedStore.makeFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent(name)
        try Data("mine".utf8).write(to: file)
        let error = #expect(throws: GenerationError.self) {
            try generator().generate(at: folder.appendingPathComponent("S.sqlite").path)
        }
        #expect(error?.code == .outputExists, "\(String(describing: error))")
        #expect(try Data(contentsOf: file) == Data("mine".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [name])
    }

    @Test("a stopped generation leaves nothing behind", arguments: [GenerationProgress.Phase.rows, .indexes, .closing])
    func stopped(_ phase: GenerationProgress.Phase) throws {
        let folder = try GeneratedStore.makeFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let error = #expect(throws: GenerationError.self) {
            try generator().generate(at: folder.appendingPathComponent("S.sqlite").path) {
                !($0.phase == phase && ($0.rows > 0))
            }
        }
        #expect(error?.code == .cancelled)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test("a missing folder is an error")
    func missingFolder() throws {
        let error = #expect(throws: GenerationError.self) {
            try generator(1).generate(at: "/nonexistent-\(UUID().uuidString)/S.sqlite")
        }
        #expect(error?.code == .cannotCreate)
    }

    @Test("row counts out of range are refused", arguments: [-1, GenerationOptions.maximumRows + 1, Int.max, Int.min])
    func rows(_ count: Int) throws {
        let error = #expect(throws: GenerationError.self) { try generator(count) }
        #expect(error?.code == .badOptions)
    }

    @Test("a model without concrete entities takes no rows, but gives an empty store")
    func abstractOnly() throws {
        var entity = Entity(name: "Thing")
        entity.isAbstract = true
        let model = ManagedObjectModel(entities: [entity])
        let error = #expect(throws: GenerationError.self) {
            try GeneratedStore(model, GenerationOptions(rows: 1, seed: 1))
        }
        #expect(error?.code == .unusableModel)
        let store = try GeneratedStore(model, GenerationOptions(rows: 0, seed: 1))
        defer { store.remove() }
        #expect(try store.texts("PRAGMA integrity_check") == ["ok"])
    }
}
