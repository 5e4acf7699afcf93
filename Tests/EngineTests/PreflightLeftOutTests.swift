import CausewayEngine
import CausewayPreparation
import CausewayStores
import Testing

/// The checks for later steps know the rows that earlier steps leave out: links to them have ended.
@Suite("The check before the run follows rows that are left out", .timeLimit(.minutes(60)))
struct PreflightLeftOutTests {
    /// `r` becomes mandatory, then leads to `Sub`, then `n` is unique.
    private static func bereft(_ rows: String) throws -> Scenario {
        func version(_ link: String, isMandatory: Bool = true, _ extra: String = "") -> String {
            let link = isMandatory ? link.replacing("optional=\"YES\"", with: "optional=\"NO\"") : link
            return model(entity("Base", attribute("n"), link, extra), entity("Sub", parent: "Base"))
        }
        let (wide, narrow) = (toOne("r", "Base"), toOne("r", "Sub"))
        return try Scenario(
            versions: [
                version(wide, isMandatory: false), version(wide), version(narrow),
                version(narrow, PreflightUniquenessTests.unique("n")),
            ],
            rows: "INSERT INTO ZBASE (Z_PK, Z_ENT, Z_OPT, ZN, ZR, Z1_R) VALUES (2, 2, 1, 'sub', 2, 2), \(rows);")
    }

    private static func quarantining(_ scenario: Scenario, fuses: Bool) -> MigrationRequest {
        var request = scenario.request(to: scenario.lastVersion, fuses: fuses)
        (request.badRows, request.rejects) = (.quarantine, scenario.folder + "/rejects.jsonl")
        (request.endsLinks, request.verification) = (true, .full)
        return request
    }

    @Test(
        "rows that are left out or kept depending on an ended link may be duplicates",
        arguments: [true, false])
    func bereft(fuses: Bool) throws {
        // The links of p3 and p5 end when p1 is left out. Then nothing prevents these rows from staying.
        let stray = "(1, 1, 1, 'a', NULL, NULL), (3, 1, 1, 'same', 1, 1), (5, 1, 1, 'same', 1, 1), (6, 1, 1, 'b', 3, 1)"
        let scenario = try Self.bereft(stray)
        let store = try Database.dump(scenario.store)
        let notices = try Migration(Self.quarantining(scenario, fuses: fuses)).plan().notices
        #expect(notices.count == 3, "\(notices)")
        #expect(notices[0].hasSuffix("it is missing in 1 row of Base (p1); to be quarantined"))
        #expect(
            notices[1] == """
                V3: Base.r is mandatory, its link to Base objects can't stay in 3 rows of Base (p3, p5, p6); at least 1 of \
                them to be quarantined: links to rows that earlier steps leave out end
                """)
        #expect(
            notices[2].hasPrefix(
                "V4: Base: n must be unique, and 2 rows of table ZBASE share theirs with another (p3 and p5), unless"))
        let error = try failure { _ = try Migration(Self.quarantining(scenario, fuses: fuses)).run() }
        #expect(error.details.count == 1 && error.details[0].hasPrefix("V4: Base: n must be unique, but 2"), "\(error)")
        #expect(try Database.dump(scenario.store) == store)
    }

    @Test("rows that certainly stay are duplicates; rows that are left out aren't", arguments: [true, false])
    func judged(fuses: Bool) throws {
        let sure = try Self.bereft("(1, 1, 1, 'a', NULL, NULL), (3, 1, 1, 'same', 2, 2), (5, 1, 1, 'same', 2, 2)")
        let error = try failure { _ = try Migration(Self.quarantining(sure, fuses: fuses)).plan() }
        #expect(
            error.details == [
                "V4: Base: n must be unique, but 2 rows of table ZBASE share theirs with another (p3 and p5)"
            ], "\(error)")
        // No row has been left out before the check for V3.
        let gone = try Self.bereft("(3, 1, 1, 'same', 5, 1), (5, 1, 1, 'same', 3, 1)")
        let notices = try Migration(Self.quarantining(gone, fuses: fuses)).plan().notices
        #expect(
            notices.count == 1 && notices[0].hasSuffix("in 2 rows of Base (p3, p5); to be quarantined"), "\(notices)")
        #expect(try Migration(Self.quarantining(gone, fuses: fuses)).run().quarantinedRows == 2)
    }

    @Test("a row whose mandatory object was left out is left out too, and is no duplicate", arguments: [true, false])
    func losing(fuses: Bool) throws {
        func version(_ note: String, _ link: String, _ extra: String = "") -> String {
            model(entity("Note", note), entity("Tag", attribute("name"), link, extra))
        }
        let link = toOne("note", "Note")
        let (must, mustLink) = (
            attribute("text", optional: false), link.replacing("optional=\"YES\"", with: "optional=\"NO\"")
        )
        let scenario = try Scenario(
            version(attribute("text"), link), version(must, link), version(must, mustLink),
            version(must, mustLink, PreflightUniquenessTests.unique("name")),
            rows: """
                INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (1, 1, 1, NULL), (2, 1, 1, 'x');
                INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME, ZNOTE) VALUES (1, 2, 1, 'same', 1), (2, 2, 1, 'same', 2);
                """)
        let notices = try Migration(Self.quarantining(scenario, fuses: fuses)).plan().notices
        #expect(
            notices.contains(
                """
                V3: Tag.note is mandatory now, it is missing, or may be after earlier steps leave rows out, in 1 row of \
                Tag (p1); at least 0 of them to be quarantined: links to rows that earlier steps leave out end
                """), "\(notices)")
        #expect(notices.contains { $0.hasPrefix("V4: Tag: name must be unique, and 2 rows") }, "\(notices)")
        #expect(try Migration(Self.quarantining(scenario, fuses: fuses)).run().quarantinedRows == 2)
        #expect(try scenario.rows("SELECT Z_PK, ZNOTE FROM ZTAG") == ["2|2"])
    }

    @Test("in a table of many entities, each of which leaves rows out")
    func manyEntities() throws {
        func version(_ type: String, _ extra: String = "", optional: Bool = true) -> String {
            let subentities = (0..<120).map {
                entity("Sub\($0)", parent: "Root", attribute("x\($0)", optional: optional))
            }
            return model(entity("Root", attribute("n", type), attribute("key"), extra), subentities.joined())
        }
        let scenario = try Scenario(
            version("Integer 64"), version("Integer 16", PreflightUniquenessTests.unique("key"), optional: false),
            rows: """
                INSERT INTO ZROOT (Z_PK, Z_ENT, Z_OPT, ZN, ZKEY) VALUES (1, 1, 1, 1, 'a'), (2, 1, 1, 70000, 'a');
                """)
        #expect(try Migration(Self.quarantining(scenario, fuses: true)).plan().notices.count == 1)
        #expect(try Migration(Self.quarantining(scenario, fuses: true)).run().quarantinedRows == 1)
    }
}
