import Causeway
import Foundation
import Testing

/// The commands on a store that Core Data wrote.
@Suite("Commands on a store", .timeLimit(.minutes(60)), .enabled(if: SharedStores.exist, "shared/stores is missing"))
struct StoreTests {
    private struct Line: Decodable {
        var event: String
        var plan: MigrationPlan?
        var summary: MigrationSummary?
        var title: String?
        var sql: String?
    }

    private static func lines(_ output: String) throws -> [Line] {
        try output.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }

    private static func inspection(_ store: String) throws -> StoreInspection {
        let inspected = try ToolProcess(["inspect", store, "--models", SharedStores.models, "--json"])
        return try JSONDecoder().decode(StoreInspection.self, from: Data(inspected.output.utf8))
    }

    private static let target = "CoreDataMigration_Example 2"

    @Test("a store is migrated in place, the original is kept, and the undo works")
    func inPlace() throws {
        let folder = try WorkFolder()
        let store = try folder.copy(SharedStores.version1, as: "it's a store.sqlite")
        let before = try folder.content()
        let rows = try Self.inspection(store).rowCount
        let run = try ToolProcess(["migrate", store, "--models", SharedStores.models, "--to", Self.target, "-v"])
        #expect(run.status == 0, "\(run.errors)")
        let after = try Self.inspection(store)
        #expect(after.versions == [Self.target])
        #expect(after.rowCount == rows)
        #expect(after.problems == [])
        let backup = try #require(try folder.backup(of: "it's a store.sqlite"))
        #expect(try folder.content()[backup] == before["it's a store.sqlite"])
        let migrated = try folder.content()["it's a store.sqlite"]
        #expect(try Set(folder.content().keys) == ["it's a store.sqlite", backup])
        // The only table stays.
        #expect(run.errors.contains("copying pages"))
        // The undo command is run as it is printed.
        let undo = String(try #require(run.output.split(separator: "\n").first { $0.contains(" rollback ") }))
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-e", "-c", undo]
        try shell.run()
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 0)
        // The migrated store is kept too.
        var undone = try folder.content()
        let kept = try #require(undone.keys.first { $0.contains(".rolledback-") })
        #expect(undone.removeValue(forKey: kept) == migrated)
        #expect(undone == before)
    }

