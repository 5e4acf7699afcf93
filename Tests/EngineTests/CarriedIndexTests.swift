import CausewayEngine
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewayStoreFormat
import CausewayStores
import Foundation
import Testing

/// Indexes of rebuilt tables whose entries stay the same: those of the source are packed anew.
@Suite("Carried indexes", .timeLimit(.minutes(60)))
struct CarriedIndexTests {
    /// All tables are made anew, those of links too: an entity more changes the names of their columns, not the links.
    private static let versions = [
        model(
            entity(
                "Note", attribute("text"), attribute("size", "Double"), attribute("count", "Integer 16"),
                attribute("gone"), toOne("owner", "Person", inverse: "notes"), toMany("tags", "Tag", inverse: "notes"),
                index("size"), index("count"), index("text", "owner"), descending("size")),
            entity("Person", attribute("name"), attribute("gone"), toMany("notes", "Note", inverse: "owner")),
            entity("Tag", attribute("label"), attribute("gone"), toMany("notes", "Note", inverse: "tags"))),
        model(
            entity("Early", attribute("a")),
            entity(
                "Note", attribute("title", was: "text"), attribute("size", "Double"), attribute("count", "Double"),
                attribute("rank", "Integer 16", optional: false, default: "7"),
                toOne("owner", "Person", inverse: "notes"), toMany("tags", "Tag", inverse: "notes"), index("size"),
                index("count"), index("title", "owner"), index("rank"), descending("size")),
            entity(
                "Person", attribute("name"), attribute("rank", optional: false, default: "a"),
                toMany("notes", "Note", inverse: "owner")),
            entity(
                "Tag", attribute("label"), attribute("rank", optional: false, default: "a"),
                toMany("notes", "Note", inverse: "tags"))),
    ]

    private static func index(_ attributes: String...) -> String {
        let elements = attributes.map { "<fetchIndexElement property=\"\($0)\" type=\"Binary\" order=\"ascending\"/>" }
        return "<fetchIndex name=\"by\(attributes.joined())\">\(elements.joined())</fetchIndex>"
    }

    private static func descending(_ attribute: String) -> String {
        """
        <fetchIndex name="down\(attribute)">\
        <fetchIndexElement property="\(attribute)" type="Binary" order="descending"/></fetchIndex>
        """
    }

    private static let rows = """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
        INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT, ZSIZE, ZCOUNT, ZGONE, ZOWNER) \
        SELECT i * 3 - 900, 1, i % 4, printf('%d%.*c', i * 7919 % 1500, i % 90 * 7 + CASE WHEN i % 97 THEN 0 ELSE 9000 END, \
        'x'), CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN i ELSE i / 8.0 END, i % 9, 'secret', nullif(i % 40, 0) FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
        INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT i, 2, 1, i FROM n;
        INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZLABEL) VALUES (1, 3, 1, 'one'), (2, 3, 1, 'two');
        INSERT INTO Z_1TAGS SELECT Z_PK, 1 + Z_PK % 2 FROM ZNOTE ORDER BY ZTEXT;
        """

    private static let origins = [
        "ZNOTE_ZOWNER_INDEX", "Z_Note_size", "Z_Note_downsize", "Z_Note_bytextowner", "Z_1TAGS_Z_3TAGS_INDEX",
        "sqlite_autoindex_Z_1TAGS_1",
    ]

    private static func scenario() throws -> Scenario {
        let scenario = try Scenario(versions[0], versions[1], rows: rows)
        // Pages of the source lie in the order in which the rows came.
        try Scenario.execute("PRAGMA auto_vacuum = 2; VACUUM", scenario.store)
        return scenario
    }

    private static let byStatements = Result {
        let scenario = try Self.scenario()
        _ = try Migration(scenario.request(to: "V2", engine: .statements)).run()
        return try KeptTableTests.content(scenario.store)
    }

    private static let byPages = Result {
        let scenario = try Self.scenario()
        _ = try Migration(scenario.request(to: "V2", engine: .pages)).run()
        return try Data(contentsOf: URL(filePath: scenario.store))
    }

    private static func indexes(of scenario: Scenario) throws -> [IndexWork] {
        let store = try SourceStore.reading(try StoreLocation(existing: scenario.store))
        defer { store.release() }
        let history = try ModelHistory(reading: scenario.models, edges: [:])
        let request = scenario.request(to: "V2", engine: .pages)
        return try PreparedMigration(request, history: history, store: store).steps.flatMap(\.works).flatMap(\.indexes)
    }

