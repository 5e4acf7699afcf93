import CausewayEngine
import CausewayExamination
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// The findings of an examination of a single store.
@Suite("Examination of a store", .timeLimit(.minutes(60)))
struct VerifStoreTests {
    private static let model = CausewayEngineTests.model(
        entity(
            "Person", attribute("name", optional: false), attribute("mail"),
            attribute("photo", "Binary", extra: "allowsExternalBinaryDataStorage=\"YES\""),
            toOne("boss", "Firm", inverse: "staff"), toOne("badge", "Badge", inverse: "owner"),
            toOne("likes", "Animal"), toMany("tags", "Tag", inverse: "people"), toMany("pets", "Animal"),
            "<uniquenessConstraints><uniquenessConstraint><constraint value=\"mail\"/></uniquenessConstraint>"
                + "</uniquenessConstraints>"),
        entity("Animal", attribute("kind")), entity("Dog", parent: "Animal"),
        entity("Firm", attribute("title"), toMany("staff", "Person", inverse: "boss")),
        entity("Badge", attribute("code"), toOne("owner", "Person", inverse: "badge")),
        entity("Tag", attribute("label"), toMany("people", "Person", inverse: "tags")))

    /// Animal 1, Dog 2, Badge 3, Firm 4, Person 5, Tag 6.
    private static let rows = """
        INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 2, 1);
        INSERT INTO ZBADGE (Z_PK, Z_ENT, Z_OPT, ZOWNER) VALUES (1, 3, 1, 1), (2, 3, 1, 2);
        INSERT INTO ZFIRM (Z_PK, Z_ENT, Z_OPT) VALUES (1, 4, 1);
        INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME, ZMAIL, ZBOSS, ZBADGE, ZLIKES, Z1_LIKES, ZPHOTO) VALUES
        (1, 5, 1, 'a', 'm', 1, 1, 1, 1, x'0161'), (2, 5, 1, 'b', NULL, NULL, 2, 2, 2, NULL),
        (3, 5, 1, 'c', NULL, NULL, NULL, NULL, NULL, NULL);
        INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) VALUES (1, 6, 1);
        INSERT INTO Z_5TAGS (Z_5PEOPLE, Z_6TAGS) VALUES (1, 1);
        """

    private static func examine(
        _ scenario: Scenario, models: Bool = true, isQuick: Bool = false
    ) throws -> StoreExamination.Report {
        let store = try SourceStore.reading(StoreLocation(existing: scenario.store))
        defer { store.release() }
        let history = models ? try ModelHistory(reading: scenario.models, edges: [:]) : nil
        return try StoreExamination(store, history: history, isQuick: isQuick).run()
    }

    private static func report(_ sql: String, wal: Bool = false, isQuick: Bool = false) throws
        -> StoreExamination.Report
    {
        let scenario = try Scenario(model, wal: wal, rows: rows)
        try Scenario.execute(sql, scenario.store)
        let before = try snapshot(scenario.folder)
        let report = try examine(scenario, isQuick: isQuick)
        #expect(try snapshot(scenario.folder) == before)
        return report
    }

    @Test("a sound store has no finding, with models or by its own cache, quick or not, and keeps its bytes")
    func sound() throws {
        let scenario = try Scenario(Self.model, wal: true, rows: Self.rows)
        let before = try snapshot(scenario.folder)
        for isQuick in [true, false] {
            let byModels = try Self.examine(scenario, isQuick: isQuick)
            #expect(byModels.findings.isEmpty && byModels.notes.isEmpty, "\(byModels)")
            #expect(byModels.versions == ["V1"] && byModels.origin == .models && byModels.rows == 9)
            let byCache = try Self.examine(scenario, models: false, isQuick: isQuick)
            #expect(byCache.findings.isEmpty && byCache.notes.isEmpty)
            #expect(byCache.origin == .storeCache && byCache.rows == 9)
        }
        #expect(try snapshot(scenario.folder) == before)
    }