    @Test("--output leaves the store as it is")
    func output() throws {
        let folder = try WorkFolder()
        let store = try folder.copy(SharedStores.version1, as: "Store.sqlite")
        let before = try folder.content()
        let new = folder.path("New.sqlite")
        let run = try ToolProcess(
            ["migrate", store, "--models", SharedStores.models, "--to", Self.target, "--output", new])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try Self.inspection(new).versions == [Self.target])
        #expect(try folder.content()["Store.sqlite"] == before["Store.sqlite"])
        #expect(try Set(folder.content().keys) == ["Store.sqlite", "New.sqlite"])
    }

    @Test("a store that has the version is not touched", arguments: [[], ["--json"], ["--quiet"]])
    func nothingToDo(flags: [String]) throws {
        let folder = try WorkFolder()
        let store = try folder.copy(
            SharedStores.path("colourful-posts/CoreDataMigration_Example_2.sqlite"), as: "Store.sqlite")
        let before = try folder.content()
        let run = try ToolProcess(
            ["migrate", store, "--models", SharedStores.models, "--to", Self.target] + flags)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try folder.content() == before)
        switch flags {
        case ["--json"]: #expect(try Self.lines(run.output).last?.summary?.wasCurrent == true)
        case ["--quiet"]: #expect(run.output + run.errors == "")
        default: #expect(run.output.contains("nothing to do"))
        }
    }

    @Test("--json prints one object per line, from the plan to the summary; statements only with -vv")
    func events() throws {
        let folder = try WorkFolder()
        for (flags, hasStatements) in [([], false), (["-vv"], true)] as [([String], Bool)] {
            let store = try folder.copy(SharedStores.version1, as: "Store\(flags.count).sqlite")
            let run = try ToolProcess(
                ["migrate", store, "--models", SharedStores.models, "--to", Self.target, "--json"]
                    + ["--engine", "statements"] + flags)
            #expect(run.status == 0)
            #expect(run.errors == "")
            let lines = try Self.lines(run.output)
            #expect(lines.first?.event == "planned")
            #expect(lines.first?.plan?.targetVersion == Self.target)
            #expect(lines.contains { $0.event == "passEnded" && $0.title != nil })
            #expect(lines.contains { $0.event == "statement" } == hasStatements)
            #expect(lines.last?.event == "summary")
            #expect(lines.last?.summary?.targetVersion == Self.target)
        }
    }

    @Test("plan, inspect and models change nothing, and their JSON decodes")
    func readers() throws {
        let folder = try WorkFolder()
        let store = try folder.copy(SharedStores.version1, as: "Store.sqlite")
        let before = try folder.content()
        let arguments = [store, "--models", SharedStores.models]
        let plan = try ToolProcess(["plan"] + arguments + ["--to", Self.target, "--json"])
        let decoded = try JSONDecoder().decode(MigrationPlan.self, from: Data(plan.output.utf8))
        #expect(decoded.path == ["CoreDataMigration_Example", Self.target])
        let text = try ToolProcess(["plan"] + arguments + ["--to", Self.target, "--sql"])
        #expect(text.status == 0)
        #expect(text.output.contains("CREATE TABLE ZPOST"))
        let inspection = try Self.inspection(store)
        #expect(inspection.versions == ["CoreDataMigration_Example"])
        #expect(inspection.modelOrigin == .models)
        #expect(inspection.problems == [])
        #expect(try ToolProcess(["inspect"] + arguments).status == 0)
        let alone = try ToolProcess(["inspect", store, "--json"])
        let unaided = try JSONDecoder().decode(StoreInspection.self, from: Data(alone.output.utf8))
        #expect(unaided.entities == inspection.entities)
        #expect(unaided.modelOrigin == .storeCache)
        let models = try ToolProcess(["models", SharedStores.models, "--json"])
        let report = try JSONDecoder().decode(ModelsReport.self, from: Data(models.output.utf8))
        #expect(report.versions.count == 4)
        #expect(report.steps.count == 3)
        #expect(try ToolProcess(["models", SharedStores.models, "--hashes"]).status == 0)
        #expect(try folder.content() == before)
    }

    @Test("an inspection counts the rows that are in the -wal, and leaves both files as they are")
    func wal() throws {
        let folder = try WorkFolder()
        let name = "posts-and-colors/CoreDataMigration_Example_WAL.sqlite"
        let store = try folder.copy(SharedStores.path(name), as: "Store.sqlite")
        _ = try folder.copy(SharedStores.path(name + "-wal"), as: "Store.sqlite-wal")
        let before = try folder.content()
        let inspected = try ToolProcess(["inspect", store, "--json"])
        let inspection = try JSONDecoder().decode(StoreInspection.self, from: Data(inspected.output.utf8))
        #expect(inspection.features.isWAL)
        #expect(inspection.rowCount == 168)
        #expect(inspection.sizes.wal == before["Store.sqlite-wal"]?.count)
        // SQLite makes a -shm, which isn't part of the store: the next program that opens it rebuilds it from the -wal.
        #expect(try folder.content().filter { $0.key != "Store.sqlite-shm" } == before)
    }

    @Test(
        "a reading command leaves an empty -wal and its -shm where they are", arguments: ["inspect", "verify", "plan"],
        [true, false])
    func emptyLog(command: String, hasSharedMemory: Bool) throws {
        let folder = try WorkFolder()
        let name = "posts-and-colors/CoreDataMigration_Example_WAL.sqlite"
        let store = try folder.copy(SharedStores.path(name), as: "Store.sqlite")
        try Data().write(to: URL(filePath: store + "-wal"))
        // As an app leaves it that was ended: the index of no frames.
        if hasSharedMemory { try Data(count: 32_768).write(to: URL(filePath: store + "-shm")) }
        let before = try folder.content()
        let run = try ToolProcess([command, store, "--models", SharedStores.models])
        #expect(run.status == 0, "\(run.errors)")
        // SQLite makes the -shm again from the -wal.
        func withoutSharedMemory(_ content: [String: Data]) -> [String: Data] {
            content.filter { $0.key != "Store.sqlite-shm" }
        }
        #expect(try withoutSharedMemory(folder.content()) == withoutSharedMemory(before))
    }

    @Test("an inspection shows no values of the app's metadata")
    func noValues() throws {
        let folder = try WorkFolder()
        let store = try folder.copy(SharedStores.path("wire/store2-101-0.wiredatabase"), as: "Store.sqlite")
        let inspected = try ToolProcess(["inspect", store, "--json"])
        #expect(inspected.status == 0)
        let inspection = try JSONDecoder().decode(StoreInspection.self, from: Data(inspected.output.utf8))
        #expect(!inspection.appMetadataKeys.isEmpty)
        #expect(inspection.appMetadataKeys.allSatisfy { !$0.isEmpty })
    }

    @Test("a generated store can be inspected and migrated, and is the same each time")
    func generation() throws {
        let folder = try WorkFolder()
        for name in ["A.sqlite", "B.sqlite"] {
            let run = try ToolProcess(
                [
                    "generate", SharedStores.models, folder.path(name), "--rows", "500", "--seed", "7",
                    "--version", "CoreDataMigration_Example",
                ])
            #expect(run.status == 0, "\(run.errors)")
        }
        let content = try folder.content()
        #expect(content["A.sqlite"] == content["B.sqlite"])
        let store = folder.path("A.sqlite")
        #expect(try Self.inspection(store).rowCount == 500)
        let run = try ToolProcess(["migrate", store, "--models", SharedStores.models, "--to", Self.target])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try Self.inspection(store).rowCount == 500)
    }
}
