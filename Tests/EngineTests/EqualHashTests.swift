import CausewayEngine
import CausewayPlanning
import CausewayPreparation
import CausewayStores
import Testing

/// Versions whose hashes are equal, since derived attributes, fetch indexes and constraints are in none.
@Suite("Versions with equal hashes", .timeLimit(.minutes(60)))
struct EqualHashTests {
    private static func index(_ name: String) -> String {
        "<fetchIndex name=\"by\(name)\"><fetchIndexElement property=\"\(name)\" type=\"Binary\" order=\"ascending\"/></fetchIndex>"
    }

    private static let plain = model(entity("Thing", attribute("a"), attribute("b")))
    private static let indexed = model(entity("Thing", attribute("a"), attribute("b"), index("a")))
    private static let rows = "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 1, 1, 'x');"

    private static func indexes(_ scenario: Scenario) throws -> [String] {
        try scenario.rows("SELECT name FROM sqlite_schema WHERE type = 'index' AND name LIKE 'Z_Thing%' ORDER BY 1")
    }

    @Test("a version that has another index than the store is a step", arguments: [true, false])
    func differing(fuses: Bool) throws {
        let scenario = try Scenario(Self.plain, Self.indexed, rows: Self.rows)
        let plan = try Migration(scenario.request(to: "V2", fuses: fuses)).plan()
        #expect(plan.path == ["V1", "V2"])
        #expect(
            plan.warnings.contains {
                $0.hasPrefix(
                    "\"V1\" and \"V2\" have the store's hashes: the store counts as \"V1\", because the store has")
            }, "\(plan.warnings)")
        try scenario.migrate(fuses: fuses)
        #expect(try Self.indexes(scenario).contains("'Z_Thing_bya'"))
        #expect(try scenario.rows("SELECT ZA FROM ZTHING") == ["'x'"])
        // Now there is nothing to do, for this version or the one before.
        #expect(try Migration(scenario.request(to: "V2")).plan().steps.isEmpty)
        #expect(try Migration(scenario.request(to: "V1")).plan().steps.isEmpty)
    }

    @Test("a version that differs in nothing isn't a step")
    func same() throws {
        let scenario = try Scenario(Self.plain, Self.plain, rows: Self.rows)
        #expect(try Migration(scenario.request(to: "V2")).plan().steps.isEmpty)
    }

    @Test("the result is the same whether a path is cut at such a version or not")
    func cut() throws {
        let first = model(entity("Thing", attribute("b")))
        let versions = [first, Self.plain, Self.indexed]
        let rows = "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZB) VALUES (1, 1, 1, 'x');"
        let (whole, parts) = (
            try Scenario(versions: versions, rows: rows), try Scenario(versions: versions, rows: rows)
        )
        try whole.migrate()
        for target in ["V2", "V3"] { _ = try Migration(parts.request(to: target)).run() }
        #expect(try Self.indexes(whole).contains("'Z_Thing_bya'"))
        #expect(try Self.indexes(parts) == Self.indexes(whole))
        #expect(try KeptTableTests.content(parts.store) == KeptTableTests.content(whole.store))
    }
}
