import CausewayEngine
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// Staging stores that were changed between the last row and the verification.
@Suite("Verification of a new store", .timeLimit(.minutes(60)))
struct VerifStagingTests {
    private static let before = model(
        entity(
            "Person", attribute("name"), attribute("photo", "Binary"), toOne("boss", "Firm", inverse: "staff"),
            toOne("badge", "Badge", inverse: "owner"), toMany("tags", "Tag", inverse: "people")),
        entity("Worker", parent: "Person", attribute("wage", "Double")),
        entity("Firm", attribute("title"), toMany("staff", "Person", inverse: "boss")),
        entity("Badge", attribute("code", "Integer 32"), toOne("owner", "Person", inverse: "badge")),
        entity("Tag", attribute("label"), toMany("people", "Person", inverse: "tags")))

    /// One more column in every table, so that every pass has work.
    private static let after = before.replacingOccurrences(
        of: "<attribute name=\"name\"",
        with: "<attribute name=\"nick\" attributeType=\"String\" optional=\"YES\"/><attribute name=\"name\"")

    /// Entities in order of their names: Badge 1, Firm 2, Person 3, Worker 4, Tag 5.
    private static let rows = """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
        INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME, ZPHOTO, ZBOSS, ZBADGE, ZWAGE) \
        SELECT i, CASE WHEN i % 4 THEN 3 ELSE 4 END, 1, 'name ' || i, zeroblob(i * 5), 1 + i % 7, i, \
        CASE WHEN i % 4 = 0 THEN i + 0.5 END FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
        INSERT INTO ZBADGE (Z_PK, Z_ENT, Z_OPT, ZCODE, ZOWNER, Z3_OWNER) \
        SELECT i, 1, 1, i * 3, i, CASE WHEN i % 4 THEN 3 ELSE 4 END FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 7)
        INSERT INTO ZFIRM (Z_PK, Z_ENT, Z_OPT, ZTITLE) SELECT i, 2, 1, 'firm ' || i FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
        INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZLABEL) SELECT i, 5, 1, 'tag ' || i FROM n;
        INSERT INTO Z_3TAGS (Z_3PEOPLE, Z_5TAGS) SELECT p.Z_PK, t.Z_PK FROM ZPERSON p JOIN ZTAG t ON (p.Z_PK + t.Z_PK) % 9 = 0;
        """

    private static func scenario() throws -> Scenario {
        try Scenario(before, after, rows: rows)
    }

    /// Migrates; when the verification begins, `sql` is run in the staging store.
    @discardableResult
    private static func migrate(
        _ scenario: Scenario, _ level: VerificationLevel, _ engine: EngineChoice = .statements,
        tampering sql: String = ""
    ) throws -> MigrationOutcome {
        var request = scenario.request(to: "V2", engine: engine)
        request.verification = level
        return try Migration(request) { event in
            guard case .phaseBegan("verification") = event, !sql.isEmpty else { return }
            do {
                let names = try FileManager.default.contentsOfDirectory(atPath: scenario.workDirectory)
                let staging = try #require(names.first { $0.hasPrefix("step-") && $0.hasSuffix(".sqlite") })
                try Scenario.execute(sql, scenario.workDirectory + "/" + staging)
            } catch {
                Issue.record(error)
            }
        }.run()
    }

    private static func findings(
        _ level: VerificationLevel, _ sql: String, by engine: EngineChoice = .statements
    ) throws -> [String] {
        let scenario = try scenario()
        let store = try Data(contentsOf: URL(filePath: scenario.store))
        let error = try failure { try migrate(scenario, level, engine, tampering: sql) }
        #expect(error.kind == .verification)
        #expect(error.message.contains("nothing was swapped"))
        #expect(try Data(contentsOf: URL(filePath: scenario.store)) == store)
        // Never content: no name, no label.
        #expect(!error.description.contains("name 1") && !error.description.contains("tag 1"))
        return error.details
    }

    @Test("a sound store passes at every level", arguments: VerificationLevel.allCases)
    func sound(level: VerificationLevel) throws {
        let scenario = try Self.scenario()
        try Self.migrate(scenario, level)
        #expect(try scenario.rows("SELECT count(*) FROM ZPERSON WHERE ZNICK IS NULL") == ["400"])
    }

