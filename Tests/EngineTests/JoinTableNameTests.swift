import CausewayEngine
import CausewayModel
import CausewayPlanning
import CausewayPreparation
import CausewayStoreFormat
import CausewayStores
import Foundation
import Testing

/// Names that a model doesn't determine: the warnings about them, and how to settle them (InsideStoreFormat §5.3).
@Suite("Join tables of an entity with itself", .timeLimit(.minutes(60)))
struct JoinTableNameTests {
    /// The name that the heuristic chooses doesn't matter: every store here counts as written by Core Data.
    static let names = ["Z_2LIKES", "Z_2LIKEDBY"]

    static func version(_ user: String = "", _ other: String = "") -> String {
        model(
            entity("Apple", other),
            entity(
                "User", attribute("name"), user, toMany("likes", "User", inverse: "likedBy"),
                toMany("likedBy", "User", inverse: "likes", ordered: true)))
    }

    static func other(_ name: String) -> String { names[0] == name ? names[1] : names[0] }

    /// As the heuristic names it.
    static func guess(_ text: String = version()) throws -> String {
        let model = try ModelReader.model(source: Array(text.utf8))
        return try #require(StoreLayout(model: model, frameworkVersion: 1509).joinTables.first).name
    }

    /// Statements that give a new store's join table the name, its columns and rows.
    static func table(_ name: String) throws -> String {
        let guess = try guess()
        // The columns of both are named alike; their order follows the table's name.
        return """
            DROP TABLE \(guess);
            CREATE TABLE \(name) ( \(other(name)) INTEGER, \(name) INTEGER, Z_FOK_2LIKEDBY INTEGER, \
            PRIMARY KEY (\(other(name)), \(name)) );
            INSERT INTO \(name) (Z_2LIKEDBY, Z_2LIKES, Z_FOK_2LIKEDBY)
            VALUES (1, 2, 2048), (1, 3, 1024), (3, 2, 3072), (4, 1, 7);
            """
    }

    static let rows = """
        INSERT INTO ZUSER (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 2, 5, 'a'), (2, 2, 1, NULL), (3, 2, 1, 'c'), (4, 2, 9, 'd');
        CREATE TABLE appNotes (id INTEGER PRIMARY KEY, note TEXT);
        INSERT INTO appNotes VALUES (7, 'kept');
        CREATE INDEX appIndex ON ZUSER (ZNAME);
        """

    /// Warnings that speak of join tables.
    static func doubts(_ prepared: PreparedMigration) -> [String] {
        prepared.warnings.filter { warning in names.contains { warning.contains($0) } }
    }

    static func scenario(_ name: String, _ versions: [String]) throws -> Scenario {
        try Scenario(versions: versions, history: true, rows: rows + table(name))
    }

