import Causeway
import ColourfulPostsMigrator
import Foundation
import Testing

/// Colourful Posts v1 → v4, as Fixtures/README.md says.
@Suite("ColourfulPosts: a policy splits an entity between inferred steps", .timeLimit(.minutes(60)))
struct ColourfulPostsTests {
    static let history = ExampleHistory(
        name: "ColourfulPosts", versions: ["v1", "v2", "v3", "v4"], code: ColourfulPostsMigrator.code)

    @Test("v1 → v2: color becomes hexColor")
    func rename() async throws {
        let workshop = try Workshop()
        let source = try Self.history.store(at: "v1", in: workshop)
        let result = try await Self.history.migrate(source, to: "v2", in: workshop)
        #expect(
            try StoreContent.rows("SELECT Z_PK, Z_ENT, ZPOSTID, ZHEXCOLOR, ZCONTENT, ZDATE FROM ZPOST", result)
                == StoreContent.rows("SELECT Z_PK, Z_ENT, ZPOSTID, ZCOLOR, ZCONTENT, ZDATE FROM ZPOST", source))
    }

    @Test("v2 → v3: the content of a post becomes its section")
    func split() async throws {
        let workshop = try Workshop()
        let source = try Self.history.store(at: "v2", in: workshop)
        let result = try await Self.history.migrate(source, to: "v3", in: workshop)
        try expectSplit(result, from: source, color: "ZHEXCOLOR")
        #expect(try StoreContent.count("ZSECTION", result) == 131)
    }

    @Test("v3 → v4: no post is soft-deleted yet, sections stay")
    func softDelete() async throws {
        let workshop = try Workshop()
        let source = try Self.history.store(at: "v3", in: workshop)
        let result = try await Self.history.migrate(source, to: "v4", in: workshop)
        #expect(
            try StoreContent.rows("SELECT Z_PK, ZPOSTID, ZHEXCOLOR, ZDATE, ZISSOFTDELETED FROM ZPOST", result)
                == StoreContent.rows("SELECT Z_PK, ZPOSTID, ZHEXCOLOR, ZDATE, 0 FROM ZPOST", source))
        #expect(
            try StoreContent.rows("SELECT * FROM ZSECTION", result)
                == StoreContent.rows("SELECT * FROM ZSECTION", source))
    }

    @Test("the whole chain from v1 and v2", arguments: ["v1", "v2"], [true, false])
    func chain(from version: String, fusesSteps: Bool) async throws {
        let workshop = try Workshop()
        let source = try Self.history.store(at: version, in: workshop)
        let work = ExampleHistory.Work(fusesSteps: fusesSteps)
        let result = try await Self.history.migrate(source, to: "v4", work, in: workshop)
        try expectSplit(result, from: source, color: version == "v1" ? "ZCOLOR" : "ZHEXCOLOR")
        #expect(try StoreContent.rows("SELECT DISTINCT ZISSOFTDELETED FROM ZPOST", result) == ["0"])
    }

    private func expectSplit(_ result: String, from source: String, color: String) throws {
        #expect(
            try StoreContent.rows("SELECT Z_PK, ZPOSTID, ZHEXCOLOR, ZDATE FROM ZPOST", result)
                == StoreContent.rows("SELECT Z_PK, ZPOSTID, \(color), ZDATE FROM ZPOST", source))
        #expect(
            try StoreContent.rows("SELECT Z_PK, ZTITLE, ZBODY, ZINDEX, ZPOST FROM ZSECTION ORDER BY Z_PK", result)
                == StoreContent.rows(
                    """
                    SELECT row_number() OVER (ORDER BY Z_PK), substr(ZCONTENT, 1, 4) || '...', ZCONTENT, 0, Z_PK \
                    FROM ZPOST WHERE ZCONTENT IS NOT NULL ORDER BY Z_PK
                    """, source))
        #expect(
            try StoreContent.rows("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_NAME", result) == [
                "'Post'|\(try StoreContent.count("ZPOST", source))",
                "'Section'|\(try StoreContent.count("ZPOST WHERE ZCONTENT IS NOT NULL", source))",
            ])
    }

    @Test("a short content is the whole title; NULL makes no section, an empty text makes one")
    func shortContent() async throws {
        let workshop = try Workshop()
        let source = try Self.history.store(at: "v2", in: workshop)
        try StoreContent.execute(
            """
            UPDATE ZPOST SET ZCONTENT = CASE Z_PK WHEN 1 THEN '' WHEN 2 THEN 'abc' WHEN 3 THEN NULL \
            WHEN 4 THEN 'e' || char(0x301) || '👩‍👩‍👧🇩🇪xyz' END WHERE Z_PK <= 4
            """, source)
        let result = try await Self.history.migrate(source, to: "v3", in: workshop)
        // Characters, not scalars: a letter with a combining accent, a family and a flag are one each.
        #expect(
            try StoreContent.rows("SELECT ZPOST, ZTITLE FROM ZSECTION WHERE ZPOST <= 4 ORDER BY ZPOST", result)
                == ["1|'...'", "2|'abc...'", "4|'e\u{301}👩‍👩‍👧🇩🇪x...'"])
    }
}
