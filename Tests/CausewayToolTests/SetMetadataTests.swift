import Causeway
import CausewaySQLite
import Foundation
import Testing

/// `--set-metadata`: keys of an app's own that follow a version.
@Suite("Metadata of the app's own", .timeLimit(.minutes(60)))
struct SetMetadataTests {
    private static func models() throws -> ModelFolder {
        let models = try ModelFolder()
        let name = ModelFolder.attribute("name")
        try models.bundle(
            "App",
            [
                ("V1", [ModelFolder.entity("Thing", name)]),
                ("V2", [ModelFolder.entity("Thing", name, ModelFolder.attribute("size", "Integer 32"))]),
                (
                    "V3",
                    [
                        ModelFolder.entity("Thing", name, ModelFolder.attribute("size", "Integer 64")),
                        ModelFolder.entity("Other", name),
                    ]
                ),
            ], current: "V3")
        return models
    }

    /// The property list in Z_METADATA as XML, without blanks between the elements.
    private static func metadata(_ path: String) throws -> String {
        let connection = try Connection(path: path, mode: .readOnly, hardening: .untrusted)
        var statement = try connection.prepare("SELECT Z_PLIST FROM Z_METADATA")
        guard try statement.step(), let bytes = statement.bytes(at: 0) else { throw CocoaError(.fileReadCorruptFile) }
        let list = try unsafe PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
        let text = String(
            decoding: try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0),
            as: UTF8.self)
        return text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined()
    }

    @Test(
        "values of every type are in the new store, with or without steps in between", arguments: [[], ["--no-fuse"]])
    func types(options: [String]) throws {
        let models = try Self.models()
        let store = try models.store("Store.sqlite", of: "App.xcdatamodeld", version: "V1")
        let entries = [
            "PLModelVersion=18000", "ratio=0.5", "isNew=true", "build=007", "text=int:5", "word=string:5", "equals=a=b",
        ]
        var arguments = ["Store.sqlite", "--models", "App.xcdatamodeld"] + options
        for entry in entries { arguments += ["--set-metadata", entry] }
        let plan = try ToolProcess(["plan"] + arguments, in: models.folder.url)
        #expect(plan.status == 0, "\(plan.errors)")
        #expect(plan.output.contains("PLModelVersion = 18000 (integer)"))
        #expect(plan.output.contains("word = 5 (string)"))
        let run = try ToolProcess(["migrate"] + arguments + ["--json", "--quiet"], in: models.folder.url)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("\"PLModelVersion\":\"int:18000\""))
        let found = try Self.metadata(store)
        for expected in [
            "<key>PLModelVersion</key><integer>18000</integer>", "<key>ratio</key><real>0.5</real>",
            "<key>isNew</key><true/>", "<key>build</key><string>007</string>", "<key>text</key><integer>5</integer>",
            "<key>word</key><string>5</string>", "<key>equals</key><string>a=b</string>",
            "<key>NSStoreType</key><string>SQLite</string>",
        ] { #expect(found.contains(expected), "\(expected)") }
        #expect(try ToolProcess(["verify", store]).status == 0)
    }

    @Test("the same values give the same bytes")
    func deterministic() throws {
        let models = try Self.models()
        _ = try models.store("Store.sqlite", of: "App.xcdatamodeld", version: "V1")
        for output in ["A", "B"] {
            let run = try models.run(
                "migrate", "Store.sqlite", "--models", "App.xcdatamodeld", "--output", output, "--set-metadata", "b=1",
                "--set-metadata", "a=x", "--set-metadata", "c=true")
            #expect(run.status == 0, "\(run.errors)")
        }
        let content = try models.folder.content()
        #expect(content["A"] == content["B"])
    }

    @Test("a store of the target version gets them in one step, and needs none when it has them")
    func current() throws {
        let models = try Self.models()
        let store = try models.store("Store.sqlite", of: "App.xcdatamodeld", version: "V3")
        func run(_ value: String) throws -> ToolProcess {
            try models.run(
                "migrate", "Store.sqlite", "--models", "App.xcdatamodeld", "--set-metadata", "follows=\(value)")
        }
        #expect(try run("3").output.contains("Set in the store's metadata: follows = 3 (integer)"))
        #expect(try run("3").output.contains("nothing to do"))
        #expect(try Self.metadata(store).contains("<key>follows</key><integer>3</integer>"))
        #expect(try run("4").status == 0)
        #expect(try Self.metadata(store).contains("<key>follows</key><integer>4</integer>"))
        #expect(try StoreInspection(store: store).entities.map(\.rows).reduce(0, +) == 20)
    }

    @Test(
        "Core Data's own keys, two values for a key and values that aren't of their type are refused with 64",
        arguments: [
            ["NSStoreType=XML"], ["NSPersistenceFrameworkVersion=1"], ["_NSAutoVacuumLevel=0"], ["=x"], ["a"],
            ["a=int:x"], ["a=bool:maybe"], ["a=1", "a=2"],
        ])
    func refused(entries: [String]) throws {
        let run = try ToolProcess(
            ["plan", "Store.sqlite", "--models", "App.xcdatamodeld"] + entries.flatMap { ["--set-metadata", $0] })
        #expect(run.status == 64, "\(run.errors)")
        if entries == ["a=int:x"] { #expect(run.errors.contains("what follows int: isn't a value of that type")) }
        if entries == ["a"] { #expect(run.errors.contains("a key, = and a value are needed")) }
    }

    @Test("the library's option does the same, and refuses the same keys")
    func library() async throws {
        let models = try Self.models()
        let store = try models.store("Store.sqlite", of: "App.xcdatamodeld", version: "V1")
        var options = MigrationOptions()
        options.metadata = ["PLModelVersion": .integer(7)]
        let migrator = Migrator(store: store, models: models.path("App.xcdatamodeld"), options: options)
        #expect(try migrator.plan().metadata == options.metadata)
        #expect(try await migrator.migrate().metadata == options.metadata)
        #expect(try Self.metadata(store).contains("<key>PLModelVersion</key><integer>7</integer>"))
        options.metadata = ["NSStoreUUID": .text("x")]
        let refused = Migrator(store: store, models: models.path("App.xcdatamodeld"), options: options)
        #expect(throws: MigrationError.self) { _ = try refused.plan() }
    }
}