    struct Damage: Sendable, CustomTestStringConvertible {
        let sql: String
        let kind: StoreFinding.Kind
        let entity: String?
        let property: String?
        let keys: [Int64]
        var testDescription: String { "\(kind) \(entity ?? "") \(property ?? "") \(keys)" }

        init(_ sql: String, _ kind: StoreFinding.Kind, _ entity: String?, _ property: String?, _ keys: Int64...) {
            (self.sql, self.kind, self.entity, self.property, self.keys) = (sql, kind, entity, property, keys)
        }
    }

    private static let damages = [
        Damage("UPDATE ZPERSON SET ZBOSS = 9 WHERE Z_PK = 3", .dangling, "Person", "boss", 3),
        Damage("UPDATE ZPERSON SET Z1_LIKES = 1 WHERE Z_PK = 2", .entityNumber, "Person", "likes", 2),
        Damage("UPDATE ZANIMAL SET Z5PETS = 44 WHERE Z_PK = 2", .dangling, "Person", "pets", 2),
        Damage("UPDATE ZBADGE SET ZOWNER = NULL WHERE Z_PK = 2", .asymmetric, "Person", "badge", 2),
        Damage("INSERT INTO Z_5TAGS VALUES (2, 8)", .joinEnd, "Tag", "people", 8),
        Damage("INSERT INTO Z_5TAGS VALUES (9, 1)", .joinEnd, "Person", "tags", 9),
        Damage("UPDATE ZPERSON SET ZNAME = NULL WHERE Z_PK > 1", .missingValue, "Person", "name", 2, 3),
        Damage("UPDATE ZTAG SET Z_ENT = 5", .unknownEntity, "Tag", nil, 1),
        Damage("UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Animal'", .primaryKeys, "Animal", nil),
        Damage(
            "UPDATE ZPERSON SET ZPHOTO = CAST(x'02' || '00000000-0000-0000-0000-00000000000A' || x'00' AS BLOB) "
                + "WHERE Z_PK = 2", .externalData, "Person", "photo", 2),
        Damage("UPDATE ZPERSON SET ZPHOTO = x'0761' WHERE Z_PK = 3", .externalData, "Person", "photo", 3),
        Damage("UPDATE Z_MODELCACHE SET Z_CONTENT = x'00'", .modelCache, nil, nil),
        Damage("ALTER TABLE Z_MODELCACHE RENAME COLUMN Z_CONTENT TO Z_CONTUNT", .modelCache, nil, nil),
        Damage("DROP TABLE ZFIRM", .schema, nil, nil),
    ]

    @Test("damage is found and named by entity, property and keys", arguments: damages)
    func damage(damage: Damage) throws {
        let report = try Self.report(damage.sql)
        let found = report.findings.filter { $0.kind == damage.kind }
        let finding = try #require(found.first, "\(report)")
        #expect(found.count == 1)
        #expect(finding.entity == damage.entity && finding.property == damage.property)
        #expect(finding.keys == damage.keys && finding.rowCount == damage.keys.count)
    }

    @Test("duplicate unique values are found where the index is missing")
    func uniqueness() throws {
        let scenario = try Scenario(Self.model, rows: Self.rows)
        for name in try scenario.rows("SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE UNIQUE%'") {
            try Scenario.execute("DROP INDEX \(name.dropFirst().dropLast())", scenario.store)
        }
        try Scenario.execute("UPDATE ZPERSON SET ZMAIL = 'm' WHERE Z_PK = 3", scenario.store)
        let finding = try #require(try Self.examine(scenario).findings.first { $0.kind == .notUnique })
        #expect(finding.entity == "Person" && finding.property == "mail" && finding.keys == [3])
        #expect(!finding.message.contains("'m'"))
    }

    @Test("twenty keys are named of many")
    func many() throws {
        let report = try Self.report(
            """
            WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 59)
            INSERT INTO ZBADGE (Z_PK, Z_ENT, Z_OPT, ZOWNER) SELECT i, 3, 1, 500 FROM n;
            UPDATE Z_PRIMARYKEY SET Z_MAX = 100;
            """)
        let finding = try #require(report.findings.first { $0.kind == .dangling })
        #expect(finding.rowCount == 50 && finding.keys == Array(10...29))
        #expect(finding.message.hasSuffix("p29, …)"))
        #expect(report.findings.count == 1)
    }

