import CausewayEngine
import CausewayPlanning
import CausewayPreparation
import Foundation
import Testing

/// The result depends on the rows alone.
@Suite("The same result for any batch size and number of workers, fused or not", .timeLimit(.minutes(60)))
struct SameResultTests {
    /// Attributes, entities and links of all kinds change from version to version.
    static let versions = [
        model(
            entity(
                "Author", attribute("name"), attribute("age", "Integer 16"),
                toMany("books", "Book", inverse: "author", ordered: true)),
            entity(
                "Book", attribute("title"), toOne("author", "Author", inverse: "books"),
                toMany("tags", "Tag", inverse: "books")),
            entity("Novel", parent: "Book", attribute("pages", "Integer 32")),
            entity("Tag", attribute("label"), toMany("books", "Book", inverse: "tags"))),
        model(
            entity(
                "Author", attribute("fullName", was: "name"),
                attribute("age", "Integer 16", optional: false, default: "18"),
                toMany("books", "Book", inverse: "author", ordered: true)),
            entity(
                "Book", attribute("title"), toOne("author", "Author", inverse: "books"),
                toMany("tags", "Tag", inverse: "books", ordered: true)),
            entity("Novel", parent: "Book", attribute("pages", "Integer 32")),
            entity("Tag", attribute("label"), toMany("books", "Book", inverse: "tags"))),
        model(
            entity("Apple", attribute("color")),
            entity(
                "Person", was: "Author", attribute("fullName", was: "name"),
                attribute("age", "Integer 16", optional: false, default: "21"),
                attribute("vip", "Boolean", default: "NO"), toMany("books", "Book", inverse: "authors", was: "books")),
            entity(
                "Book", attribute("title"), attribute("pages", "Integer 32"),
                toMany("authors", "Person", inverse: "books", was: "author"),
                toMany("tags", "Tag", inverse: "books", ordered: true)),
            entity("Novel", parent: "Book"), entity("Comic", parent: "Book"),
            entity("Tag", attribute("label"), toMany("books", "Book", inverse: "tags"))),
        model(
            entity(
                "Person", attribute("fullName", was: "name"),
                attribute("age", "Integer 16", optional: false, default: "21"),
                attribute("vip", "Boolean", default: "NO"), toMany("books", "Book", inverse: "authors")),
            entity(
                "Book", attribute("title"), attribute("pages", "Integer 32"),
                toMany("authors", "Person", inverse: "books")),
            entity("Novel", parent: "Book"), entity("Comic", parent: "Book")),
    ]

    static let rows = """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
        INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME, ZAGE) \
        SELECT i, 1, i % 5, 'name ' || i, CASE WHEN i % 3 THEN i % 100 END FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
        INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZAUTHOR, Z_FOK_AUTHOR, ZPAGES) \
        SELECT i * 2, CASE WHEN i % 4 THEN 2 ELSE 3 END, 1, printf('%.*c', i % 700, 'x'), \
        CASE WHEN i % 7 THEN 1 + i % 300 END, CASE WHEN i % 7 THEN 5000 - i END, CASE WHEN i % 4 = 0 THEN i END FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
        INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZLABEL) SELECT i, 4, 1, 'tag' || i FROM n;
        INSERT INTO Z_2TAGS SELECT b.Z_PK, t.Z_PK FROM ZBOOK AS b, ZTAG AS t WHERE (b.Z_PK + t.Z_PK) % 9 = 0;
        """

    private func scenario() throws -> Scenario {
        try Scenario(Self.versions[0], Self.versions[1], Self.versions[2], Self.versions[3], rows: Self.rows)
    }

    @Test(
        "batches of 1, 7 and 1,024 rows and 1 to 4 workers give the same bytes",
        arguments: [EngineChoice.statements, .pages])
    func bytes(engine: EngineChoice) throws {
        let scenario = try scenario()
        var expected: Data?
        for batchRows in [1_024, 7, 1] {
            for jobs in 1...4 {
                let request = scenario.request(to: "V4", batchRows: batchRows, jobs: jobs, engine: engine)
                let path = try EngineRun.output(request, as: "\(batchRows)-\(jobs).sqlite")
                let bytes = try Data(contentsOf: URL(filePath: path))
                #expect(bytes == expected ?? bytes, "\(batchRows) rows, \(jobs) workers")
                expected = bytes
            }
        }
    }

    @Test(
        "fused steps and single steps give the same rows, by statements and by pages", arguments: ["V2", "V3", "V4"],
        [EngineChoice.statements, .pages])
    func fusion(target: String, engine: EngineChoice) throws {
        let scenario = try scenario()
        let joined = try Migration(scenario.request(to: target)).prepare()
        let single = try Migration(scenario.request(to: target, fuses: false)).prepare()
        #expect(joined.path == single.path)
        #expect(single.steps.count == single.path.count - 1)
        let paths = try [(true, engine), (false, .statements)].map { fuses, engine in
            try EngineRun.output(scenario.request(to: target, fuses: fuses, engine: engine), as: "\(fuses).sqlite")
        }
        let (a, b) = (try Database.dump(paths[0]), try Database.dump(paths[1]))
        #expect(a.count == b.count)
        for (left, right) in zip(a, b) where left != right {
            Issue.record("joined: \(left)\nsingle: \(right)")
            break
        }
    }

    @Test("a jump over versions uses its own mapping")
    func jump() throws {
        let scenario = try scenario()
        var request = scenario.request(to: "V4")
        request.edges = ["V1": "V3"]
        let prepared = try Migration(request).prepare()
        #expect(prepared.path == ["V1", "V3", "V4"])
    }

    @Test("what a run reports adds up: the rows of the result, and what was dropped in every step")
    func report() throws {
        let scenario = try scenario()
        var (rows, dropped, titles) = (0, 0, 0)
        let outcome = try Migration(scenario.request(to: "V4")) { event in
            switch event {
            case .stepBegan: rows = 0
            case .passBegan: titles += 1
            case .passEnded(_, let moved, let left, _):
                rows += moved
                dropped += left
                titles -= 1
            default: break
            }
        }.run()
        #expect(outcome.rows == rows)
        #expect(outcome.dropped == dropped)
        #expect(titles == 0)
        #expect(outcome.prepared.steps.count == 2, "an entity's removal isn't joined with links that change their form")
        #expect(try scenario.rows("SELECT count(*) FROM ZPERSON") == ["300"])
        #expect(try scenario.rows("SELECT count(*) FROM ZBOOK") == ["1500"])
    }
}
