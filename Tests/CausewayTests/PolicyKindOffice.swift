import Causeway
import CausewayGenerator
import CausewayEngine
import CausewayPreparation
import CausewaySQLite
import CausewayStores
import Foundation
import Testing

/// People, teams and tags in four versions, and a store of them. Its cells are computed from their keys. The tests of
/// policies use it.
///
/// | step | what changes |
/// |---|---|
/// | v0 → v1 | `Person.alias` becomes `nick`; can be inferred |
/// | v1 → v2 | `city` becomes an entity; `Person.label`, `rank` (0…100, default 1), `notes`, `Team.size`, `Note` |
/// | v2 → v3 | `Note.text` becomes `body`, `Person.isActive`; can be inferred |
final class Office {
    typealias Work = PoliciesExample.Work

    let folder: TemporaryFolder
    let store: String
    let models: String

    /// The time of a policy's clock.
    private static let now = 700_000_000.0

    /// Person k has boss k/2, team k%5+1, tags k%6+1 and 3k%6+1, and score 10k. There is no nick where 3 divides k, and
    /// no city where 4 does.
    init(at version: String = "v1", people: Int = 40) throws {
        let folder = try TemporaryFolder()
        models = folder.path("Office.xcdatamodeld")
        for (name, text) in Self.versions {
            let bundle = "\(models)/\(name).xcdatamodel"
            try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(filePath: bundle + "/contents"))
        }
        store = folder.path("Store.sqlite")
        var generation = StoreGeneration(model: models, output: store, rows: 8, seed: 1)
        generation.version = version
        try generation.run()
        try StoreRows.execute(store, Self.rows(nick: version == "v0" ? "ZALIAS" : "ZNICK", people: people))
        self.folder = folder
    }

    func request(
        _ code: MigrationCode, to target: String = "v2", as name: String = "result", _ work: Work = .usual
    ) -> MigrationRequest {
        var request = MigrationRequest(
            store: store, models: models, output: folder.path(name), target: target,
            options: work.options(now: Self.now))
        request.code = code
        return request
    }

    /// Migrates into a new file and returns its path.
    func migrate(
        _ code: MigrationCode, to target: String = "v2", as name: String = "result", _ work: Work = .usual
    ) throws -> String {
        _ = try Migration(request(code, to: target, as: name, work)).run()
        return folder.path(name)
    }

    /// The error with which a run fails. The run must leave no files, and the store must be unchanged.
    func failure(
        _ request: MigrationRequest, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> EngineError {
        let before = try folder.snapshot()
        let error = #expect(throws: EngineError.self, sourceLocation: sourceLocation) {
            _ = try Migration(request).run()
        }
        let after = try folder.snapshot()
        #expect(after.keys.sorted() == before.keys.sorted(), sourceLocation: sourceLocation)
        #expect(after == before, "a failed run touches nothing", sourceLocation: sourceLocation)
        return try #require(error, sourceLocation: sourceLocation)
    }

    func failure(
        _ code: MigrationCode, _ work: Work = .usual, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> EngineError {
        try failure(request(code, work), sourceLocation: sourceLocation)
    }

    /// A mapping model v1 → v2 whose people go through a policy.
    static func mapping(
        _ policy: EntityMigrationPolicy.Type?,
        @EntityMappingPartsBuilder _ parts: () -> [EntityMappingPart] = { [] }
    ) -> SwiftMappingModel {
        let people = TransformEntity("Person", policy: policy, content: parts)
        return SwiftMappingModel(from: "v1", to: "v2") {
            people
            TransformEntity("Team")
            TransformEntity("Tag")
            AddEntity("City")
            AddEntity("Note")
        }
    }

    static func code(
        _ policy: EntityMigrationPolicy.Type?,
        @EntityMappingPartsBuilder _ parts: () -> [EntityMappingPart] = { [] }
    ) -> MigrationCode {
        var code = MigrationCode()
        code.add(mapping(policy, parts))
        return code
    }

    // MARK: - Reading

    /// Each row's cells, separated by `|`.
    static func rows(_ store: String, _ columns: String, _ rest: String) throws -> [String] {
        let cells = columns.split(separator: ", ").map { "ifnull(\($0), 'NULL')" }.joined(separator: " || '|' || ")
        return try StoreRows.texts(store, "SELECT \(cells) \(rest)")
    }

    static func people(_ store: String, _ columns: String) throws -> [String] {
        try rows(store, columns, "FROM ZPERSON ORDER BY Z_PK")
    }

    /// (person, tag) of a v2 store.
    static func tags(_ store: String) throws -> [String] {
        try rows(store, "Z_3PERSONS, Z_4TAGS", "FROM Z_3TAGS ORDER BY Z_3PERSONS, Z_4TAGS")
    }

    /// Every row of every table.
    static func dump(_ store: String) throws -> [String: [String]] {
        let example = PoliciesExample(name: "", store: "", models: "")
        return try example.rows(store)
    }

    /// Expects that two stores hold the same, cell by cell.
    static func expectSame(
        _ store: String, _ other: String, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let (a, b) = (try dump(store), try dump(other))
        #expect(a.keys.sorted() == b.keys.sorted(), comment, sourceLocation: sourceLocation)
        for table in a.keys.sorted() { #expect(a[table] == b[table], comment, sourceLocation: sourceLocation) }
    }

    static func expectSound(_ store: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try StoreRows.texts(store, "PRAGMA quick_check") == ["ok"], sourceLocation: sourceLocation)
        for name in try StoreRows.texts(store, "SELECT Z_NAME FROM Z_PRIMARYKEY") {
            #expect(
                try StoreRows.texts(
                    store,
                    """
                    SELECT Z_MAX >= ifnull((SELECT max(Z_PK) FROM Z\(name.uppercased())), 0) FROM Z_PRIMARYKEY
                    WHERE Z_NAME = '\(name)'
                    """) == ["1"], "the next \(name) of the app would get a key that is taken",
                sourceLocation: sourceLocation)
        }
    }

    // MARK: - Rows and models

    private static func rows(nick: String, people: Int) -> String {
        """
        DELETE FROM ZPERSON; DELETE FROM ZTEAM; DELETE FROM ZTAG; DELETE FROM Z_1TAGS;
        WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < \(people))
        INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME, \(nick), ZSCORE, ZCITY, ZBOSS, ZTEAM)
        SELECT k, 1, 1, 'secret' || k, iif(k % 3 = 0, NULL, 'nick' || k), k * 10,
            iif(k % 4 = 0, NULL, 'city' || (k % 4)), iif(k = 1, NULL, k / 2), k % 5 + 1 FROM n;
        INSERT INTO ZTEAM (Z_PK, Z_ENT, Z_OPT, ZTITLE)
        VALUES (1, 3, 1, 'team1'), (2, 3, 1, 'team2'), (3, 3, 1, 'team3'), (4, 3, 1, 'team4'), (5, 3, 1, 'team5');
        INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME)
        VALUES (1, 2, 1, 'tag1'), (2, 2, 1, 'tag2'), (3, 2, 1, 'tag3'), (4, 2, 1, 'tag4'), (5, 2, 1, 'tag5'),
            (6, 2, 1, 'tag6');
        INSERT INTO Z_1TAGS (Z_1PERSONS, Z_2TAGS)
        SELECT Z_PK, Z_PK % 6 + 1 FROM ZPERSON UNION SELECT Z_PK, Z_PK * 3 % 6 + 1 FROM ZPERSON;
        UPDATE Z_PRIMARYKEY SET Z_MAX = CASE Z_NAME WHEN 'Person' THEN \(people) WHEN 'Team' THEN 5 ELSE 6 END;
        """
    }

    private static let versions = [
        "v0": model(person("alias")), "v1": model(person("nick", was: "alias")), "v2": later(""), "v3": later("body"),
    ]

    private static func later(_ body: String) -> String {
        let isLast = !body.isEmpty
        let active = "<attribute name='isActive' attributeType='Boolean' optional='NO' defaultValueString='YES'/>"
        return model(
            person(
                "nick",
                """
                \(text("label"))
                <attribute name="rank" attributeType="Double" optional="YES" minValueString="0" maxValueString="100"
                    defaultValueString="1"/>
                \(toOne("home", "City", "people")) \(toMany("notes", "Note", "person")) \(isLast ? active : "")
                """, city: "", was: ""),
            "<attribute name='size' attributeType='Integer 32' optional='YES'/>",
            """
            <entity name="City">\(text("name")) \(toMany("people", "Person", "home"))</entity>
            <entity name="Note">\(isLast ? text("body", was: "text") : text("text"))
                \(toOne("person", "Person", "notes"))</entity>
            """)
    }

    private static func model(_ person: String, _ team: String = "", _ more: String = "") -> String {
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Person">\(person)</entity>
        <entity name="Team">\(text("title", optional: "NO")) \(team) \(toMany("members", "Person", "team"))</entity>
        <entity name="Tag">\(text("name")) \(toMany("persons", "Person", "tags"))</entity>
        \(more)
        </model>
        """
    }

    private static func person(_ nick: String, _ more: String = "", city: String = "city", was: String = "") -> String {
        """
        \(text("name", optional: "NO")) \(text(nick, was: was))
        <attribute name="score" attributeType="Integer 32" optional="YES"/> \(city.isEmpty ? "" : text(city))
        \(toOne("boss", "Person", "staff")) \(toMany("staff", "Person", "boss"))
        \(toOne("team", "Team", "members")) \(toMany("tags", "Tag", "persons")) \(more)
        """
    }

    private static func text(_ name: String, optional: String = "YES", was: String = "") -> String {
        let was = was.isEmpty ? "" : "elementID=\"\(was)\""
        return "<attribute name=\"\(name)\" attributeType=\"String\" optional=\"\(optional)\" \(was)/>"
    }

    private static func toOne(_ name: String, _ entity: String, _ inverse: String) -> String {
        """
        <relationship name="\(name)" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="\(entity)"
            inverseName="\(inverse)" inverseEntity="\(entity)"/>
        """
    }

    private static func toMany(_ name: String, _ entity: String, _ inverse: String) -> String {
        """
        <relationship name="\(name)" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="\(entity)"
            inverseName="\(inverse)" inverseEntity="\(entity)"/>
        """
    }
}
