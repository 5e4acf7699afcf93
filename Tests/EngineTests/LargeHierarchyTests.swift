import CausewayEngine
import CausewayPlanning
import CausewayPreparation
import Testing

/// Models far larger than any app's: the time of planning grows linearly with the model.
///
/// It takes seconds. A search of all entities for each entity took minutes, which the run's limit ends. The test has no
/// limit of its own: it may have to wait for parallel tests.
@Suite("Large hierarchies", .timeLimit(.minutes(60)))
struct LargeHierarchyTests {
    /// Every fourth subentity has an attribute; each inherits a to-one, its inverse, and a to-many without inverse.
    private static func version(_ count: Int, levels: Int, _ extra: String...) -> String {
        let root = entity(
            "Root", attribute("title"), extra.joined(), toOne("up", "Root", inverse: "downs"),
            toMany("downs", "Root", inverse: "up"), toMany("others", "Root"))
        let children = (0..<count).map { number in
            entity(
                "E\(number)", parent: number.isMultiple(of: levels) ? "Root" : "E\(number - 1)",
                number.isMultiple(of: 4) ? attribute("a\(number)") : "")
        }
        return model(root, children.joined())
    }

    @Test("hundreds of subentities in one table are planned in seconds", arguments: [(600, 1), (300, 30)])
    func planning(count: Int, levels: Int) throws {
        let scenario = try Scenario(
            Self.version(count, levels: levels), Self.version(count, levels: levels, attribute("more")),
            Self.version(count, levels: levels, attribute("most", was: "more")),
            rows:
                "INSERT INTO ZROOT (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZUP, Z1_UP) VALUES (1, 2, 1, 'x', NULL, NULL), (2, 5, 1, 'y', 1, 2);"
        )
        let prepared = try Migration(scenario.request(to: "V3")).plan()
        #expect(prepared.steps.count == 1)
        #expect(prepared.steps[0].passes[0].projections.count == count + 1)
        #expect(prepared.steps[0].losses.isEmpty)
    }
}
