import CausewayEngine
import CausewayExamination
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewayStores
import Testing

/// Stores that CloudKit mirrors, carried with `--cloudkit carry`. They are made here: no real one is at hand.
@Suite("Stores that CloudKit mirrors", .timeLimit(.minutes(60)))
struct MirroredStoreTests {
    private static let records = "ANSCKRECORDMETADATA"
    private static let assets = "ANSCKRECORDMETADATASYSTEMFIELDSASSET"
    private static let links = "ANSCKMIRROREDRELATIONSHIP"
    private static let linkAssets = "ANSCKMIRROREDRELATIONSHIPSYSTEMFIELDSASSET"
    private static let pending = "ANSCKIMPORTPENDINGRELATIONSHIP"
    private static let analyzed = "ANSCKHISTORYANALYZERSTATE"

    /// What must be left of the mirror in V4, by the text of its rows alone.
    private static func expected(_ before: [String: [String]]) throws -> [String: [String]] {
        var after = before
        func key(_ row: String) -> Substring { row.prefix { $0 != "|" } }
        let goneRecords = Set((before[records] ?? []).filter { $0.contains("|'Gone'|") }.map(key))
        let goneLinks = Set((before[links] ?? []).filter { $0.contains("|'Book'|") }.map(key))
        #expect(goneRecords.count == 31 && goneLinks.count == 45)
        after[records]?.removeAll { goneRecords.contains(key($0)) }
        after[analyzed]?.removeAll { $0.contains("|'Gone'|") }
        after[assets]?.removeAll { goneRecords.contains($0.split(separator: "|")[3]) }
        after[links]?.removeAll { goneLinks.contains(key($0)) }
        after[linkAssets]?.removeAll { goneLinks.contains($0.split(separator: "|")[3]) }
        after[pending]?.removeAll { $0.contains("'Book'") }
        return after
    }

