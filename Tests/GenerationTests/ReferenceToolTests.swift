import CausewayCheckers
import CausewayGeneration
import CausewayModel
import CausewayStoreFormat
import Foundation
import Testing

/// Generated stores, checked by the reference implementation, which shares no code with this project.
@Suite(
    "Generated stores and the reference tools", .timeLimit(.minutes(60)),
    .enabled(if: Checker.isThere, "\(Checker.missing)"))
struct ReferenceToolTests {
    @Test("schema and hashes of the project's own models", arguments: ModelCase.fixtures)
    func fixtures(_ model: ModelCase) throws {
        let store = try GeneratedStore(model.model, GenerationOptions(rows: 120, seed: 11))
        defer { store.remove() }
        for (tool, verb) in [("expected-schema", "check"), ("version-hashes", "store")] {
            let result = try Checker.run(tool, [verb, store.path])
            #expect(result.status == 0, "\(tool): \(result.text)")
        }
    }

    @Test(
        "every model of shared/stores", .enabled(if: Places.hasSharedStores, "shared/stores is missing"),
        arguments: ModelCase.shared)
    func shared(_ model: ModelCase) throws {
        let store = try GeneratedStore(model.model, GenerationOptions(rows: 300, seed: 11))
        defer { store.remove() }
        #expect(try store.texts("PRAGMA integrity_check") == ["ok"])
        #expect(try LinkChecks(store: store).failures() == [])
        let schema = try Checker.run("expected-schema", ["check", store.path])
        #expect(schema.status == 0, "\(schema.text)")
    }
}
