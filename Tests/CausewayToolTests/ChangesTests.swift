import Causeway
import CausewaySQLite
import Foundation
import Testing

/// What `plan`, `models` and `migrate` say about changes and losses; `SNAP_UPDATE=1` rewrites the golden texts.
@Suite("Changes on the command line", .timeLimit(.minutes(60)))
struct ChangesTests {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let snapshots = root.appendingPathComponent("Tests/CausewayToolTests/Snapshots")
    static let orchard = "Fixtures/Orchard/Orchard.xcdatamodeld"

    private static func run(_ arguments: [String]) throws -> ToolProcess { try ToolProcess(arguments, in: root) }

    private static func expect(_ text: String, is name: String) throws {
        let file = snapshots.appendingPathComponent(name + ".txt")
        if ProcessInfo.processInfo.environment["SNAP_UPDATE"] == "1" { try Data(text.utf8).write(to: file) }
        #expect(text == String(decoding: try Data(contentsOf: file), as: UTF8.self))
    }

    /// The fixture's store in a folder of its own, with its external files.
    private static func store(in folder: WorkFolder) throws -> String {
        let fixtures = root.appendingPathComponent("Fixtures/Orchard")
        for name in ["Orchard-v1.sqlite", ".Orchard-v1_SUPPORT"] {
            try FileManager.default.copyItem(
                atPath: fixtures.appendingPathComponent(name).path, toPath: folder.path(name))
        }
        return folder.path("Orchard-v1.sqlite")
    }

    /// From the first change on: sizes before it may differ between machines.
    private static func part(_ text: String, from start: String) -> String {
        text.range(of: start).map { String(text[$0.lowerBound...]) } ?? text
    }

    @Test("a migration of a large store counts what it drops too, before the first row, and a resumed one still knows")
    func largeStore() throws {
        let folder = try WorkFolder()
        let (store, models) = (try Self.store(in: folder), Self.root.appendingPathComponent(Self.orchard).path)
        // Free pages make the file large.
        try Connection(path: store, mode: .readWrite, hardening: .own).execute(
            "CREATE TABLE big (b); INSERT INTO big VALUES (zeroblob(260000000)); DROP TABLE big")
        let plan = try ToolProcess(["plan", store, "--models", models])
        let losses = plan.output.split(separator: "\n").filter { $0.contains("will drop ") }
        #expect(!losses.isEmpty && losses.allSatisfy { $0.hasSuffix("values)") }, "\(plan.output)")
        let interrupted = try ToolProcess(
            ["migrate", store, "--models", models], environment: ["CAUSEWAY_KILL_AT": "planWritten"])
        #expect(interrupted.status == 128 + 9)
        let run = try ToolProcess(["migrate", store, "--models", models])
        #expect(run.status == 0, "\(run.errors)")
        for loss in losses {
            let sentence = loss.drop { $0 == " " || $0 == "-" }.replacing("will drop", with: "dropped")
            #expect(run.output.contains(sentence), "\(run.output)")
        }
    }

    @Test("a plan lists every change of every version, and counts what is lost")
    func plan() throws {
        let folder = try WorkFolder()
        let store = try Self.store(in: folder)
        let before = try folder.content()
        let run = try Self.run(["plan", store, "--models", Self.orchard, "--to", "v3"])
        #expect(run.status == 0, "\(run.errors)")
        try Self.expect(Self.part(run.output, from: "  Changes in v2:"), is: "changes-plan")
        #expect(try folder.content().filter { !$0.key.hasSuffix("-shm") } == before)
    }