    @Test(
        "every row about what stays arrives with its key, and names its object; rows about what is gone are left out",
        arguments: [1, 7, 1_024],
        [(true, EngineChoice.statements), (false, .statements), (true, .pages), (false, .pages)])
    func carried(batch: Int, way: (fuses: Bool, engine: EngineChoice)) throws {
        let scenario = try MirroredLibrary.scenario()
        let before = try scenario.mirror()
        let house = "SELECT * FROM Z_PRIMARYKEY WHERE Z_ENT > 16000"
        let numbers = try scenario.rows(house)
        let indexes = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name LIKE 'ANSCK%' ORDER BY 1"
        let made = try scenario.rows(indexes)
        var request = scenario.carrying(fuses: way.fuses, batchRows: batch, engine: way.engine)
        request.verification = .full
        let outcome = try Migration(request).run()
        let mirror = try #require(outcome.prepared.mirror)
        #expect(outcome.dropped + mirror.unreadRows == mirror.leftOut.reduce(0) { $0 + $1.rows })
        let after = try scenario.mirror()
        let expected = try Self.expected(before)
        for table in MirrorTables.tables {
            #expect(after[table] == expected[table], "\(table)")
        }
        #expect(try scenario.rows(house) == numbers && numbers.count == 21)
        #expect(try scenario.rows(indexes) == made && made.count == 4)
        // Aardvark 1, Author 2, Book 3, Comic 4, Tag 5, Zebra 6.
        #expect(
            try scenario.rows("SELECT ZENTITYID, count(*) FROM ANSCKRECORDMETADATA GROUP BY 1")
                == ["2|60", "3|121", "4|60", "5|60"])
        #expect(try scenario.rows("SELECT Z_PK, ZENTITY FROM ACHANGE") == ["40|2", "41|3", "43|5"])
        let lost = """
            SELECT count(*) FROM ANSCKRECORDMETADATA AS r WHERE ZNEEDSCLOUDDELETE = 0 AND NOT EXISTS \
            (SELECT 1 FROM ZAUTHOR AS o WHERE o.Z_PK = ZENTITYPK AND o.Z_ENT = ZENTITYID) AND NOT EXISTS \
            (SELECT 1 FROM ZBOOK AS o WHERE o.Z_PK = ZENTITYPK AND o.Z_ENT = ZENTITYID) AND NOT EXISTS \
            (SELECT 1 FROM ZTAG AS o WHERE o.Z_PK = ZENTITYPK AND o.Z_ENT = ZENTITYID)
            """
        #expect(try scenario.rows(lost) == ["0"])
    }

    @Test("where only numbers change, most of the mirror stays as it is", arguments: [EngineChoice.pages, .statements])
    func kept(engine: EngineChoice) throws {
        let scenario = try MirroredLibrary.scenario(2, rows: 400)
        let before = try scenario.mirror()
        let outcome = try Migration(scenario.carrying(engine: engine)).run()
        let methods = try #require(outcome.prepared.steps.first).methods.tables
        if engine == .pages {
            #expect(methods["ANSCKEVENT"]?.method == .keep)
            #expect([.patch, .rebuild].contains(methods[Self.records]?.method))
            #expect([.keep, .rebuild].contains(methods[Self.links]?.method))
        }
        #expect(try scenario.mirror() == before)
        #expect(outcome.prepared.mirror?.leftOut == [])
    }

    @Test(
        "the plan counts what waits, and lists what is left out, in fused steps as in single ones",
        arguments: [true, false])
    func plan(fuses: Bool) throws {
        let scenario = try MirroredLibrary.scenario()
        let prepared = try Migration(scenario.carrying(fuses: fuses)).plan()
        let report = try #require(prepared.mirror)
        #expect(report.counts.tables == 18)
        #expect(report.counts.objects == 332)
        #expect(report.counts.waitingForDeletion == 2)
        let waiting = "SELECT count(*) FROM ANSCKRECORDMETADATA WHERE ZNEEDSUPLOAD OR ZCKRECORDNAME IS NULL"
        #expect(try scenario.rows(waiting) == [String(report.counts.waitingForUpload)])
        let told = report.leftOut.map { "\($0.table) \($0.rows) \($0.reason) \($0.subject ?? "-")" }
        #expect(
            Set(told) == [
                "\(Self.records) 31 entity Gone", "\(Self.analyzed) 7 entity Gone", "\(Self.assets) 27 owner -",
                "\(Self.links) 45 relationship Book.tags", "\(Self.pending) 1 relationship Book.tags",
                "\(Self.linkAssets) 45 owner -", "ACHANGE 1 entity Gone",
            ])
        let losses = prepared.steps.flatMap { $0.losses }
        #expect(losses.count { $0.contains("ANSCK") } == 6)
        #expect(losses.contains { $0.contains("1 row of ACHANGE about Gone objects is left out: the entity is gone") })
        #expect(
            losses.contains {
                $0.hasSuffix(
                    "31 rows of ANSCKRECORDMETADATA about Gone objects are left out: the entity is gone; their records "
                        + "stay in the cloud")
            })
        #expect(prepared.warnings.contains { $0.contains("wait for upload, 2 for deletion in the cloud") })
    }

    @Test(
        "rows whose number is of no entity, or NULL, are left out and listed",
        arguments: [EngineChoice.pages, .statements])
    func strays(engine: EngineChoice) throws {
        let scenario = try MirroredLibrary.scenario(2)
        try Scenario.execute(
            "INSERT INTO ANSCKRECORDMETADATA (ZENTITYID, ZENTITYPK) VALUES (99, 1), (NULL, 1), (2.5, 1)", scenario.store
        )
        let before = try scenario.rows("SELECT count(*) FROM ANSCKRECORDMETADATA WHERE ZENTITYID IN (1, 2, 3, 4, 5)")
        var request = scenario.carrying(engine: engine)
        request.verification = .full
        let outcome = try Migration(request).run()
        let leftOut = try #require(outcome.prepared.mirror).leftOut
        #expect(leftOut.map(\.rows) == [3] && leftOut.map(\.reason) == [.unknownEntity])
        #expect(try scenario.rows("SELECT count(*) FROM ANSCKRECORDMETADATA") == before)
    }

    @Test("without the option it is refused in three lines, and not a byte changes")
    func refused() throws {
        let scenario = try MirroredLibrary.scenario()
        let before = try snapshot(scenario.folder)
        let error = try failure { _ = try Migration(scenario.request(to: "V4")).run() }
        #expect(error.kind == .sourceData)
        #expect(error.message.contains("CloudKit mirrors this store"))
        #expect(error.details.count == 1 && error.details[0].contains("--cloudkit carry"))
        #expect(error.remedy.contains("no real store has confirmed"))
        #expect(try snapshot(scenario.folder) == before)
    }

    private static let from = model(
        entity("Base", attribute("a"), attribute("n", "Integer 16"), toOne("other", "Other")), entity("Other"),
        entity("Third"))

    static let refusals: [(entities: [String], reason: String)] = [
        (
            [
                entity("Ground", was: "Base", attribute("a"), toOne("other", "Other")), entity("Other"),
                entity("Third"),
            ],
            "the entity Base becomes Ground"
        ),
        (
            [entity("Base", attribute("b", was: "a"), toOne("other", "Other")), entity("Other"), entity("Third")],
            "the attribute Base.a becomes Base.b"
        ),
        (
            [
                entity("Base", attribute("a"), attribute("n", "Integer 64"), toOne("other", "Other")),
                entity("Other"),
                entity("Third"),
            ], "the attribute Base.n gets another type"
        ),
        (
            [entity("Base", attribute("a"), toMany("other", "Other")), entity("Other"), entity("Third")],
            "the relationship Base.other becomes a to-many"
        ),
        (
            [
                entity("Base", attribute("a"), toOne("others", "Other", was: "other")), entity("Other"),
                entity("Third"),
            ],
            "the relationship Base.other becomes Base.others"
        ),
        (
            [entity("Base", attribute("a"), toOne("other", "Third")), entity("Other"), entity("Third")],
            "the relationship Base.other leads to Third instead of Other"
        ),
        (
            [
                entity("Base", parent: "Root", attribute("a"), toOne("other", "Other")), entity("Other"),
                entity("Third"), entity("Root"),
            ], "Base moves from the hierarchy of Base to that of Root"
        ),
    ]

    @Test("what a CloudKit schema can't follow is refused with each reason", arguments: refusals)
    func refused(entities: [String], reason: String) throws {
        let to = model(entities.joined())
        let scenario = try Scenario(Self.from, to, history: true, rows: MirrorTables.empty)
        let error = try failure { _ = try Migration(scenario.carrying()).run() }
        #expect(error.kind == .plan)
        #expect(error.details.contains("V1 → V2: \(reason)"), "\(error)")
    }

    @Test(
        "an attribute that comes back with another type, or changes its encryption, is refused",
        arguments: [true, false])
    func comingBack(fuses: Bool) throws {
        func note(_ text: String...) -> String { model(entity("Note", attribute("a"), text.joined())) }
        let scenario = try Scenario(
            versions: [
                note(attribute("text")), note(), note(attribute("text", "Integer 16")),
                // Encryption isn't in the version hash.
                note(attribute("text", "Integer 16", extra: "allowsCloudEncryption=\"YES\""), attribute("more")),
            ], history: true, rows: MirrorTables.empty)
        let error = try failure { _ = try Migration(scenario.carrying(fuses: fuses)).run() }
        #expect(error.kind == .plan)
        #expect(
            error.details == [
                "V2 → V3: the attribute Note.text comes back with another type",
                "V3 → V4: the attribute Note.text gets encrypted in the cloud",
            ])
    }

    @Test("bad rows can't be left out, and a table that isn't Core Data's own isn't touched")
    func refusedChoices() throws {
        let to = model(entity("Base", attribute("a")), entity("Other"), entity("Third"), entity("Added"))
        let odd = "CREATE TABLE ANSCKODD (Z_PK INTEGER, ZSOMEENTITY INTEGER);"
        let scenario = try Scenario(Self.from, to, history: true, rows: MirrorTables.empty + odd)
        var request = scenario.carrying()
        (request.badRows, request.rejects) = (.quarantine, scenario.folder + "/rejects")
        let error = try failure { _ = try Migration(request).run() }
        #expect(error.details.contains { $0.contains("--bad-rows quarantine") })
        #expect(error.details.contains("table ANSCKODD isn't as Core Data makes it"))
    }

    @Test("a number column that nobody knows is refused where numbers change")
    func doubtful() throws {
        let odd = "CREATE TABLE ANSCKODD (Z_PK INTEGER PRIMARY KEY, ZSOMEENTITY INTEGER);"
        let scenario = try Scenario(
            versions: Array(MirroredLibrary.versions.prefix(2)), history: true, rows: MirrorTables.empty + odd)
        let error = try failure { _ = try Migration(scenario.carrying()).run() }
        #expect(error.details.contains { $0.contains("ANSCKODD.ZSOMEENTITY may hold entity numbers") })
    }

    @Test("verify finds numbers of no entity and keys above Z_MAX, and nothing in what a migration made")
    func examined() throws {
        let scenario = try MirroredLibrary.scenario()
        func findings() throws -> [StoreFinding] {
            try SourceStore.reading(StoreLocation(existing: scenario.store)) { store throws(EngineError) in
                try StoreExamination(store, history: nil, isQuick: false).run().findings
            }
        }
        #expect(try findings() == [])
        _ = try Migration(scenario.carrying()).run()
        #expect(try findings() == [])
        try Scenario.execute(
            """
            UPDATE ANSCKRECORDMETADATA SET ZENTITYID = 77 WHERE Z_PK = 5; UPDATE Z_PRIMARYKEY SET Z_MAX = 1 \
            WHERE Z_NAME = 'NSCKEvent'
            """, scenario.store)
        let found = try findings()
        #expect(found.map(\.kind) == [.cloudKit, .primaryKeys])
        #expect(found.first?.keys == [5])
    }
}
