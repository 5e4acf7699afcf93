import CausewayEngine
import CausewayPreparation
import CausewaySQLite
import Testing

/// Dangling links are counted by the plan, carried as they are, and listed by a full verification, which doesn't report
/// them as errors of the migration.
@Suite("The plan counts dangling links", .timeLimit(.minutes(60)))
struct PreflightLinkTests {
    private static func version(_ extra: String) -> String {
        model(
            entity(
                "Person", attribute("name"), extra, toOne("boss", "Firm", inverse: "staff"),
                toOne("friend", "Person"), toMany("tags", "Tag", inverse: "people")),
            entity("Worker", parent: "Person"),
            entity("Firm", attribute("title"), toMany("staff", "Person", inverse: "boss"), toMany("sites", "Site")),
            entity("Site", attribute("street")),
            entity("Tag", attribute("label"), toMany("people", "Person", inverse: "tags")))
    }

    /// Firm 1, Person 2, Worker 3, Site 4, Tag 5.
    private static func scenario() throws -> Scenario {
        let scenario = try Scenario(
            version(""), version(attribute("nick")), version(attribute("nick", default: "x")),
            rows: """
                INSERT INTO ZFIRM (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1);
                INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZBOSS, ZFRIEND, Z2_FRIEND) VALUES
                (1, 2, 1, 1, 2, 3), (2, 3, 1, 9, 1, 2), (3, 2, 1, 8, 77, 2), (4, 2, 1, NULL, 2, 2), (5, 3, 1, 2, 4, 5);
                INSERT INTO ZSITE (Z_PK, Z_ENT, Z_OPT, Z1SITES) VALUES (1, 4, 1, 1), (2, 4, 1, 3);
                INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) VALUES (1, 5, 1);
                """)
        let join = try scenario.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'Z_2%'")[0]
            .dropFirst().dropLast()
        try Scenario.execute("INSERT INTO \(join) VALUES (1, 1), (6, 1), (2, 5)", scenario.store)
        return scenario
    }

    private static let findings = [
        "Firm.sites leads to a row that isn't there in 1 row (p2)",
        "Person.boss leads to a row that isn't there in 2 rows (p2, p3)",
        "Person.friend leads to a row that isn't there in 1 row (p3)",
        "Person.friend names another entity than its target row has in 2 rows (p4, p5)",
        "Person.tags lacks the Person end of its link in 1 row (p6)",
        "Tag.people lacks the Tag end of its link in 1 row (p5)",
    ]

    @Test(
        "each relationship is counted in the plan, listed by a full verification, and carried",
        arguments: [true, false])
    func counted(fuses: Bool) throws {
        let scenario = try Self.scenario()
        let select = "SELECT Z_PK, ZBOSS, ZFRIEND FROM ZPERSON ORDER BY 1"
        let before = try scenario.rows(select)
        var request = scenario.request(to: "V3", fuses: fuses, batchRows: 1)
        request.verification = .full
        let notices = try Migration(request).plan().notices
        #expect(notices.sorted() == Self.findings.map { $0 + "; such links are carried as they are" }, "\(notices)")
        var warnings: [String] = []
        let outcome = try Migration(request) { event in
            if case .warning(let text) = event { warnings.append(text) }
        }.run()
        #expect(Set(notices).isDisjoint(with: warnings), "a run doesn't read every link twice")
        for finding in Self.findings {
            let place = finding.prefix { $0 != "(" }
            #expect(
                outcome.warnings.contains { $0.contains(place) && $0.contains("as in the source") },
                "the full verification lists \(place)")
        }
        #expect(try scenario.rows(select) == before)
    }

    @Test("a store without dangling links has no notices")
    func whole() throws {
        let scenario = try Self.scenario()
        try Scenario.execute(
            """
            UPDATE ZPERSON SET ZBOSS = 1, ZFRIEND = 1, Z2_FRIEND = 2; UPDATE ZSITE SET Z1SITES = 2;
            """, scenario.store)
        let join = try scenario.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'Z_2%'")[0]
            .dropFirst().dropLast()
        try Scenario.execute("DELETE FROM \(join) WHERE rowid > 1", scenario.store)
        var request = scenario.request(to: "V3")
        request.verification = .full
        #expect(try Migration(request).plan().notices == [])
        let warnings = try Migration(request).run().warnings
        #expect(warnings.allSatisfy { $0.hasPrefix("The bundle doesn't say") }, "\(warnings)")
    }

    @Test("keys that are far apart, or below 0, are distinguished")
    func farApart() throws {
        let scenario = try Self.scenario()
        try Scenario.execute(
            """
            DELETE FROM ZPERSON; DELETE FROM ZSITE; INSERT INTO ZFIRM (Z_PK, Z_ENT, Z_OPT) VALUES
            (9223372036854775807, 1, 1), (4096, 1, 1), (-1, 1, 1);
            INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZBOSS) VALUES
            (1, 2, 1, 9223372036854775807), (2, 2, 1, 4096), (3, 2, 1, -1), (4, 2, 1, 4095), (5, 2, 1, -2),
            (6, 2, 1, 9223372036854775806);
            """, scenario.store)
        let notices = try Migration(scenario.request(to: "V3")).plan().notices
        #expect(notices.contains { $0.hasPrefix("Person.boss leads to a row that isn't there in 3 rows (p4, p5, p6)") })
    }
}