    @Test("numbers of a later step are those of the store's values that get there")
    func counts() throws {
        let folder = try WorkFolder()
        let store = try Self.store(in: folder)
        let run = try Self.run(["plan", store, "--models", Self.orchard, "--to", "v3", "--format", "json"])
        let plan = try JSONDecoder().decode(MigrationPlan.self, from: Data(run.output.utf8))
        let changes = plan.steps.flatMap(\.changes)
        func count(_ sql: String) throws -> Int {
            let connection = try Connection(path: store, mode: .readOnly, hardening: .own)
            var statement = try connection.prepare(sql)
            return try statement.step() ? Int(statement.int64(at: 0)) : 0
        }
        let scratch = try #require(changes.first { $0.property == "scratch" })
        #expect(scratch.kind == .dropped)
        #expect(scratch.version == "v3")
        #expect(scratch.unit == "values")
        let values = try count("SELECT count(ZSCRATCH) FROM ZHARVEST")
        #expect(scratch.count == values)
        let notes = try #require(changes.first { $0.property == "notes" })
        let written = try count("SELECT count(ZNOTES) FROM ZPLANT")
        #expect(notes.count == written)
        #expect(plan.steps.flatMap(\.losses).contains("v2 → v3: will drop Harvest.scratch (\(values) values)"))
        let renamed = changes.first { $0.kind == .renamed && $0.property == "cultivar" }
        #expect(renamed?.from == "variety")
        #expect(changes.contains { $0.kind == .moved && $0.property == "rootstock" && $0.from == "Tree" })
        #expect(changes.contains { $0.kind == .mandatory && $0.property == "soil" && $0.value == "\"loam\"" })
    }

    @Test("a migration names the losses before and after with the same numbers")
    func migrate() throws {
        let folder = try WorkFolder()
        let store = try Self.store(in: folder)
        let run = try Self.run(["migrate", store, "--models", Self.orchard, "--to", "v3"])
        #expect(run.status == 0, "\(run.errors)")
        func losses(_ text: String, _ words: String) -> [String] {
            text.split(separator: "\n").map(String.init).filter { $0.contains(words) }
        }
        let planned = losses(run.errors, ": will drop ")
        #expect(!planned.isEmpty)
        #expect(planned.map { $0.replacing("will drop", with: "dropped") } == losses(run.output, ": dropped "))
    }