    @Test("at `none`, nothing of the new store is read again; a flipped cell passes at `quick`")
    func levels() throws {
        try Self.migrate(try Self.scenario(), .none, tampering: "DELETE FROM ZTAG WHERE Z_PK = 3")
        try Self.migrate(try Self.scenario(), .quick, tampering: "UPDATE ZPERSON SET ZNAME = 'x' WHERE Z_PK = 3")
    }

    @Test(
        "a changed cell is found by reading again, and its row named",
        arguments: [
            ("UPDATE ZPERSON SET ZNAME = 'other' WHERE Z_PK = 17", "Person p17: ZNAME differ"),
            ("UPDATE ZPERSON SET ZWAGE = ZWAGE + 1 WHERE Z_PK = 40", "Worker p40: ZWAGE differ"),
            // One bit of a long value.
            (
                "UPDATE ZPERSON SET ZPHOTO = CAST(zeroblob(999) || x'01' || zeroblob(1000) AS BLOB) WHERE Z_PK = 400",
                "Worker p400: ZPHOTO differ"
            ),
            // The same number in another storage class.
            ("UPDATE ZPERSON SET ZNAME = CAST(ZNAME AS BLOB) WHERE Z_PK = 5", "Person p5: ZNAME differ"),
            ("UPDATE ZPERSON SET Z_OPT = 2 WHERE Z_PK = 9", "Person p9: Z_OPT differ"),
        ])
    func changedCell(sql: String, finding: String) throws {
        let findings = try Self.findings(.full, sql)
        #expect(findings.contains(finding), "\(findings)")
        #expect(findings.count == 2, "\(findings)")
    }

    @Test("swapped values are found though their multiset is the same")
    func swappedRows() throws {
        let findings = try Self.findings(
            .full,
            """
            UPDATE ZPERSON SET ZNAME = CASE Z_PK WHEN 21 THEN 'name 22' ELSE 'name 21' END WHERE Z_PK IN (21, 22)
            """)
        #expect(findings.contains("Person p21: ZNAME differ") && findings.contains("Person p22: ZNAME differ"))
        #expect(findings.contains("Person: the digests of column ZNAME differ"))
    }

    @Test(
        "a lost row, an added row and one of another entity are named", arguments: [VerificationLevel.quick, .full])
    func rows(level: VerificationLevel) throws {
        let lost = try Self.findings(level, "DELETE FROM ZPERSON WHERE Z_PK IN (8, 399)")
        #expect(lost.contains("ZPERSON: 400 rows were written, 398 are there"))
        #expect(lost.contains("Worker p8 is missing in the new store"))
        #expect(lost.contains("Person p399 is missing in the new store"))
        let invented = try Self.findings(level, "INSERT INTO ZFIRM (Z_PK, Z_ENT, Z_OPT) VALUES (6000, 2, 1)")
        #expect(invented.contains("Firm p6000 isn't in the source"))
        #expect(invented.contains("Z_PRIMARYKEY: Z_MAX of Firm is below the key p6000"))
        let other = try Self.findings(level, "UPDATE ZPERSON SET Z_ENT = 4 WHERE Z_PK = 1")
        #expect(other.contains("Person p1 is a row of Worker in the new store"))
    }

    @Test("rows of kept tables are named, too")
    func kept() throws {
        let lost = try Self.findings(.quick, "DELETE FROM ZPERSON WHERE Z_PK IN (8, 399)", by: .pages)
        #expect(lost.contains("ZPERSON: 400 rows were copied, 398 are there"))
        #expect(lost.contains("Worker p8 is missing in the new store"))
        let changed = try Self.findings(
            .full, "UPDATE ZPERSON SET ZNAME = 'other' WHERE Z_PK = 17", by: .pages)
        #expect(changed.contains("Person p17: ZNAME differ"))
        let moved = try Self.findings(
            .full, "UPDATE Z_3TAGS SET Z_5TAGS = 6 WHERE Z_3PEOPLE = 4 AND Z_5TAGS = 5", by: .pages)
        #expect(moved.contains("Person.tags p4 → p6 isn't in the source"))
    }

