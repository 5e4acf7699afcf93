import Causeway
import CausewayGenerator
import CausewayEngine
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// Albums of artists and bands, their tags, and a tree of nodes, in two versions. A review found bugs of the engine
/// with this store.
///
/// v2 adds an entity that sorts first, so that every Z_ENT changes, orders `Node.children`, and adds attributes.
final class Shelf {
    typealias Work = PoliciesExample.Work

    /// Batch sizes, numbers of workers and engines. The rows must not depend on them.
    static let works = Work.onBothEngines([
        Work(batchRows: 1, jobs: 4), Work(batchRows: 7, jobs: 1), Work(batchRows: 1_024, jobs: 4),
    ])
    static let allWorks = Work.onBothEngines(
        [1, 7, 1_024].flatMap { rows in [1, 4].map { Work(batchRows: rows, jobs: $0) } })

    static let entities = ["Artist", "Band", "Album", "Tag", "Genre", "Node"]

    let folder: TemporaryFolder
    let store: String
    let models: String
    private var runs = 0

    /// `changes` is SQL that adapts the store to the test.
    init(_ changes: String = "") throws {
        let folder = try TemporaryFolder()
        models = folder.path("Shelf.xcdatamodeld")
        for (name, text) in ["v1": Self.model(isLater: false), "v2": Self.model(isLater: true)] {
            let bundle = "\(models)/\(name).xcdatamodel"
            try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(filePath: bundle + "/contents"))
        }
        store = folder.path("Store.sqlite")
        var generation = StoreGeneration(model: models, output: store, rows: 8, seed: 1)
        generation.version = "v1"
        try generation.run()
        try StoreRows.execute(store, Self.rows + changes)
        self.folder = folder
    }

    func request(_ code: MigrationCode, as name: String? = "result", _ work: Work = .usual) -> MigrationRequest {
        var request = MigrationRequest(
            store: store, models: models, output: name.map { folder.path($0) }, target: "v2",
            options: work.options(now: 700_000_000))
        request.code = code
        return request
    }

    /// Migrates into a new file and returns its path.
    func migrate(_ code: MigrationCode, as name: String = "result", _ work: Work = .usual) throws -> String {
        _ = try Migration(request(code, as: name, work)).run()
        return folder.path(name)
    }

    /// Migrates with every batch size and number of workers, checks that all results are equal, and returns one.
    func migrateEveryWay(
        _ code: MigrationCode, works: [Work] = Shelf.works, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> String {
        var first: String?
        runs += 1
        for work in works {
            let result = try migrate(code, as: "\(runs) \(work.testDescription)", work)
            try Office.expectSame(result, first ?? result, "\(work)", sourceLocation: sourceLocation)
            first = first ?? result
        }
        return try #require(first)
    }

    /// The error with which a run fails. The run must leave no files.
    func failure(
        _ request: MigrationRequest, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> EngineError {
        let before = try folder.snapshot().filter { !$0.key.hasSuffix("-shm") }
        let error = #expect(throws: EngineError.self, sourceLocation: sourceLocation) {
            _ = try Migration(request).run()
        }
        #expect(
            try folder.snapshot().filter { !$0.key.hasSuffix("-shm") } == before, "a failed run touches nothing",
            sourceLocation: sourceLocation)
        return try #require(error, sourceLocation: sourceLocation)
    }

    /// A mapping model over every entity; `mappings` replace those of the same name.
    static func code(
        _ mentioned: [String], @EntityMappingsBuilder _ mappings: () -> [EntityMappingStatement]
    ) -> MigrationCode {
        let given = mappings()
        return code([
            SwiftMappingModel(from: "v1", to: "v2") {
                Given(statements: given)
                for entity in entities where !mentioned.contains(entity) { TransformEntity(entity) }
            }
        ])
    }

    private struct Given: EntityMappings {
        let statements: [EntityMappingStatement]
    }

    static func code(_ models: [SwiftMappingModel]) -> MigrationCode {
        var code = MigrationCode()
        for model in models { code.add(model) }
        return code
    }

    // MARK: - Links, told by names instead of keys

    private static func isLater(_ store: String) throws -> Bool {
        try StoreRows.texts(store, "SELECT 1 FROM Z_PRIMARYKEY WHERE Z_NAME = 'Aardvark'") == ["1"]
    }

    /// `a1 n2 Artist`: album, artist's name and entity; `-` where nothing is linked.
    static func artists(_ store: String) throws -> [String] {
        let entity = try isLater(store) ? "Z3_ARTIST" : "Z2_ARTIST"
        return try StoreRows.texts(
            store,
            """
            SELECT l.ZTITLE || ' ' || CASE WHEN l.ZARTIST IS NULL THEN '-' ELSE ifnull(
                (SELECT a.ZNAME || ' ' || p.Z_NAME FROM ZARTIST a JOIN Z_PRIMARYKEY p ON p.Z_ENT = a.Z_ENT
                    WHERE a.Z_PK = l.ZARTIST AND a.Z_ENT = l.\(entity)), 'DANGLING') END
            FROM ZALBUM l ORDER BY 1
            """)
    }

    /// `a1 tag2`: album and name of a tag.
    static func tags(_ store: String) throws -> [String] {
        let (table, album, tag) =
            try isLater(store) ? ("Z_2TAGS", "Z_2ALBUMS", "Z_6TAGS") : ("Z_1TAGS", "Z_1ALBUMS", "Z_5TAGS")
        return try StoreRows.texts(
            store,
            """
            SELECT DISTINCT ifnull(l.ZTITLE, 'DANGLING') || ' ' || ifnull(t.ZNAME, 'DANGLING') FROM \(table) j
            LEFT JOIN ZALBUM l ON l.Z_PK = j.\(album) LEFT JOIN ZTAG t ON t.Z_PK = j.\(tag) ORDER BY 1
            """)
    }

    /// `B A`: node and parent.
    static func parents(_ store: String) throws -> [String] {
        try StoreRows.texts(
            store,
            """
            SELECT n.ZTITLE || ' ' || iif(n.ZPARENT IS NULL, '-', ifnull(p.ZTITLE, 'DANGLING'))
            FROM ZNODE n LEFT JOIN ZNODE p ON p.Z_PK = n.ZPARENT ORDER BY 1
            """)
    }

    /// Expects that all links equal those of another store.
    static func expectLinks(
        _ result: String, like store: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try artists(result) == artists(store), sourceLocation: sourceLocation)
        #expect(try tags(result) == tags(store), sourceLocation: sourceLocation)
        #expect(try parents(result) == parents(store), sourceLocation: sourceLocation)
        try expectSound(result, sourceLocation: sourceLocation)
    }

    static func expectSound(_ store: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try StoreRows.texts(store, "PRAGMA integrity_check") == ["ok"], sourceLocation: sourceLocation)
        for (name, maximum) in ["Artist", "Album", "Tag", "Node"].map({
            ($0, "SELECT max(Z_PK) FROM Z\($0.uppercased())")
        }) {
            #expect(
                try StoreRows.texts(
                    store, "SELECT Z_MAX >= ifnull((\(maximum)), 0) FROM Z_PRIMARYKEY WHERE Z_NAME = '\(name)'") == [
                        "1"
                    ],
                "\(name)'s next key is taken", sourceLocation: sourceLocation)
        }
    }

    // MARK: - Rows and models

    private static let rows = """
        DELETE FROM ZALBUM; DELETE FROM ZARTIST; DELETE FROM ZTAG; DELETE FROM ZNODE; DELETE FROM Z_1TAGS;
        WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 12)
        INSERT INTO ZARTIST (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT k, iif(k % 2 = 1, 2, 3), 1, 'n' || (k % 5) FROM n;
        WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 30)
        INSERT INTO ZALBUM (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZLABEL, ZARTIST, Z2_ARTIST, Z_FOK_ARTIST)
        SELECT k, 1, 1, 'a' || k, 'label' || (k % 4), iif(k % 10 = 0, NULL, k % 12 + 1),
            iif(k % 10 = 0, NULL, iif(k % 2 = 0, 2, 3)), iif(k % 10 = 0, NULL, k * 1024) FROM n;
        INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME)
        VALUES (1, 5, 1, 'tag1'), (2, 5, 1, 'tag2'), (3, 5, 1, 'tag1'), (4, 5, 1, 'tag2'), (5, 5, 1, 'tag3'),
            (6, 6, 1, 'genre1'), (7, 6, 1, 'genre2'), (8, 6, 1, 'genre1');
        INSERT INTO Z_1TAGS (Z_1ALBUMS, Z_5TAGS)
        SELECT Z_PK, Z_PK % 8 + 1 FROM ZALBUM UNION SELECT Z_PK, Z_PK * 3 % 8 + 1 FROM ZALBUM;
        WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 20)
        INSERT INTO ZNODE (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPARENT)
        SELECT k, 4, 1, char(64 + k), iif(k = 1, NULL, k / 2) FROM n;
        UPDATE Z_PRIMARYKEY SET Z_MAX = CASE Z_NAME WHEN 'Album' THEN 30 WHEN 'Artist' THEN 12 WHEN 'Node' THEN 20
            WHEN 'Tag' THEN 8 ELSE 0 END;

        """

    private static func model(isLater: Bool) -> String {
        let number = isLater ? "<attribute name='aaa' optional='YES' attributeType='Integer 64'/>" : ""
        let text = "optional='YES' attributeType='String'"
        return """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            \(isLater ? "<entity name='Aardvark'><attribute name='z' \(text)/></entity>" : "")
            <entity name="Artist"><attribute name="name" \(text)/>
                \(relationship("albums", "Album", "artist", "toMany='YES' ordered='YES'"))</entity>
            <entity name="Band" parentEntity="Artist">
                <attribute name="members" optional="YES" attributeType="Integer 32"/></entity>
            <entity name="Album">\(number)<attribute name="title" \(text)/><attribute name="label" \(text)/>
                \(relationship("artist", "Artist", "albums", "maxCount='1'"))
                \(relationship("tags", "Tag", "albums", "toMany='YES'"))</entity>
            <entity name="Tag"><attribute name="name" \(text)/>
                \(relationship("albums", "Album", "tags", "toMany='YES'"))</entity>
            <entity name="Genre" parentEntity="Tag"/>
            <entity name="Node">\(number)<attribute name="title" \(text)/>
                \(relationship("children", "Node", "parent", "toMany='YES' \(isLater ? "ordered='YES'" : "")"))
                \(relationship("parent", "Node", "children", "maxCount='1'"))</entity>
            </model>
            """
    }

    private static func relationship(_ name: String, _ entity: String, _ inverse: String, _ more: String) -> String {
        """
        <relationship name="\(name)" optional="YES" \(more) deletionRule="Nullify" destinationEntity="\(entity)"
            inverseName="\(inverse)" inverseEntity="\(entity)"/>
        """
    }
}