    @Test("the Markdown of a plan is a diagram and a table for every step")
    func markdown() throws {
        let folder = try WorkFolder()
        let store = try Self.store(in: folder)
        let run = try Self.run(["plan", store, "--models", Self.orchard, "--to", "v3", "--format", "markdown"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.hasPrefix("# `Orchard-v1.sqlite`: v1 → v3\n"))
        try Self.expect(Self.part(run.output, from: "```mermaid"), is: "changes-plan-markdown")
    }

    @Test("models lists the same changes without numbers", arguments: ["Orchard", "Kennel"])
    func models(history: String) throws {
        let models = "Fixtures/\(history)/\(history).xcdatamodeld"
        for (format, name) in [("text", "changes-models-\(history)"), ("markdown", "changes-markdown-\(history)")] {
            let run = try Self.run(["models", models, "--mappings", "--format", format])
            #expect(run.status == 0, "\(run.errors)")
            try Self.expect(run.output, is: name)
        }
        let json = try Self.run(["models", models, "--json"])
        let report = try JSONDecoder().decode(ModelsReport.self, from: Data(json.output.utf8))
        #expect(report.steps.filter { $0.isInferable && !$0.isEqual }.allSatisfy { !$0.changes.isEmpty })
        #expect(report.steps.flatMap(\.changes).allSatisfy { $0.count == nil })
    }

    @Test("a step with a mapping model says what is renamed, transformed and left to a policy")
    func mapped() throws {
        let run = try Self.run(["models", "Fixtures/Staff/Staff.xcdatamodeld", "--mappings", "--json"])
        let report = try JSONDecoder().decode(ModelsReport.self, from: Data(run.output.utf8))
        let changes = report.steps.flatMap(\.changes)
        #expect(changes.contains { $0.kind == .custom && $0.value == "ContactPolicy" })
        #expect(changes.contains { $0.kind == .transformed && $0.value?.contains("$source") == true })
    }

    @Test("with --sql the Markdown of a plan has every step's statements in a block")
    func statements() throws {
        let folder = try WorkFolder()
        let arguments = ["plan", try Self.store(in: folder), "--models", Self.orchard, "--to", "v3"]
        let run = try Self.run(arguments + ["--format", "markdown", "--sql"])
        #expect(run.status == 0, "\(run.errors)")
        let block = try #require(run.output.range(of: "## Statements of v1 → v2 → v3\n\n```sql\n-- schema\n"))
        #expect(run.output[block.upperBound...].contains("CREATE TABLE ZPLANT"))
        #expect(run.output.hasSuffix(";\n```\n"))
        let plain = try Self.run(arguments + ["--format", "markdown"])
        #expect(!plain.output.contains("```sql") && run.output.hasPrefix(plain.output))
    }

    private static let moody = SharedStores.path("moody/Moody.xcdatamodeld")

    @Test(
        "a mapped step names what its versions differ in, and counts what its mapping model doesn't read",
        .enabled(if: SharedStores.exist, "shared/stores is missing"))
    func mappedPlan() throws {
        let folder = try WorkFolder()
        let store = try folder.copy(SharedStores.path("moody/Moody 4.moody"), as: "Moody.sqlite")
        let arguments = [store, "--models", Self.moody, "--to", "Moody 5"]
        let plan = try Self.run(["plan"] + arguments)
        #expect(plan.status == 0, "\(plan.errors)")
        #expect(plan.output.contains("    Continent             dropped, entity (2 rows)\n"))
        #expect(
            plan.output.contains("    Country.continent     dropped, to-one to Continent, read by the mapping model\n"))
        let loss = "drop entity Continent (2 rows) and the links to its rows"
        #expect(plan.output.contains("  - Moody 4 → Moody 5: will \(loss)\n"))
        let run = try Self.run(["migrate"] + arguments)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains("Moody 4 → Moody 5: will \(loss)\n"))
        #expect(run.output.contains("Moody 4 → Moody 5: \(loss.replacing("drop ", with: "dropped "))\n"))
    }

    @Test(
        "the Markdown of mapped steps has the hierarchy's changes and the mapping models",
        .enabled(if: SharedStores.exist, "shared/stores is missing"))
    func mappedMarkdown() throws {
        let folder = try WorkFolder()
        let store = try folder.copy(SharedStores.path("moody/Moody 2.moody"), as: "Moody.sqlite")
        let plan = try Self.run(["plan", store, "--models", Self.moody, "--to", "Moody 5", "--format", "markdown"])
        #expect(plan.status == 0, "\(plan.errors)")
        let models = try Self.run(["models", Self.moody, "--mappings", "--format", "markdown"])
        #expect(models.status == 0, "\(models.errors)")
        for text in [plan.output, models.output] {
            #expect(!text.contains("No entity or property changes"))
            #expect(text.contains("| `Continent` |  | parent changed from GeographicRegion to none |"))
            #expect(text.contains("| `GeographicRegion` |  | dropped, abstract entity |"))
            #expect(text.contains("17 changes: 12 moved, 1 dropped, 2 of uniqueness, 2 of an index"))
        }
        #expect(plan.output.contains("|\"by Moody 3-Moody 4, 17 changes\"|"))
        #expect(models.output.contains("|\"mapped, 17 changes\"|"))
        #expect(
            models.output.contains("By the mapping model Moody 2-Moody 3. Without it, the mapping can be inferred."))
        #expect(models.output.contains("Moody 3-Moody 4.xcmappingmodel`: fits Moody 3 → Moody 4\n"))
    }

    @Test("formats that a command doesn't have are refused with 64", arguments: ["plan", "models", "inspect"])
    func formats(command: String) throws {
        let models = command == "plan" ? ["--models", "m"] : []
        let arguments = [command, "s"] + models
        #expect(try Self.run(arguments + ["--format", "github"]).status == 64)
        #expect(try Self.run(arguments + ["--format", "text", "--json"]).status == 64)
    }
}
