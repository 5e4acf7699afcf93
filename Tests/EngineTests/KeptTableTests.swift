import CausewayEngine
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores
import Foundation
import Testing

/// A step that changes little begins with a copy of the store: tables that stay, or whose entity numbers alone change,
/// have the same rows as those made by statements.
@Suite("Tables that stay", .timeLimit(.minutes(60)))
struct KeptTableTests {
    /// Note stays, with a new name and a column more; entities after Barn get other numbers, and so do the links to
    /// them; Small is made anew, Gone goes.
    static let versions = [
        model(
            entity("Aardvark", attribute("a")), entity("Gone", attribute("a")),
            entity("Kind", attribute("k"), toMany("notes", "Note", inverse: "kind")),
            entity("Large", parent: "Kind", attribute("l"), toOne("next", "Kind")),
            entity(
                "Note", attribute("text"), attribute("size", "Double"), toOne("kind", "Kind", inverse: "notes"),
                toMany("tags", "Tag", inverse: "notes"), extra("text")),
            entity("Small", attribute("s"), attribute("gone")),
            entity("Tag", attribute("label"), toMany("notes", "Note", inverse: "tags"))),
        model(
            entity("Aardvark", attribute("a")), entity("Barn", attribute("b")), entity("Corn", attribute("c")),
            entity("Kind", attribute("k"), toMany("notes", "Note", inverse: "kind")),
            entity("Large", parent: "Kind", attribute("l"), toOne("next", "Kind")),
            entity(
                "Note", attribute("title", was: "text"), attribute("size", "Double"), attribute("late"),
                toOne("kind", "Kind", inverse: "notes"), toMany("tags", "Tag", inverse: "notes"), extra("title"),
                extra("size", name: "new")),
            entity("Small", attribute("s"), attribute("rank", "Integer 16", optional: false, default: "7")),
            entity("Tag", attribute("label"), toMany("notes", "Note", inverse: "tags"))),
    ]

    /// A fetch index.
    private static func extra(_ attribute: String, name: String = "by") -> String {
        """
        <fetchIndex name="\(name)"><fetchIndexElement property="\(attribute)" type="Binary" order="ascending"/></fetchIndex>
        """
    }

    static let rows = """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2600)
        INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT, ZSIZE, ZKIND, Z3_KIND) \
        SELECT i * 3 - 900, 5, i % 4, printf('%d%.*c', i, i % 90 * 7 + CASE WHEN i % 97 THEN 0 ELSE 9000 END, 'x'), \
        CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN i ELSE i / 8.0 END, i % 40 + 1, 3 + i % 2 FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
        INSERT INTO ZKIND (Z_PK, Z_ENT, Z_OPT, ZK, ZNEXT, Z3_NEXT) SELECT i, 3 + (i + 1) % 2, 1, i, i % 40 + 1, 3 FROM n;
        INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZLABEL) VALUES (1, 7, 1, 'one'), (2, 7, 1, 'two');
        INSERT INTO Z_5TAGS SELECT Z_PK, 1 + Z_PK % 2 FROM ZNOTE ORDER BY ZTEXT;
        INSERT INTO ZSMALL (Z_PK, Z_ENT, Z_OPT, ZS, ZGONE) VALUES (1, 6, 1, 'a', 'secret'), (2, 6, 1, 'b', 'secret');
        INSERT INTO ZGONE (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 2, 1, 'secret');
        CREATE TABLE own (a UNIQUE, b TEXT COLLATE NOCASE);
        CREATE INDEX own_b ON own (b) WHERE b > 'a';
        CREATE VIEW own_view AS SELECT a FROM own;
        CREATE TRIGGER own_trigger AFTER INSERT ON own BEGIN SELECT 1; END;
        INSERT INTO own (rowid, a, b) VALUES (7, 1, 'x'), (3, 'x', 'Y');
        """

    static func scenario(wal: Bool = false, rows: String = "") throws -> Scenario {
        try Scenario(versions[0], versions[1], wal: wal, rows: Self.rows + rows)
    }

    /// The rows and the schema, whatever their order, without rowids of join tables, which VACUUM may change.
    static func content(_ path: String) throws -> [String] { try Database.dump(path).sorted() }

    private static func write(_ sql: String, to path: String) throws {
        try Connection(path: path, mode: .readWrite, hardening: .own).execute(sql)
    }