    @Test("a changed link is found by its index's count, or by reading again")
    func links() throws {
        let lost = try Self.findings(.quick, "UPDATE ZPERSON SET ZBOSS = NULL WHERE Z_PK = 12")
        #expect(lost.contains("ZPERSON.ZBOSS: 400 links were carried, 399 are there"))
        #expect(lost.contains("Worker p12: ZBOSS differ"))
        let dangling = try Self.findings(.full, "UPDATE ZPERSON SET ZBOSS = 999 WHERE Z_PK = 12")
        #expect(dangling.contains("Person.boss leads to a row that isn't there in 1 row (p12)"))
        let asymmetric = try Self.findings(.full, "UPDATE ZBADGE SET ZOWNER = 2 WHERE Z_PK = 1")
        #expect(asymmetric.contains("Badge.owner has no link back from the row at its other end in 1 row (p1)"))
        #expect(asymmetric.contains("Person.badge has no link back from the row at its other end in 1 row (p1)"))
    }

    @Test("join rows are compared as wholes and named by both keys")
    func joins() throws {
        let lost = try Self.findings(.quick, "DELETE FROM Z_3TAGS WHERE Z_3PEOPLE = 4 AND Z_5TAGS = 5")
        #expect(lost.contains("Person.tags p4 → p5 is missing in the new store"))
        let moved = try Self.findings(
            .full, "UPDATE Z_3TAGS SET Z_5TAGS = 6 WHERE Z_3PEOPLE = 4 AND Z_5TAGS = 5")
        #expect(moved.contains("Person.tags p4 → p5 is missing in the new store"))
        #expect(moved.contains("Person.tags p4 → p6 isn't in the source"))
        #expect(moved.contains("Person.tags: the digests of table Z_3TAGS differ"))
    }

    @Test("twenty differing rows are named, and a note says that there are more")
    func many() throws {
        let findings = try Self.findings(.full, "UPDATE ZBADGE SET ZCODE = ZCODE + 1")
        #expect(findings.filter { $0.hasPrefix("Badge p") }.count == 20)
        #expect(findings.contains("… and perhaps more rows of Badge"))
    }

    @Test(
        "the store's metadata and bookkeeping are compared",
        arguments: [
            ("DROP INDEX Z_Person_boss", "is missing in the schema"),
            (
                "UPDATE Z_METADATA SET Z_UUID = '11111111-2222-4333-8444-555555555555'",
                "Z_METADATA: the store's UUID differs"
            ),
            ("UPDATE Z_PRIMARYKEY SET Z_NAME = 'Other' WHERE Z_ENT = 5", "Z_PRIMARYKEY: the row of Tag (5)"),
            ("UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_ENT = 3", "Z_MAX of Person is below the key p400"),
        ])
    func identity(sql: String, finding: String) throws {
        let scenario = try Self.scenario()
        var sql = sql
        if sql.hasPrefix("DROP") {
            let indexes = try scenario.rows(
                "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql LIKE '%ZPERSON%' ORDER BY name LIMIT 1")
            sql = "DROP INDEX \(indexes[0].dropFirst().dropLast())"
        }
        let findings = try Self.findings(.quick, sql)
        #expect(findings.contains { $0.contains(finding) }, "\(findings)")
    }

    @Test("damage that is already in the source is carried and passes")
    func damagedSource() throws {
        let scenario = try Scenario(
            Self.before, Self.after,
            rows: Self.rows + """
                UPDATE ZPERSON SET ZBOSS = 777 WHERE Z_PK = 3; UPDATE ZBADGE SET ZOWNER = 5, Z3_OWNER = NULL WHERE Z_PK = 6;
                INSERT INTO Z_3TAGS (Z_3PEOPLE, Z_5TAGS) VALUES (9000, 1);
                """)
        try Self.migrate(scenario, .full)
        #expect(try scenario.rows("SELECT ZBOSS FROM ZPERSON WHERE Z_PK = 3") == ["777"])
    }
}
