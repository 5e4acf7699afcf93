import CausewayEngine
import CausewayObjects
import CausewayPlanning
import CausewayPreparation
import Testing

/// What mapping models don't read of a store, in numbers.
@Suite("Losses of a step with mapping models", .timeLimit(.minutes(60)))
struct MappedLossTests {
    /// The attribute `b` has another name in later versions.
    private static func version(_ b: String, was: String? = nil, owner: String = "") -> String {
        model(
            entity(
                "Thing", attribute("a"), attribute(b, was: was), toOne("owner", "Owner", inverse: "things")),
            entity("Leaf", parent: "Thing", attribute("c")),
            entity("Owner", owner, toMany("things", "Thing", inverse: "owner")), entity("Gone"))
    }

    private static let rows = """
        INSERT INTO ZGONE (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1);
        INSERT INTO ZOWNER (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1);
        INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZA, ZB, ZC, ZOWNER) VALUES
          (1, 3, 1, 'x', 'y', NULL, 1), (2, 3, 1, NULL, NULL, NULL, NULL), (3, 4, 1, 'x', 'z', 'c', 1);
        """

    private static func mapping(from: String, to: String) -> SwiftMappingModel {
        SwiftMappingModel(from: from, to: to) {
            TransformEntity("Thing", fillsUnmentioned: false) { Copy("a") }
            TransformEntity("Leaf", fillsUnmentioned: false) { Copy("a") }
            TransformEntity("Owner", fillsUnmentioned: false) { Leave("things") }
        }
    }

    private static func losses(_ step: String, _ verb: String, b: String) -> [String] {
        [
            "\(verb) entity Gone (2 rows) and the links to its rows",
            "\(verb) the links of Owner.things and Thing.owner (2 links)", "\(verb) Thing.\(b) (2 values)",
            "\(verb) Leaf.c (1 value)",
        ].map { "\(step): \($0)" }.sorted()
    }

    @Test("are counted in the store, before and after alike")
    func counted() throws {
        let scenario = try Scenario(
            Self.version("b"), Self.version("b", owner: attribute("more")), rows: Self.rows)
        var request = scenario.request(to: "V2")
        request.code.add(Self.mapping(from: "V1", to: "V2"))
        let planned = try Migration(request).plan().steps.flatMap(\.losses)
        #expect(planned.sorted() == Self.losses("V1 → V2", "will drop", b: "b"))
        let done = try Migration(request).run().prepared.steps.flatMap(\.lost).map { $0.sentence(isDone: true) }
        #expect(done.sorted() == Self.losses("V1 → V2", "dropped", b: "b"))
    }

    @Test("are counted through the inferred steps before it")
    func traced() throws {
        let scenario = try Scenario(
            Self.version("b"), Self.version("bb", was: "b"),
            Self.version("bb", was: "b", owner: attribute("more")), rows: Self.rows)
        var request = scenario.request(to: "V3")
        request.code.add(Self.mapping(from: "V2", to: "V3"))
        let planned = try Migration(request).plan().steps.flatMap(\.losses)
        #expect(planned.sorted() == Self.losses("V2 → V3", "will drop", b: "bb"))
    }
}