    private static let byStatements = Result {
        let scenario = try Self.scenario()
        _ = try Migration(scenario.request(to: "V2", engine: .statements)).run()
        return try content(scenario.store)
    }

    private static let byPages = Result {
        let scenario = try Self.scenario()
        _ = try Migration(scenario.request(to: "V2", engine: .pages)).run()
        return try bytes(scenario.store)
    }

    private static func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

    static func careful(_ scenario: Scenario, _ engine: EngineChoice = .pages) -> MigrationRequest {
        var request = scenario.careful()
        request.options.engine = engine
        return request
    }

    static func expectDone(_ scenario: Scenario, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try content(scenario.store) == byStatements.get(), sourceLocation: sourceLocation)
        #expect(try scenario.rows("PRAGMA integrity_check") == ["'ok'"], sourceLocation: sourceLocation)
        #expect(scenario.backups.count == 1, sourceLocation: sourceLocation)
    }

    @Test("the plan keeps what doesn't change, patches entity numbers, and says why it does more")
    func plan() throws {
        let scenario = try Self.scenario()
        let request = scenario.request(to: "V2", engine: .pages)
        let store = try SourceStore.reading(try StoreLocation(existing: scenario.store))
        defer { store.release() }
        let history = try ModelHistory(reading: scenario.models, edges: [:])
        let step = try #require(try PreparedMigration(request, history: history, store: store).steps.first)
        let tables = Dictionary(
            step.works.filter { !$0.passes.isEmpty }.map { ($0.table, $0.reason ?? $0.method.rawValue) },
            uniquingKeysWith: { first, _ in first })
        #expect(
            tables == [
                "ZAARDVARK": "keep", "ZKIND": "entities get other numbers", "ZNOTE": "entities get other numbers",
                "ZSMALL": "column ZRANK gets new values", "ZTAG": "entities get other numbers", "Z_6TAGS": "keep",
                "own": "keep",
            ])
        #expect(step.works.filter { $0.method == .patch }.map(\.table).sorted() == ["ZKIND", "ZNOTE", "ZTAG"])
        let indexes = Dictionary(
            step.works.flatMap(\.indexes).map { ($0.index.name, $0.method.rawValue) },
            uniquingKeysWith: { first, _ in first })
        #expect(indexes["Z_Note_new"] == "statements")
        #expect(indexes["ZKIND_Z_ENT_INDEX"] == "patch")
        let kept = ["Z_Note_by", "own_b", "sqlite_autoindex_own_1", "sqlite_autoindex_Z_6TAGS_1"]
        #expect(kept.map { indexes[$0] } == kept.map { _ in "keep" })
    }

    @Test(
        "has the same rows as statements at any level of verification, and the same bytes for any number of workers",
        arguments: VerificationLevel.allCases, [1, 5])
    func sameRows(verification: VerificationLevel, jobs: Int) throws {
        let scenario = try Self.scenario(wal: jobs == 1)
        var request = scenario.request(to: "V2", jobs: jobs, engine: .pages)
        request.verification = verification
        _ = try Migration(request).run()
        try Self.expectDone(scenario)
        if jobs != 1 { #expect(try Self.bytes(scenario.store) == Self.byPages.get()) }
    }

    @Test("leaves nothing of what goes in the new file", arguments: [0, 1, 2])
    func nothingLeft(autoVacuum: Int) throws {
        let scenario = try Self.scenario()
        try Self.write("PRAGMA auto_vacuum = \(autoVacuum); VACUUM", to: scenario.store)
        _ = try Migration(scenario.request(to: "V2", engine: .pages)).run()
        try Self.expectDone(scenario)
        let bytes = try Data(contentsOf: URL(filePath: scenario.store))
        #expect(bytes.range(of: Data("secret".utf8)) == nil)
        #expect(try scenario.rows("PRAGMA auto_vacuum") == ["\(autoVacuum)"])
        try Self.write("PRAGMA incremental_vacuum; VACUUM", to: scenario.store)
        #expect(try Self.content(scenario.store) == Self.byStatements.get())
    }

    /// 6 MB of pages of 512 bytes that go, in front of those that stay.
    private static func fullAutoVacuum() throws -> Scenario {
        let scenario = try Self.scenario(
            rows: """
                WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
                INSERT INTO ZGONE (Z_PK, Z_ENT, Z_OPT, ZA) SELECT i, 2, 1, zeroblob(10000) FROM n;
                """)
        try Self.write("PRAGMA page_size = 512; PRAGMA auto_vacuum = 1; VACUUM", to: scenario.store)
        return scenario
    }

    @Test("free pages of a store with full auto_vacuum go in several commits, and a run that was ended there goes on")
    func freePages() throws {
        let (scenario, other) = (try Self.fullAutoVacuum(), try Self.fullAutoVacuum())
        var commits = 0
        var isFreeing = false
        func count(_ event: EngineEvent) {
            if case .phaseBegan(let phase) = event { isFreeing = phase == "removing free pages" }
            if case .checkpoint = event, isFreeing { commits += 1 }
        }
        _ = try Migration(Self.careful(scenario)) { event in count(event) }.run()
        #expect(commits > 1)
        try Self.expectDone(scenario)
        #expect(try scenario.rows("PRAGMA auto_vacuum") == ["1"])
        #expect(try scenario.rows("PRAGMA freelist_count") == ["0"])
        (commits, isFreeing) = (0, false)
        try other.interrupt(Self.careful(other)) { event in
            count(event)
            return commits == 1
        }
        #expect(try other.rerun(Self.careful(other)).warnings.isEmpty)
        #expect(try Self.bytes(other.store) == Self.bytes(scenario.store))
    }

    @Test("resumes after an interruption")
    func interrupted() throws {
        let scenario = try Self.scenario()
        try scenario.interrupt(afterBatches: 1, Self.careful(scenario))
        #expect(try scenario.rerun(Self.careful(scenario)).warnings.isEmpty)
        try Self.expectDone(scenario)
    }

    @Test(
        "finishes after a kill at any point",
        arguments: [
            (KillPoint.preflighted, 1), (.batchWritten, 1), (.batchWritten, 2), (.batchWritten, 4),
            (.checkpointWritten, 1), (.checkpointWritten, 3), (.pagesCopied, 1), (.stagingCreated, 1),
            (.pagesBegun, 1), (.batchWritten, 12), (.checkpointWritten, 12), (.checkpointWritten, 13),
            (.pagesWhole, 1), (.pagesDone, 1), (.committing, 1), (.committed, 1), (.committed, 3), (.schemaFinished, 1),
        ])
    func killed(point: KillPoint, count: Int) async throws {
        let scenario = try Self.scenario()
        try await scenario.kill(at: point, count, engine: .pages)
        #expect(try scenario.rerun(Self.careful(scenario)).warnings.isEmpty)
        try Self.expectDone(scenario)
    }

    /// Chunks that a run has copied.
    private static func chunks(of events: [EngineEvent]) -> Int {
        var isCopying = false
        return events.count { event in
            switch event {
            case .phaseBegan(let phase): isCopying = phase == "copying pages"
            case .passBegan: isCopying = false
            case .progress: return isCopying
            default: break
            }
            return false
        }
    }

    @Test("a copy that was killed goes on with the chunks that are missing", arguments: [1, 3, 5])
    func copyKilled(copied: Int) async throws {
        let (scenario, other) = (try Self.scenario(), try Self.scenario())
        let all = Self.chunks(of: try other.rerun(Self.careful(other)).events)
        #expect(all > 5)
        try await scenario.kill(at: .checkpointWritten, copied, engine: .pages)
        let run = try scenario.rerun(Self.careful(scenario))
        #expect(run.warnings.isEmpty, "\(run.warnings)")
        #expect(try #require(run.outcome.resumed).rows > 0)
        #expect(Self.chunks(of: run.events) == all - copied)
        try Self.expectDone(scenario)
        #expect(try Self.bytes(scenario.store) == Self.byPages.get())
    }

    @Test(
        "a whole copy isn't made again, whether its schema was changed or not",
        arguments: [KillPoint.pagesCopied, .committing])
    func copied(point: KillPoint) async throws {
        let scenario = try Self.scenario()
        try await scenario.kill(at: point, engine: .pages)
        let run = try scenario.rerun(Self.careful(scenario))
        #expect(run.warnings.isEmpty, "\(run.warnings)")
        #expect(run.outcome.resumed != nil)
        #expect(Self.chunks(of: run.events) == 0)
        try Self.expectDone(scenario)
    }

    @Test("rows of the copy count as its chunks are copied")
    func progress() throws {
        let scenario = try Self.scenario()
        let kept = try ["ZKIND", "ZNOTE", "ZTAG", "Z_5TAGS", "own"].reduce(0) { rows, table in
            rows + (Int(try scenario.rows("SELECT count(*) FROM \(table)").first ?? "") ?? 0)
        }
        let run = try scenario.rerun(Self.careful(scenario))
        let found = run.events.compactMap { event -> Int? in
            if case .progress(let rows, _, let total) = event, rows <= total { rows } else { nil }
        }
        #expect(found == found.sorted())
        #expect(Set(found.filter { $0 < kept }).count >= 5, "\(found)")
        #expect(found.contains(kept))
        #expect(found.last == kept + 2)
    }

    @Test(
        "starts the step over where the engine was changed",
        arguments: [(EngineChoice.pages, EngineChoice.statements), (.statements, .pages)])
    func changed(first: EngineChoice, second: EngineChoice) throws {
        let scenario = try Self.scenario()
        try scenario.interrupt(afterBatches: 1, Self.careful(scenario, first))
        _ = try scenario.rerun(Self.careful(scenario, second))
        try Self.expectDone(scenario)
    }

    @Test("a pointer map that names wrong parents isn't copied: the step starts over", arguments: [1, 2])
    func wrongPointerMap(autoVacuum: Int) throws {
        let scenario = try Self.fullAutoVacuum()
        try Self.write("PRAGMA auto_vacuum = \(autoVacuum); VACUUM", to: scenario.store)
        let root = try #require(
            Int(try scenario.rows("SELECT rootpage FROM sqlite_schema WHERE name = 'ZNOTE'").first ?? ""))
        var bytes = try Self.bytes(scenario.store)
        func number(_ offset: Int, _ length: Int) -> Int {
            bytes[offset..<offset + length].reduce(0) { $0 << 8 | Int($1) }
        }
        // The last child of a table that stays has an entry of five bytes in the map's page before it, the last four
        // its parent (https://www.sqlite.org/fileformat2.html#ptrmap_pages).
        let page = number((root - 1) * 512 + 8, 4)
        let map = (page - 2) / (512 / 5 + 1) * (512 / 5 + 1) + 2
        let parent = (map - 1) * 512 + 5 * (page - map - 1) + 1
        #expect(number(parent, 4) == root)
        bytes[parent + 3] ^= 1
        try bytes.write(to: URL(filePath: scenario.store))
        let run = try scenario.rerun(scenario.request(to: "V2", engine: .pages))
        #expect(run.warnings.contains { $0.contains("starts over") }, "\(run.warnings)")
        #expect(try scenario.rows("PRAGMA integrity_check") == ["'ok'"])
    }

    @Test("a damaged record of a table that stays ends the run", arguments: [VerificationLevel.quick, .full])
    func damagedRecord(level: VerificationLevel) throws {
        let scenario = try Self.scenario()
        var bytes = try Self.bytes(scenario.store)
        // The tag 'one': its header, with a text of three bytes, which gets a type that SQLite doesn't have.
        let record = try #require(bytes.range(of: Data([5, 0, 1, 9, 19, 7] + Array("one".utf8))))
        bytes[record.lowerBound + 4] = 10
        try bytes.write(to: URL(filePath: scenario.store))
        var request = scenario.request(to: "V2", engine: .pages)
        request.verification = level
        let error = try failure { _ = try Migration(request).run() }
        #expect(error.kind == .sourceData, "\(error)")
        #expect(try Self.bytes(scenario.store) == bytes)
    }

    /// A row that the patch of its table doesn't expect.
    private static let odd = "UPDATE ZNOTE SET Z3_KIND = 99 WHERE Z_PK = 1500;"

    private static let oddByStatements = Result {
        let scenario = try Self.scenario(rows: odd)
        _ = try Migration(scenario.request(to: "V2", engine: .statements)).run()
        return try content(scenario.store)
    }

    @Test("makes the store anew where a link's entity number isn't one that the model allows")
    func misfit() throws {
        let scenario = try Self.scenario(rows: Self.odd)
        let run = try scenario.rerun(scenario.request(to: "V2", engine: .pages))
        #expect(run.warnings.contains { $0.contains("ZNOTE") && $0.contains("starts over") }, "\(run.warnings)")
        #expect(try Self.content(scenario.store) == Self.oddByStatements.get())
    }

    @Test("rows count once where a store is made a second time")
    func progressOfSecondStart() throws {
        let scenario = try Self.scenario(rows: Self.odd)
        let all = try Self.rowCount(scenario)
        let run = try scenario.rerun(Self.careful(scenario))
        let found = run.events.compactMap { event -> Int? in
            if case .progress(let rows, _, _) = event { rows } else { nil }
        }
        #expect(found.max() == all && found.last == all, "\(found)")
    }

    /// Rows of the tables that the new store has, too.
    private static func rowCount(_ scenario: Scenario) throws -> Int {
        try ["ZKIND", "ZNOTE", "ZTAG", "ZSMALL", "Z_5TAGS", "own"].reduce(0) { rows, table in
            rows + (Int(try scenario.rows("SELECT count(*) FROM \(table)").first ?? "") ?? 0)
        }
    }

    @Test(
        "resumes a store that was made anew after a kill, and moves no row twice",
        arguments: [
            (KillPoint.stagingCreated, 1), (.pagesBegun, 1), (.indexMade, 1), (.indexMade, 3), (.pagesWhole, 1),
            (.pagesDone, 1), (.rowsMade, 1), (.schemaFinished, 1), (.verified, 1),
        ], [0, 3_600])
    func misfitKilled(at place: (point: KillPoint, count: Int), interval: Double) async throws {
        let scenario = try Self.scenario(rows: Self.odd)
        let all = try Self.rowCount(scenario)
        try await scenario.kill(at: place.point, place.count, engine: .pages, interval: interval)
        let run = try scenario.rerun(Self.careful(scenario))
        #expect(!run.warnings.contains { $0.contains("starts over") }, "\(run.warnings)")
        let moved = run.events.reduce(0) { rows, event in
            if case .passEnded(_, let ended, _, _) = event { rows + ended } else { rows }
        }
        #expect(try #require(run.outcome.resumed).rows + moved == all)
        #expect(try Self.content(scenario.store) == Self.oddByStatements.get())
    }

    /// Kind and Large keep their numbers, and so do the links to them; Tag gets another.
    static let late = versions[0].replacingOccurrences(
        of: "<entity name=\"Small\"", with: entity("Quill", attribute("q")) + "<entity name=\"Small\"")

    @Test(
        "a link's entity number that isn't one of its target's ends, as where rows are read",
        arguments: ["Z3_KIND = 7", "Z3_KIND = 99", "Z3_KIND = -1"])
    func unchangedMisfit(odd: String) throws {
        let rows = Self.rows + "UPDATE ZNOTE SET \(odd) WHERE Z_PK = 1500;"
        let scenario = try Scenario(Self.versions[0], Self.late, rows: rows)
        let other = try Scenario(Self.versions[0], Self.late, rows: rows)
        let run = try scenario.rerun(scenario.request(to: "V2", engine: .pages))
        _ = try Migration(other.request(to: "V2", engine: .statements)).run()
        #expect(run.warnings.contains { $0.contains("ZNOTE") && $0.contains("starts over") }, "\(run.warnings)")
        #expect(try Self.content(scenario.store) == Self.content(other.store))
    }

    @Test(
        "a row of an entity that the model doesn't have ends the run, and the store stays as it was",
        arguments: ["ZTAG SET Z_ENT = 99", "ZTAG SET Z_ENT = NULL", "ZKIND SET Z_ENT = 99", "ZKIND SET Z_ENT = NULL"],
        VerificationLevel.allCases)
    func unknownEntity(change: String, level: VerificationLevel) throws {
        let scenario = try Self.scenario(rows: "UPDATE \(change) WHERE Z_PK = 2;")
        let before = try Data(contentsOf: URL(filePath: scenario.store))
        var request = scenario.request(to: "V2", engine: .pages)
        request.verification = level
        let error = try failure { _ = try Migration(request).run() }
        #expect(error.kind == .sourceData, "\(error)")
        #expect(try Data(contentsOf: URL(filePath: scenario.store)) == before)
    }
}