    /// Every row but the join table's, then the join table's by meaning.
    private func content(_ path: String) throws -> [String] {
        var result: [String] = []
        for name in try Database.rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", in: path) {
            let table = String(name.dropFirst().dropLast())
            guard !Self.names.contains(table) else {
                result += try Database.rows(
                    "SELECT Z_2LIKEDBY, Z_2LIKES, Z_FOK_2LIKEDBY FROM \(table) ORDER BY 1, 2", in: path)
                continue
            }
            result += [table] + (try Database.rows("SELECT * FROM \"\(table)\"", in: path))
        }
        return result
            + (try Database.rows("SELECT name, sql FROM sqlite_schema WHERE name LIKE 'app%' ORDER BY 1", in: path))
    }

    private func joinTables(_ path: String) throws -> [String] {
        try Database.rows(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'Z!_2L%' ESCAPE '!'", in: path)
    }

    @Test(
        "a store of the target version gets the other name, and nothing else changes", arguments: names,
        [1, 7, 1_024])
    func renamed(name: String, batchRows: Int) throws {
        let scenario = try Self.scenario(name, [Self.version()])
        let before = try content(scenario.store)
        for isOutput in [true, false] {
            var request = scenario.request(to: "V1", batchRows: batchRows)
            request.joinTables = [Self.other(name).lowercased()]
            request.verification = .full
            #expect(try Migration(request).prepare().renames == ["\(name) → \(Self.other(name))"])
            if isOutput {
                let result = try EngineRun.output(request, as: "result.sqlite")
                #expect(try content(result) == before)
                #expect(try joinTables(result) == ["'\(Self.other(name))'"])
                #expect(try joinTables(scenario.store) == ["'\(name)'"])
            } else {
                _ = try Migration(request).run()
                #expect(try content(scenario.store) == before)
                #expect(try joinTables(scenario.store) == ["'\(Self.other(name))'"])
                let bytes = try Data(contentsOf: URL(filePath: scenario.store))
                #expect(try Migration(request).run().prepared.steps.isEmpty, "it has the name now")
                #expect(try Data(contentsOf: URL(filePath: scenario.store)) == bytes)
            }
        }
    }

    @Test("a name that the store has already needs no work, and the file keeps its bytes", arguments: names)
    func fitting(name: String) throws {
        let scenario = try Self.scenario(name, [Self.version()])
        let before = try snapshot(scenario.folder)
        var request = scenario.request(to: "V1")
        request.joinTables = [name]
        #expect(try Migration(request).run().prepared.steps.isEmpty)
        #expect(try snapshot(scenario.folder) == before)
    }

    @Test("a template renames a store of its version, too, alone or in a folder", arguments: names, [false, true])
    func template(name: String, isFolder: Bool) throws {
        let scenario = try Self.scenario(name, [Self.version()])
        let template = try Self.scenario(Self.other(name), [Self.version()])
        let before = try content(scenario.store)
        var request = scenario.request(to: "V1")
        request.schemaTemplate = isFolder ? template.folder : template.store
        _ = try Migration(request).run()
        #expect(try content(scenario.store) == before)
        #expect(try joinTables(scenario.store) == ["'\(Self.other(name))'"])
    }

    @Test(
        "the plan names both names where the properties have changed, and how to settle them", arguments: names,
        [true, false])
    func warning(name: String, fuses: Bool) throws {
        let versions = [
            Self.version(), Self.version(attribute("age", "Integer 16")),
            Self.version(attribute("age", "Integer 16"), attribute("color")),
        ]
        let scenario = try Self.scenario(name, versions)
        let outcome = try scenario.migrate(fuses: fuses)
        let warnings = outcome.warnings.filter { $0.contains("LIKE") }
        #expect(warnings.count == 1)
        let text = try #require(warnings.first)
        #expect(text.hasPrefix("V3: User."))
        for word in Self.names + ["the properties of User have changed", "--schema-template", "--join-table"] {
            #expect(text.contains(word))
        }
        #expect(try joinTables(scenario.store) == ["'\(name)'"], "the store's own name is kept")
    }

    @Test(
        "without a change of properties, or with a template or a name given, there is no warning", arguments: names
    )
    func silence(name: String) throws {
        let grown = Self.version(attribute("age", "Integer 16"))
        let same = try Self.scenario(name, [Self.version(), Self.version("", attribute("color")), Self.version()])
        #expect(try Self.doubts(Migration(same.request(to: "V3")).prepare()) == [])
        let scenario = try Self.scenario(name, [Self.version(), grown])
        var request = scenario.request(to: "V2")
        request.joinTables = [Self.other(name)]
        let prepared = try Migration(request).prepare()
        #expect(Self.doubts(prepared) == [])
        #expect(prepared.steps.last?.layout.joinTables.map(\.name) == [Self.other(name)])
        #expect(prepared.renames == [])
    }

    @Test(
        "a folder's stores give the names of all their versions, where steps run one by one", arguments: names
    )
    func folder(name: String) throws {
        let grown = Self.version(attribute("age", "Integer 16"))
        let last = Self.version(attribute("age", "Integer 16"), attribute("color"))
        let scenario = try Self.scenario(name, [Self.version(), grown, last])
        let templates = try Self.scenario(name, [last])
        try Scenario.makeStore(
            at: templates.folder + "/Second.sqlite", model: grown, rows: try Self.table(Self.other(name)))
        try Data("no store".utf8).write(to: URL(filePath: templates.folder + "/notes.txt"))
        for (name, destination) in [("gone.sqlite", "nowhere"), ("circle", "circle")] {
            try FileManager.default.createSymbolicLink(
                atPath: templates.folder + "/" + name, withDestinationPath: destination)
        }
        var request = scenario.request(to: "V3", fuses: false)
        request.schemaTemplate = templates.folder
        let prepared = try Migration(request).prepare()
        #expect(prepared.steps.map { $0.layout.joinTables.map(\.name) } == [[Self.other(name)], [name]])
        #expect(Self.doubts(prepared) == [])
        request.target = "V1"
        let error = try failure { _ = try Migration(request).prepare() }
        #expect(error.kind == .plan)
        #expect(error.message.contains("no template for version V1"))
        #expect(error.details.contains { $0.hasSuffix("/Second.sqlite: of version V2") })
        #expect(error.details.contains { $0.hasSuffix("/Store.sqlite: of version V3") })
        request.target = "V2"
        request.schemaTemplate = templates.store
        #expect(try failure { _ = try Migration(request).prepare() }.message.contains("of version V3, not of V2"))
    }

    @Test("impossible or contradictory names are refused, with the possible ones")
    func refusals() throws {
        let scenario = try Self.scenario(Self.names[0], [Self.version()])
        let template = try Self.scenario(Self.names[0], [Self.version()])
        func refusal(_ names: [String], template: String? = nil) throws -> EngineError {
            var request = scenario.request(to: "V1")
            request.joinTables = names
            request.schemaTemplate = template
            return try failure { _ = try Migration(request).prepare() }
        }
        let impossible = try refusal(["Z_9LIKES"])
        #expect(impossible.kind == .usage)
        #expect(Self.names.allSatisfy { name in impossible.details.contains { $0.contains(name) } })
        let both = try refusal(Self.names)
        #expect(both.kind == .usage)
        #expect(both.message.contains("both name"))
        let contradiction = try refusal([Self.names[1]], template: template.store)
        #expect(contradiction.kind == .usage)
        #expect(contradiction.message.contains("the template names the table"))
        try Scenario.makeStore(
            at: template.folder + "/Other.sqlite", model: Self.version(), rows: try Self.table(Self.names[1]))
        #expect(try refusal([], template: template.folder).message.contains("name join tables differently"))
        #expect(try refusal([], template: scenario.store).message.contains("can't be the template"))
    }
}
