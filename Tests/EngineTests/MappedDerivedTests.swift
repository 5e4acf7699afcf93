import CausewayEngine
import CausewayObjects
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// Derived attributes in steps with mapping models: computed, carried as in inferred steps, or NULL with a warning.
@Suite("Derived attributes in mapped steps", .timeLimit(.minutes(60)))
struct MappedDerivedTests {
    private static func derived(_ name: String, _ expression: String, _ type: String = "String") -> String {
        attribute(name, type, extra: "derived=\"YES\" derivationExpression=\"\(expression)\"")
    }

    private static func version(_ more: String = "", upper: String = derived("upper", "uppercase:(name)")) -> String {
        model(
            entity(
                "Item", attribute("name"), upper, derived("plain", "canonical:(name)"), derived("copy", "name"),
                derived("saved", "now()", "Date"), derived("far", "box.shelf.label"),
                derived("near", "box.label"), derived("sum", "parts.n.@sum", "Integer 64"),
                derived("number", "parts.@count", "Integer 64"), toOne("box", "Box", inverse: "items"),
                toMany("parts", "Part", inverse: "item"), more),
            entity("Part", attribute("n", "Integer 32"), toOne("item", "Item", inverse: "parts")),
            entity(
                "Box", attribute("label"), toMany("items", "Item", inverse: "box"),
                toOne("shelf", "Shelf", inverse: "boxes")),
            entity("Shelf", attribute("label"), toMany("boxes", "Box", inverse: "shelf")))
    }

    private static func scenario(_ new: String) throws -> Scenario {
        try Scenario(
            version(), new,
            rows: """
                INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZUPPER, ZPLAIN, ZCOPY, ZSAVED, ZFAR, ZNEAR, ZSUM, ZNUMBER,
                ZBOX) VALUES (1, 2, 1, 'é', 'É', 'e', 'é', 7, 'S', 'stale', 5, 9, 1),
                (2, 2, 1, NULL, NULL, NULL, NULL, 8, NULL, NULL, 0, 0, NULL);
                INSERT INTO ZPART (Z_PK, Z_ENT, Z_OPT, ZN, ZITEM) VALUES (1, 3, 1, 2, 1), (2, 3, 1, 3, 1);
                INSERT INTO ZBOX (Z_PK, Z_ENT, Z_OPT, ZLABEL, ZSHELF) VALUES (1, 1, 1, 'B', 1);
                INSERT INTO ZSHELF (Z_PK, Z_ENT, Z_OPT, ZLABEL) VALUES (1, 4, 1, 'S');
                """)
    }

    private static func mapping(
        @EntityMappingPartsBuilder _ item: @escaping () -> [EntityMappingPart] = { [] }
    ) -> SwiftMappingModel {
        SwiftMappingModel(from: "V1", to: "V2") {
            TransformEntity("Item", content: item)
            for name in ["Part", "Box", "Shelf"] { CopyEntity(name) }
        }
    }

    private static let columns = "hex(ZUPPER), ZPLAIN, hex(ZCOPY), ZSAVED, ZFAR, ZNEAR, ZSUM, ZNUMBER"

    @Test("what no statement computes keeps its values", arguments: [EngineChoice.auto, .statements])
    func carried(engine: EngineChoice) throws {
        let scenario = try Self.scenario(Self.version(attribute("extra")))
        let request = scenario.request(by: Self.mapping(), engine, output: "New.sqlite")
        let outcome = try Migration(request).run()
        #expect(
            try Database.rows("SELECT \(Self.columns) FROM ZITEM ORDER BY Z_PK", in: scenario.folder + "/New.sqlite")
                == ["'C389'|'e'|'C3A9'|7|'S'|'B'|5|2", "''|NULL|''|8|NULL|NULL|0|0"])
        #expect(!outcome.warnings.contains { $0.contains("leaves them NULL") }, "\(outcome.warnings)")
        // Nobody follows what other mappings make of the parts and the shelf.
        #expect(
            outcome.warnings.filter { $0.contains("is derived from other rows") }.map { $0.prefix(12) }.sorted() == [
                "V2: Item.far", "V2: Item.sum",
            ])
    }

    @Test(
        "what was computed from a value that the mapping changes is NULL, with a warning",
        arguments: [EngineChoice.auto, .statements])
    func changed(engine: EngineChoice) throws {
        let scenario = try Self.scenario(Self.version(attribute("extra")))
        let mapping = Self.mapping { Compute("name", "uppercase($source.name)") }
        let outcome = try Migration(scenario.request(by: mapping, engine, output: "New.sqlite")).run()
        #expect(
            try Database.rows(
                "SELECT \(Self.columns) FROM ZITEM WHERE Z_PK = 1", in: scenario.folder + "/New.sqlite")
                == ["''|NULL|''|7|'S'|'B'|5|2"])
        for name in ["upper", "plain", "copy"] {
            #expect(
                outcome.warnings.contains { $0.contains("Item.\(name) is derived") && $0.contains("leaves them NULL") },
                "\(outcome.warnings)")
        }
    }

    @Test("a new derivation is NULL, a renamed attribute keeps its values")
    func renamed() throws {
        let upper = attribute(
            "loud", was: "upper", extra: "derived=\"YES\" derivationExpression=\"uppercase:(name)\"")
        let scenario = try Self.scenario(
            Self.version(Self.derived("small", "lowercase:(name)"), upper: upper))
        let outcome = try Migration(scenario.request(by: Self.mapping(), .auto, output: "New.sqlite")).run()
        #expect(
            try Database.rows(
                "SELECT hex(ZLOUD), ZSMALL FROM ZITEM WHERE Z_PK = 1", in: scenario.folder + "/New.sqlite")
                == ["'C389'|NULL"])
        #expect(
            outcome.warnings.contains {
                $0.contains("Item.small is derived") && $0.contains("searches by “small” find")
            },
            "\(outcome.warnings)")
    }

    @Test("an inferred step says which searches find nothing until the objects are saved")
    func inferred() throws {
        let scenario = try Self.scenario(
            Self.version(Self.derived("folded", "canonical:(name)"), upper: Self.derived("upper", "uppercase:(name)")))
        let outcome = try Migration(scenario.request(output: scenario.folder + "/New.sqlite")).run()
        #expect(
            outcome.warnings.filter { $0.contains("searches by") } == [
                "V2: Item.folded is derived by `canonical:(name)`, which only Core Data computes: it is NULL until Core "
                    + "Data writes the row again; until then searches by “folded” find none of these rows."
            ], "\(outcome.warnings)")
    }
}
