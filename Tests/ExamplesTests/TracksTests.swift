import Causeway
import Foundation
import Testing
import TracksMigrator

/// Tracks v1 → v3, as Fixtures/README.md says.
@Suite("Tracks: a stage's handler makes entities out of JSON", .timeLimit(.minutes(60)))
struct TracksTests {
    static let history = Result {
        ExampleHistory(
            name: "Tracks", versions: ["v1", "v2", "v3"],
            fills: [
                "v1": #"""
                UPDATE ZTRACK SET ZARTISTSJSON = CASE
                    WHEN Z_PK % 10 = 0 THEN NULL
                    WHEN Z_PK % 10 = 5 THEN '[]'
                    ELSE printf('[{"id":%d,"name":"Ren\u00e9 %d"},{"name":"Ren\u00e9 %d","id":%d}]',
                                Z_PK % 97 + 1, Z_PK % 97 + 1, Z_PK * 7 % 97 + 1, Z_PK * 7 % 97 + 1)
                    END
                """#
            ], code: try TracksMigrator.code)
    }

    @Test("v1 → v2: one artist for each id, linked with the tracks that name it")
    func artists() async throws {
        let history = try Self.history.get()
        let workshop = try Workshop()
        let source = try history.store(at: "v1", in: workshop)
        let result = try await history.migrate(source, to: "v2", in: workshop)
        try expectArtists(result, from: source)
        let tracks = "SELECT Z_PK, ZTITLE, ZDURATION, ZARTISTSJSON FROM ZTRACK"
        #expect(try StoreContent.rows(tracks, result) == StoreContent.rows(tracks, source))
    }

    @Test("v2 → v3: the JSON is removed, artists and links stay")
    func withoutJSON() async throws {
        let history = try Self.history.get()
        let workshop = try Workshop()
        let source = try history.store(at: "v2", in: workshop)
        let result = try await history.migrate(source, to: "v3", in: workshop)
        for sql in [
            "SELECT Z_PK, ZTITLE, ZDURATION FROM ZTRACK", "SELECT * FROM ZARTIST",
            Self.links,
        ] {
            #expect(try StoreContent.rows(sql, result) == StoreContent.rows(sql, source))
        }
        #expect(try StoreContent.count(Self.joinTable, source) > 0)
        #expect(try StoreContent.count("pragma_table_info('ZTRACK') WHERE name = 'ZARTISTSJSON'", result) == 0)
    }

    @Test("the whole chain from v1", arguments: [true, false])
    func chain(fusesSteps: Bool) async throws {
        let history = try Self.history.get()
        let workshop = try Workshop()
        let source = try history.store(at: "v1", in: workshop)
        let result = try await history.migrate(source, to: "v3", .init(fusesSteps: fusesSteps), in: workshop)
        try expectArtists(result, from: source)
        let tracks = "SELECT Z_PK, ZTITLE, ZDURATION FROM ZTRACK"
        #expect(try StoreContent.rows(tracks, result) == StoreContent.rows(tracks, source))
    }

    @Test("JSON that can't be read stops the migration, naming stage, handler and track")
    func unreadable() async throws {
        let history = try Self.history.get()
        let workshop = try Workshop()
        let source = try history.store(at: "v1", in: workshop)
        try StoreContent.execute(#"UPDATE ZTRACK SET ZARTISTSJSON = '[{"id":1}]' WHERE Z_PK = 42"#, source)
        let error = try await #require(throws: MigrationError.self) {
            try await history.migrate(source, to: "v3", in: workshop, as: "refused.sqlite")
        }
        #expect(error.code == .sourceData)
        #expect(error.message.contains("Artists get rows of their own"))
        #expect(error.message.contains("didMigrate at “v2”"))
        #expect(error.message.contains("/Track/p42"))
        #expect(!FileManager.default.fileExists(atPath: workshop.path("refused.sqlite")))
        // After the fix, it starts again from v1's rows.
        try StoreContent.execute("UPDATE ZTRACK SET ZARTISTSJSON = '[]' WHERE Z_PK = 42", source)
        let result = try await history.migrate(source, to: "v3", in: workshop, as: "refused.sqlite")
        #expect(try StoreContent.count("\(Self.joinTable) WHERE \(Self.trackColumn) = 42", result) == 0)
        let fresh = try await history.migrate(source, to: "v3", in: workshop)
        StoreContent.expectSame(try StoreContent.dump(result), try StoreContent.dump(fresh), "again and afresh")
    }

    @Test("more tracks than the handler fetches at once share their artists")
    func batches() async throws {
        let history = try Self.history.get()
        let workshop = try Workshop()
        let source = try history.store(at: "v1", rows: 1_000, in: workshop)
        let result = try await history.migrate(source, to: "v3", in: workshop)
        try expectArtists(result, from: source, tracks: 1_000, links: 1_592)
    }

    private static let joinTable = "Z_1TRACKS"
    private static let trackColumn = "Z_2TRACKS"
    private static let links = """
        SELECT j.\(trackColumn) AS track, a.ZID FROM \(joinTable) AS j JOIN ZARTIST AS a ON a.Z_PK = j.Z_1ARTISTS \
        ORDER BY 1, 2
        """

    private func expectArtists(
        _ result: String, from source: String, tracks: Int = ExampleHistory.rows, links count: Int = 318
    ) throws {
        #expect(
            try StoreContent.rows("SELECT ZID, ZNAME FROM ZARTIST ORDER BY ZID", result)
                == (1...97).map { "\($0)|'René \($0)'" })
        // In the order in which the handler meets them: that of the tracks, and of each track's JSON.
        #expect(
            try StoreContent.rows("SELECT ZID FROM ZARTIST ORDER BY Z_PK LIMIT 4", result) == ["2", "8", "3", "15"])
        let links = try StoreContent.rows(Self.links, result)
        #expect(
            try links
                == StoreContent.rows(
                    """
                    SELECT * FROM (SELECT Z_PK, Z_PK % 97 + 1 AS id FROM ZTRACK WHERE Z_PK % 5 <> 0 \
                    UNION SELECT Z_PK, Z_PK * 7 % 97 + 1 FROM ZTRACK WHERE Z_PK % 5 <> 0) ORDER BY 1, 2
                    """, source))
        #expect(links.count == count)
        #expect(
            try StoreContent.rows("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_NAME", result)
                == ["'Artist'|97", "'Track'|\(tracks)"])
    }
}
