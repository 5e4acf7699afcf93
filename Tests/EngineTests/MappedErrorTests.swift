import CausewayEngine
import CausewayObjects
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// What the error of an expression names: the row, and what the expression is for.
@Suite("Errors of expressions name row and property", .timeLimit(.minutes(60)))
struct MappedErrorTests {
    final class PlainPolicy: EntityMigrationPolicy {}

    private static func version(_ more: String...) -> String {
        model(
            entity(
                "Thing", attribute("n", "Integer 32"), attribute("text"), toOne("next", "Thing", inverse: "before"),
                toMany("before", "Thing", inverse: "next"), more.joined()))
    }

    private static func scenario() throws -> Scenario {
        try Scenario(
            version(), version(attribute("x", "Integer 32")),
            rows: """
                INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZN, ZTEXT)
                VALUES (1, 1, 1, 1, 'a'), (2, 1, 1, 2, 'b'), (3, 1, 1, 0, 'c'), (4, 1, 1, 5, 'd');
                """)
    }

    private static let row = "V1 → V2, ThingToThing, x-coredata://\(Scenario.uuid)/Thing/p3: "

    /// The message is the same by both engines, whatever the size of batches, with a policy and without.
    private static func expect(
        _ message: String, @EntityMappingPartsBuilder _ parts: @escaping () -> [EntityMappingPart]
    ) throws {
        for engine in [EngineChoice.auto, .statements] {
            for batchRows in [1, 2, 1_024] {
                for hasPolicy in [false, true] {
                    let mapping = SwiftMappingModel(from: "V1", to: "V2") {
                        if hasPolicy {
                            TransformEntity("Thing", policy: PlainPolicy.self, content: parts)
                        } else {
                            TransformEntity("Thing", content: parts)
                        }
                    }
                    let scenario = try scenario()
                    let request = scenario.request(by: mapping, engine, output: "New.sqlite", batchRows: batchRows)
                    let error = try failure { _ = try Migration(request).run() }
                    #expect(
                        "\(error)".contains(row + message), "\(engine), \(batchRows), policy \(hasPolicy): \(error)")
                }
            }
        }
    }

    @Test("an attribute")
    func attributes() throws {
        try Self.expect("Thing.x: `divide:by:` divides by zero") { Compute("x", "100 / $source.n") }
    }

    @Test("an attribute whose expression needs more than numbers")
    func texts() throws {
        try Self.expect("Thing.x: `divide:by:` divides by zero") { Compute("x", "length($source.text) / $source.n") }
    }

    @Test("the filter")
    func filter() throws {
        try Self.expect("the filter: `divide:by:` divides by zero") { Filter("100 / n > 0") }
    }

    @Test("a filter that needs more than numbers")
    func textFilter() throws {
        try Self.expect("the filter: `divide:by:` divides by zero") { Filter("length(text) / n > 0 OR text == 'z'") }
    }

    @Test("a relationship")
    func relationship() throws {
        try Self.expect("Thing.next: `divide:by:` divides by zero") {
            Link("next", "TERNARY(100 / $source.n > 0, NIL, $destination)")
        }
    }
}
