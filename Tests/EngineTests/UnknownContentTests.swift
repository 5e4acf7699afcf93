import CausewayEngine
import CausewayPlanning
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// What a store has that no given model knows.
@Suite("Content that no given model knows", .timeLimit(.minutes(60)))
struct UnknownContentTests {
    private static let first = model(entity("Thing", attribute("a")))
    private static let second = model(entity("Thing", attribute("a"), attribute("b")))
    private static let merged = model(entity("Other", attribute("x")), entity("Thing", attribute("a")))

    /// A store of `merged` beside a bundle that has only one of its parts.
    private static func scenario() throws -> Scenario {
        let scenario = try Scenario(
            merged, second,
            rows: """
                INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 2, 1, 'a');
                INSERT INTO ZOTHER (Z_PK, Z_ENT, Z_OPT, ZX) VALUES (1, 1, 1, 'x');
                """)
        try first.write(toFile: scenario.models + "/V1.xcdatamodel/contents", atomically: true, encoding: .utf8)
        return scenario
    }

    @Test("a store of merged models, of which one wasn't given, is refused by name")
    func mergedModels() throws {
        let scenario = try Self.scenario()
        var request = scenario.request(to: "V2")
        let error = try failure { _ = try Migration(request).plan() }
        #expect(
            error.message.hasSuffix("the store looks like \"V1\" merged with a model that wasn't given"), "\(error)")
        #expect(error.details == ["its other entities: Other"])
        #expect(error.remedy.contains("--drop-other-models"))
        request.dropsOtherModels = true
        #expect(try Migration(request).plan().steps[0].losses.contains { $0.contains("entity Other (1 row)") })
        _ = try Migration(request).run()
        #expect(try scenario.rows("SELECT ZA FROM ZTHING") == ["'a'"])
    }

    @Test("a store of a version between the given ones isn't taken for one of merged models")
    func between() throws {
        let scenario = try Self.scenario()
        let last = model(entity("Other", attribute("y")), entity("Thing", attribute("a"), attribute("b")))
        try last.write(toFile: scenario.models + "/V2.xcdatamodel/contents", atomically: true, encoding: .utf8)
        let plan = try Migration(scenario.request(to: "V2")).plan()
        #expect(plan.warnings.contains { $0.contains("taken from the store's own cache") }, "\(plan.warnings)")
    }

    @Test("changes of entities that the model doesn't have are counted, and statistics are named")
    func historyAndStatistics() throws {
        let scenario = try Scenario(
            Self.first, Self.second, history: true,
            rows: """
                INSERT INTO ATRANSACTION (Z_PK, Z_ENT, Z_OPT, ZTIMESTAMP) VALUES (9, 16002, 1, 1.5);
                INSERT INTO ACHANGE (Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID) VALUES
                (40, 16001, 1, 0, 1, 3, 9), (41, 16001, 1, 1, 7, 4, 9), (42, 16001, 1, 1, NULL, 4, 9);
                ANALYZE;
                """)
        let plan = try Migration(scenario.request()).plan()
        #expect(
            plan.steps[0].losses.contains(
                "V1 → V2: 2 changes of persistent history (ACHANGE) will be dropped: about entities that the model doesn't have"
            ), "\(plan.steps[0].losses)")
        #expect(plan.warnings.contains { $0.hasPrefix("SQLite's statistics (sqlite_stat1) are not carried") })
        try scenario.migrate()
        #expect(try scenario.rows("SELECT Z_PK FROM ACHANGE") == ["40"])
    }
}
