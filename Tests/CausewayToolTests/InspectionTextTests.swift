import Causeway
import CausewaySQLite
import Foundation
import Testing

/// What `inspect` shows of a store; `SNAP_UPDATE=1` rewrites the golden texts.
@Suite("The inspect command", .timeLimit(.minutes(60)))
struct InspectionTextTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let snapshots = root.appendingPathComponent("Tests/CausewayToolTests/Snapshots")
    private static let store = "Fixtures/Orchard/Orchard-v1.sqlite"

    private static func run(_ arguments: [String], columns: Int = 80) throws -> ToolProcess {
        try ToolProcess(["inspect"] + arguments, in: root, environment: ["COLUMNS": String(columns)])
    }

    @Test(
        "an inspection is the golden text, and fits the terminal",
        arguments: [("inspection", [80]), ("inspection-all", [60, 80])])
    func golden(name: String, columns: [Int]) throws {
        for columns in columns {
            let all = name.hasSuffix("all")
            let run = try Self.run([Self.store] + (all ? ["--all"] : []), columns: columns)
            #expect(run.status == 0, "\(run.errors)")
            // The path is the machine's.
            let text = run.output.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
                .joined(separator: "\n")
            let lines = text.split(separator: "\n")
            #expect(lines.filter { $0.count > columns && !$0.hasPrefix("Version ") } == [])
            let file = Self.snapshots.appendingPathComponent("\(name)-\(columns).txt")
            if ProcessInfo.processInfo.environment["SNAP_UPDATE"] == "1" { try Data(text.utf8).write(to: file) }
            #expect(text == String(decoding: try Data(contentsOf: file), as: UTF8.self))
        }
    }

    @Test("a pipe gets every name whole; a narrow terminal breaks sentences before names")
    func wholeNames() throws {
        let models = try ModelFolder()
        let name = String(repeating: "veryLongNameOfAnAttribute", count: 2)
        try models.bundle(
            "App", [("V1", [ModelFolder.entity("Thing", ModelFolder.attribute(name, "Integer 32"))])], current: "V1")
        let store = try models.store("Store.sqlite", of: "App.xcdatamodeld", version: "V1")
        // Types have spaces, and the name has none.
        let piped = try ToolProcess(["inspect", store], in: models.folder.url)
        #expect(piped.output.contains("  Thing.\(name)  Integer 32, optional"))
        let narrow = try Self.run([store], columns: 76)
        #expect(narrow.output.contains("  Thing.\(name)  Integer 32"))
        #expect(
            narrow.output.split(separator: "\n").allSatisfy {
                $0.count <= 76 || $0.hasPrefix("Store ") || $0.hasPrefix("Version ")
            })
    }

    @Test("where the sizes can't be read, it says why")
    func unknownSizes() throws {
        let folder = try WorkFolder()
        let source = Self.root.appendingPathComponent(Self.store).path
        var bytes = try #require(FileManager.default.contents(atPath: source))
        // Not where it is: a reader that can't write leaves a -wal and a -shm.
        let copy = try folder.copy(source, as: "Copy.sqlite")
        let connection = try Connection(path: copy, mode: .readOnly, hardening: .own)
        var root = try connection.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'Z_Label_code'")
        let hasRoot = try root.step()
        try #require(hasRoot)
        let page = Int(root.int64(at: 0))
        // No kind of page.
        bytes[(page - 1) * 4_096] = 0x33
        let store = try folder.write(Array(bytes), as: "Damaged.sqlite")
        let text = try Self.run([store, "--sizes"])
        #expect(text.status == 0)
        #expect(text.output.contains("Tables and indexes by size\n  not known: page \(page): "), "\(text.output)")
        let json = try Self.run([store, "--sizes", "--json"])
        let sizes = try JSONDecoder().decode(StoreInspection.self, from: Data(json.output.utf8)).sizes
        #expect(sizes.objects == nil && sizes.objectsProblem?.hasPrefix("page \(page): ") == true)
    }

    @Test("of a damaged store it says what helps, and no statement")
    func damaged() throws {
        let folder = try WorkFolder()
        let source = Self.root.appendingPathComponent(Self.store).path
        let copy = try folder.copy(source, as: "Copy.sqlite")
        let connection = try Connection(path: copy, mode: .readOnly, hardening: .own)
        var root = try connection.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'ZHARVEST'")
        let hasRoot = try root.step()
        try #require(hasRoot)
        var bytes = try #require(FileManager.default.contents(atPath: source))
        bytes[(Int(root.int64(at: 0)) - 1) * 4_096] = 0x33
        let store = try folder.write(Array(bytes), as: "Damaged.sqlite")
        let run = try Self.run([store])
        #expect(run.status == 65 && run.errors.contains("Damaged.sqlite: the store is damaged: "), "\(run.errors)")
        #expect(run.errors.contains("causeway export --salvage") && !run.errors.contains("SELECT"), "\(run.errors)")
    }

    @Test("JSON has types, relationships and, if asked for, the size of every table and index")
    func json() throws {
        let run = try Self.run([Self.store, "--json"])
        let plain = try JSONDecoder().decode(StoreInspection.self, from: Data(run.output.utf8))
        #expect(plain.sizes.objects == nil)
        let harvest = try #require(plain.entities.first { $0.name == "Harvest" })
        #expect(harvest.attributes?.map(\.type) == ["Date", "Integer 64", "Decimal"])
        #expect(harvest.relationships?.map(\.destination) == ["Tree"])
        #expect(plain.entities.first { $0.name == "Plant" }?.isAbstract == true)
        let photo = plain.entities.first { $0.name == "Label" }?.attributes?.first { $0.name == "photo" }
        #expect(photo?.isStoredExternally == true)

        let sized = try Self.run([Self.store, "--sizes", "--json"])
        let whole = try JSONDecoder().decode(StoreInspection.self, from: Data(sized.output.utf8))
        let objects = try #require(whole.sizes.objects)
        #expect(objects.map(\.bytes) == objects.map(\.bytes).sorted(by: >))
        #expect(objects.contains { $0.name == "ZPLANT" && $0.kind == "table" })
        #expect(objects.contains { $0.name == "sqlite_schema" && $0.kind == "table" })
        let known = objects.reduce(0) { $0 + $1.pages } + whole.sizes.freePages + whole.sizes.pointerMapPages
        #expect(whole.sizes.pages == known)
    }

    @Test(
        "every long list of a large store is folded, and --all shows it",
        .enabled(if: SharedStores.exist, "shared/stores is missing"))
    func folded() throws {
        let store = SharedStores.path("wire/store2-101-0.wiredatabase")
        let folder = try WorkFolder()
        let copy = try folder.copy(store, as: "Wire.sqlite")
        let short = try Self.run([copy])
        #expect(short.output.contains(" more; --all shows them"))
        let long = try Self.run([copy, "--all"])
        #expect(!long.output.contains("--all shows them"))
        #expect(long.output.count > short.output.count)
        #expect(long.output.contains("Tables and indexes by size"))
    }
}