    @Test("files without a reference are a note, files that are referred to are none")
    func files() throws {
        let scenario = try Scenario(Self.model, rows: Self.rows)
        let folder = scenario.folder + "/.Store_SUPPORT/_EXTERNAL_DATA"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let (used, stray) = ("00000000-0000-0000-0000-00000000000A", "00000000-0000-0000-0000-00000000000B")
        for name in [used, stray] { try Data("x".utf8).write(to: URL(filePath: folder + "/" + name)) }
        try Scenario.execute(
            "UPDATE ZPERSON SET ZPHOTO = CAST(x'02' || '\(used)' || x'00' AS BLOB) WHERE Z_PK = 2", scenario.store)
        let report = try Self.examine(scenario)
        #expect(report.findings.isEmpty)
        let note = try #require(report.notes.first)
        #expect(note.kind == .unreferencedFiles && note.message.contains(stray) && !note.message.contains(used))
    }

    @Test("an index that lost a row is found, unless it isn't compared")
    func index() throws {
        let scenario = try Scenario(Self.model, rows: Self.rows)
        let index = try scenario.rows(
            "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql LIKE '%ZBADGE%' LIMIT 1")[0]
        // An index without its entries, like after a torn write.
        try damageIndex(named: String(index.dropFirst().dropLast()), in: scenario.store)
        #expect(try Self.examine(scenario).findings.contains { $0.kind == .structure })
        #expect(try Self.examine(scenario, isQuick: true).findings.isEmpty)
    }

    /// Empties the index's root page, a leaf.
    private func damageIndex(named name: String, in path: String) throws {
        let page = try #require(
            Int(try Database.rows("SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'", in: path)[0]))
        let size = try #require(Int(try Database.rows("PRAGMA page_size", in: path)[0]))
        let file = try FileHandle(forUpdating: URL(filePath: path))
        defer { try? file.close() }
        try file.seek(toOffset: UInt64((page - 1) * size))
        var head = try #require(try file.read(upToCount: 8))
        #expect(head[0] == 10)
        // No cells; the content begins at the page's end, 4096 bytes in.
        head.replaceSubrange(1..<8, with: [0, 0, 0, 0, UInt8(size >> 8 & 0xFF), UInt8(size & 0xFF), 0])
        try file.seek(toOffset: UInt64((page - 1) * size))
        try file.write(contentsOf: head)
    }

    @Test("a store of an unknown version is reported as such, and examined by its own cache")
    func foreignVersion() throws {
        let scenario = try Scenario(Self.model, rows: Self.rows)
        try CausewayEngineTests.model(entity("Other", attribute("a"))).write(
            toFile: scenario.models + "/V1.xcdatamodel/contents", atomically: true, encoding: .utf8)
        let report = try Self.examine(scenario)
        #expect(report.findings.map(\.kind) == [.version])
        #expect(report.origin == .storeCache && report.rows == 9 && report.comparedIndexes)
        try Scenario.execute("DELETE FROM Z_MODELCACHE", scenario.store)
        let blind = try Self.examine(scenario)
        #expect(blind.findings.map(\.kind) == [.modelCache, .version])
        #expect(blind.notes.map(\.kind) == [.notChecked] && blind.origin == .unknown)
    }

    @Test("an examination can be cancelled")
    func cancelled() throws {
        let scenario = try Scenario(Self.model, rows: Self.rows)
        let store = try SourceStore.reading(StoreLocation(existing: scenario.store))
        defer { store.release() }
        let cancellation = Cancellation()
        cancellation.cancel()
        let error = try failure {
            _ = try StoreExamination(store, history: nil, isQuick: true, cancellation: cancellation).run()
        }
        #expect(error.kind == .interrupted)
    }
}