    @Test("the plan carries what has the same entries, and says why it sorts the others")
    func plan() throws {
        let indexes = try Self.indexes(of: Self.scenario())
        let carried = indexes.filter { $0.method == .carry }
        #expect(Set(carried.compactMap(\.origin?.index.name)) == Set(Self.origins), "\(indexes)")
        #expect(carried.allSatisfy { $0.reason == "its table is rebuilt" })
        let sorted = Dictionary(
            uniqueKeysWithValues: indexes.filter { $0.method == .sort }.map { ($0.index.name, $0.reason ?? "") })
        // Of one attribute Core Data makes two.
        let (count, rank) = ("column ZCOUNT gets new values", "column ZRANK gets new values")
        #expect(
            sorted == ["Z_Note_count": count, "Z_Note_bycount": count, "Z_Note_rank": rank, "Z_Note_byrank": rank])
    }

    @Test("of a file in an older format nothing is carried: entries have other bytes there", arguments: 1...3)
    func oldFormat(format: UInt8) throws {
        let scenario = try Self.scenario()
        // The schema format's number (https://www.sqlite.org/fileformat2.html#schemaformat).
        try scenario.change(scenario.store) { $0[47] = format }
        let indexes = try Self.indexes(of: scenario)
        #expect(indexes.allSatisfy { $0.method == .sort && $0.reason == "the store's format is an older one" })
        let run = try scenario.rerun(scenario.request(to: "V2", engine: .pages))
        #expect(!run.warnings.contains { $0.contains("stale") }, "\(run.warnings)")
        #expect(try KeptTableTests.content(scenario.store) == Self.byStatements.get())
    }

    /// An index on Z_ENT, whose entities get other numbers. `count` entities come before them already.
    private static func renumbered(after count: Int) throws -> Scenario {
        let early = (0..<count).map { entity("A\($0)", attribute("a")) }
        func version(_ added: String, _ early: [String]) -> String {
            model(
                (early + [
                    entity("Base", attribute("a"), added), entity("Sub", parent: "Base", attribute("b")),
                    entity("Sub2", parent: "Base"),
                ]).joined())
        }
        let first = count + 1
        return try Scenario(
            version("", early),
            version(
                attribute("rank", "Integer 16", optional: false, default: "7"), early + [entity("B", attribute("a"))]),
            rows: """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
                INSERT INTO ZBASE (Z_PK, Z_ENT, Z_OPT, ZA) SELECT i * 2, \(first) + i * 7 % 3, 1, i FROM n;
                """)
    }

    @Test("an index on Z_ENT is carried where the entities' numbers keep their order and size", arguments: [1, 0, 125])
    func renumberedEntities(before count: Int) throws {
        let (scenario, other) = (try Self.renumbered(after: count), try Self.renumbered(after: count))
        let index = try #require(try Self.indexes(of: scenario).first { $0.index.columns.map(\.name) == ["Z_ENT"] })
        // 1 is stored in no byte, and 128 in two.
        let reasons = [
            1: "its table is rebuilt", 0: "column Z_ENT: 1 and 2 aren't stored in the same number of bytes",
            125: "column Z_ENT: 127 and 128 aren't stored in the same number of bytes",
        ]
        #expect(index.method == (count == 1 ? .carry : .sort) && index.reason == reasons[count], "\(index)")
        let run = try scenario.rerun(scenario.request(to: "V2", engine: .pages))
        #expect(!run.warnings.contains { $0.contains("stale") }, "\(run.warnings)")
        _ = try Migration(other.request(to: "V2", engine: .statements)).run()
        #expect(try KeptTableTests.content(scenario.store) == KeptTableTests.content(other.store))
        #expect(try scenario.rows("PRAGMA integrity_check") == ["'ok'"])
    }

    @Test("one on Z_ENT that is stale is sorted", arguments: VerificationLevel.allCases)
    func staleEntities(level: VerificationLevel) throws {
        for sql in ["UPDATE ZBASE SET Z_ENT = 3 WHERE Z_PK = 28", "DELETE FROM ZBASE WHERE Z_PK = 28"] {
            let (scenario, other) = (try Self.renumbered(after: 1), try Self.renumbered(after: 1))
            for scenario in [scenario, other] {
                try StaleIndexTests.Damage.behind(index: "ZBASE_Z_ENT_INDEX", sql: sql).apply(to: scenario.store)
            }
            var request = scenario.request(to: "V2", engine: .pages)
            request.verification = level
            let run = try scenario.rerun(request)
            #expect(run.warnings.contains { $0.contains("stale in the source") }, "\(run.warnings)")
            _ = try Migration(other.request(to: "V2", engine: .statements)).run()
            #expect(try KeptTableTests.content(scenario.store) == KeptTableTests.content(other.store))
            #expect(try scenario.rows("PRAGMA integrity_check") == ["'ok'"])
        }
    }

    @Test("indexes of tables that lose rows are sorted")
    func leavesRowsOut() throws {
        let first = model(
            entity("Base", attribute("a"), Self.index("a")), entity("Sub", parent: "Base", attribute("b")))
        let second = model(entity("Base", attribute("a"), Self.index("a")))
        let scenario = try Scenario(
            first, second,
            rows: "INSERT INTO ZBASE (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 1, 1, 'x'), (2, 2, 1, 'y'), (3, 1, 1, 'z')")
        let index = try #require(try Self.indexes(of: scenario).first { $0.index.name == "Z_Base_bya" })
        #expect(index.method == .sort && index.reason == "rows of entities that go are left out")
        let run = try scenario.rerun(scenario.request(to: "V2", engine: .pages))
        #expect(!run.warnings.contains { $0.contains("stale") })
        #expect(try scenario.rows("PRAGMA integrity_check") == ["'ok'"])
        #expect(try scenario.rows("SELECT ZA FROM ZBASE INDEXED BY Z_Base_bya WHERE ZA > ''") == ["'x'", "'z'"])
    }

    @Test(
        "have the entries of the rows, and the same bytes for any number of workers and batch size",
        arguments: [1, 2, 5],
        VerificationLevel.allCases)
    func same(jobs: Int, level: VerificationLevel) throws {
        let scenario = try Self.scenario()
        var request = scenario.request(to: "V2", batchRows: jobs == 2 ? 1 : 4_096, jobs: jobs, engine: .pages)
        request.verification = level
        let run = try scenario.rerun(request)
        #expect(!run.warnings.contains { $0.contains("stale") }, "\(run.warnings)")
        #expect(try KeptTableTests.content(scenario.store) == Self.byStatements.get())
        #expect(try scenario.rows("PRAGMA integrity_check") == ["'ok'"])
        #expect(try Data(contentsOf: URL(filePath: scenario.store)) == Self.byPages.get())
    }

    @Test(
        "have the same bytes after a kill, also where the last checkpoint is an old one",
        arguments: [
            (KillPoint.pagesBegun, 1), (.batchWritten, 2), (.checkpointWritten, 2), (.checkpointWritten, 4),
            (.indexMade, 1), (.indexMade, 2), (.indexMade, 4), (.indexMade, 7), (.pagesWhole, 1), (.pagesDone, 1),
            (.schemaFinished, 1),
        ], [0, 3_600])
    func killed(at place: (point: KillPoint, count: Int), interval: Double) async throws {
        let scenario = try Self.scenario()
        // Without a checkpoint in between, the batches' visits are the same, those of checkpoints aren't.
        if interval > 0, place.point == .checkpointWritten { return }
        try await scenario.kill(at: place.point, place.count, engine: .pages, interval: interval)
        let run = try scenario.rerun(KeptTableTests.careful(scenario))
        #expect(!run.warnings.contains { $0.contains("stale") || $0.contains("starts over") }, "\(run.warnings)")
        #expect(try KeptTableTests.content(scenario.store) == Self.byStatements.get())
        #expect(try Data(contentsOf: URL(filePath: scenario.store)) == Self.byPages.get())
    }

    private static let damages: [StaleIndexTests.Damage] = [
        .behind(index: "ZNOTE_ZOWNER_INDEX", sql: "DELETE FROM ZNOTE WHERE Z_PK = 1500"),
        .behind(
            index: "ZNOTE_ZOWNER_INDEX",
            sql: "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (90000, 1, 1, 'new')"),
        .behind(index: "Z_Note_bytextowner", sql: "UPDATE ZNOTE SET ZTEXT = 'other' WHERE Z_PK = 1500"),
        .behind(index: "Z_1TAGS_Z_3TAGS_INDEX", sql: "INSERT INTO Z_1TAGS VALUES (3, 1)"),
        .under(
            text: "DROP INDEX Z_Note_size; CREATE INDEX Z_Note_bysize ON ZNOTE (ZSIZE COLLATE BINARY DESC)",
            becoming: "'DESC', 'ASC'",
            index: "Z_Note_bysize"),
    ]

    @Test(
        "stale ones are sorted anew, with a warning, at any level of verification", arguments: damages,
        VerificationLevel.allCases)
    func stale(damage: StaleIndexTests.Damage, level: VerificationLevel) throws {
        func scenario() throws -> Scenario {
            let scenario = try Self.scenario()
            try damage.apply(to: scenario.store)
            return scenario
        }
        let (one, other) = (try scenario(), try scenario())
        #expect(try one.rows("PRAGMA integrity_check") != ["'ok'"], "the index isn't stale")
        _ = try Migration(other.request(to: "V2", engine: .statements)).run()
        var request = one.request(to: "V2", jobs: 3, engine: .pages)
        request.verification = level
        let run = try one.rerun(request)
        #expect(run.warnings.contains { $0.contains("stale in the source") }, "\(run.warnings)")
        #expect(try KeptTableTests.content(one.store) == KeptTableTests.content(other.store))
        #expect(try one.rows("PRAGMA integrity_check") == ["'ok'"])
    }

    @Test(
        "a stale one is sorted after a kill, too",
        arguments: [(KillPoint.indexMade, 1), (.indexMade, 4), (.pagesDone, 1)])
    func staleAfterKill(point: KillPoint, count: Int) async throws {
        let (scenario, other) = (try Self.scenario(), try Self.scenario())
        try Self.damages[2].apply(to: scenario.store)
        try Self.damages[2].apply(to: other.store)
        _ = try Migration(other.request(to: "V2", engine: .pages)).run()
        try await scenario.kill(at: point, count, engine: .pages)
        let run = try scenario.rerun(KeptTableTests.careful(scenario))
        #expect(!run.warnings.contains { $0.contains("starts over") }, "\(run.warnings)")
        #expect(
            try Data(contentsOf: URL(filePath: scenario.store)) == Data(contentsOf: URL(filePath: other.store)))
        #expect(try scenario.rows("PRAGMA integrity_check") == ["'ok'"])
    }

    @Test("of a stale index that two come from is warned once")
    func staleTwice() throws {
        let scenario = try Self.scenario()
        // Core Data's two indexes of one attribute both come from the one that is left.
        try Scenario.execute("DROP INDEX Z_Note_bysize", scenario.store)
        try StaleIndexTests.Damage.behind(index: "Z_Note_size", sql: "UPDATE ZNOTE SET ZSIZE = -5 WHERE Z_PK = 1500")
            .apply(to: scenario.store)
        let run = try scenario.rerun(scenario.request(to: "V2", engine: .pages))
        #expect(run.warnings.filter { $0.contains("stale in the source") && $0.contains("Z_Note_size") }.count == 1)
        #expect(try scenario.rows("PRAGMA integrity_check") == ["'ok'"])
    }

    @Test(
        "rows that break a constraint end the run with their names, whatever the index says",
        arguments: VerificationLevel.allCases)
    func notUnique(level: VerificationLevel) throws {
        let scenario = try Self.scenario()
        try StaleIndexTests.Damage.behind(
            index: "sqlite_autoindex_Z_1TAGS_1", unless: ", PRIMARY KEY (Z_1NOTES, Z_3TAGS)",
            sql:
                "INSERT INTO Z_1TAGS (rowid, Z_1NOTES, Z_3TAGS) SELECT 90001, Z_1NOTES, Z_3TAGS FROM Z_1TAGS WHERE rowid = 7"
        ).apply(to: scenario.store)
        let before = try Data(contentsOf: URL(filePath: scenario.store))
        var request = scenario.request(to: "V2", engine: .pages)
        request.verification = level
        let error = try failure { _ = try Migration(request).run() }
        #expect(error.kind == .sourceData && error.message.contains("rows 7 and 90001"), "\(error)")
        #expect(try Data(contentsOf: URL(filePath: scenario.store)) == before)
    }

    @Test("are carried in every step of a chain", arguments: [true, false])
    func chain(fuses: Bool) throws {
        let third = Self.versions[1].replacingOccurrences(of: "rank", with: "place")
        func scenario() throws -> Scenario { try Scenario(versions: Self.versions + [third], rows: Self.rows) }
        let (one, other) = (try scenario(), try scenario())
        let store = try SourceStore.reading(try StoreLocation(existing: one.store))
        let history = try ModelHistory(reading: one.models, edges: [:])
        let request = one.request(to: "V3", fuses: fuses, engine: .pages)
        let steps = try PreparedMigration(request, history: history, store: store).steps
        store.release()
        let carried = steps.map { $0.works.flatMap(\.indexes).count { $0.method == .carry } }
        // The second step has the values of both indexes on the count, too.
        #expect(carried == (fuses ? [7] : [7, 9]))
        _ = try one.rerun(request)
        _ = try other.rerun(other.request(to: "V3", fuses: fuses, engine: .statements))
        #expect(try KeptTableTests.content(one.store) == KeptTableTests.content(other.store))
        #expect(try one.rows("PRAGMA integrity_check") == ["'ok'"])
    }

    @Test("a damaged index is sorted anew: the rows are sound")
    func damaged() throws {
        let scenario = try Self.scenario()
        let root = try #require(
            Int(try scenario.rows("SELECT rootpage FROM sqlite_schema WHERE name = 'Z_Note_bytextowner'").first ?? ""))
        try scenario.change(scenario.store) { bytes in
            // The number of its cells.
            bytes[(root - 1) * 4_096 + 3] = 0xFF
        }
        var request = scenario.request(to: "V2", engine: .pages)
        request.verification = .none
        let run = try scenario.rerun(request)
        #expect(run.warnings.contains { $0.contains("stale in the source") }, "\(run.warnings)")
        #expect(try KeptTableTests.content(scenario.store) == Self.byStatements.get())
        #expect(try scenario.rows("PRAGMA integrity_check") == ["'ok'"])
    }
}
