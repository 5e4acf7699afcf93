import Causeway
import Foundation
import Testing

/// Every failure has its exit code, says what to do, and leaves every file as it was.
@Suite("Failures", .timeLimit(.minutes(60)), .enabled(if: SharedStores.exist, "shared/stores is missing"))
struct FailureTests {
    private struct ErrorLine: Decodable {
        var event: String
        var exitCode: Int32
        var message: String
        var storeIsNew: Bool
    }

    /// The store's damage.
    enum Damage: String, CaseIterable {
        case missing, empty, notADatabase, truncated, notCoreData

        var status: Int32 { self == .missing ? 66 : 65 }

        func make(in folder: WorkFolder) throws -> String {
            let store = try Data(contentsOf: URL(fileURLWithPath: SharedStores.version1))
            switch self {
            case .missing: return folder.path("Store.sqlite")
            case .empty: return try folder.write([], as: "Store.sqlite")
            case .notADatabase:
                return try folder.write(Array(repeating: UInt8(ascii: "x"), count: 8_192), as: "Store.sqlite")
            case .truncated: return try folder.write(Array(store.prefix(store.count / 2)), as: "Store.sqlite")
            case .notCoreData: return try folder.write(FailureTests.plainDatabase, as: "Store.sqlite")
            }
        }
    }

    /// A database with one page and no table.
    private static let plainDatabase: [UInt8] = {
        var page = [UInt8](repeating: 0, count: 4_096)
        page.replaceSubrange(0..<16, with: Array("SQLite format 3\0".utf8))
        // Page size, versions, fractions, counters, pages, schema format, encoding; then an empty leaf of the schema.
        page.replaceSubrange(16..<24, with: [0x10, 0x00, 1, 1, 0, 64, 32, 32])
        (page[27], page[31], page[43], page[47], page[59], page[95]) = (1, 1, 1, 4, 1, 1)
        (page[100], page[105], page[106]) = (0x0D, 0x10, 0x00)
        return page
    }()

    /// Runs, and expects the code, a readable error, and every file as it was.
    private func expectFailure(
        _ status: Int32, _ arguments: [String], in folder: WorkFolder, _ place: SourceLocation = #_sourceLocation
    ) throws {
        let before = try folder.content()
        let run = try ToolProcess(arguments, in: folder.url)
        #expect(run.status == status, "\(arguments): \(run.errors)", sourceLocation: place)
        #expect(run.errors.lowercased().hasPrefix("error: "), sourceLocation: place)
        #expect(try folder.content() == before, sourceLocation: place)
        guard arguments.contains("--json"), status != 64 else { return }
        let line = try #require(run.output.split(separator: "\n").last, sourceLocation: place)
        let error = try JSONDecoder().decode(ErrorLine.self, from: Data(line.utf8))
        #expect(error.event == "error", sourceLocation: place)
        #expect(error.exitCode == status, sourceLocation: place)
        #expect(error.storeIsNew == false, sourceLocation: place)
    }

    @Test("a file that isn't a store is refused", arguments: Damage.allCases)
    func damage(_ damage: Damage) throws {
        for command in ["inspect", "plan", "migrate"] {
            for flags in [[], ["--json"]] as [[String]] {
                let folder = try WorkFolder()
                let store = try damage.make(in: folder)
                try expectFailure(
                    damage.status, [command, store, "--models", SharedStores.models] + flags, in: folder)
            }
        }
    }

    @Test("an unknown version is refused")
    func unknownVersion() throws {
        let folder = try WorkFolder()
        let store = try folder.copy(SharedStores.version1, as: "Store.sqlite")
        for command in ["plan", "migrate"] {
            try expectFailure(
                78, [command, store, "--models", SharedStores.models, "--to", "No such version", "--json"], in: folder)
        }
        try expectFailure(
            78, ["migrate", store, "--models", SharedStores.models, "--next", "Nowhere=Elsewhere"], in: folder)
    }

    @Test("missing models are reported")
    func missingModels() throws {
        let folder = try WorkFolder()
        let store = try folder.copy(SharedStores.version1, as: "Store.sqlite")
        for command in ["inspect", "plan", "migrate"] {
            try expectFailure(66, [command, store, "--models", folder.path("No.xcdatamodeld")], in: folder)
        }
        try expectFailure(66, ["models", folder.path("No.xcdatamodeld"), "--json"], in: folder)
    }

    @Test("no file is ever overwritten")
    func outputExists() throws {
        let folder = try WorkFolder()
        let store = try folder.copy(SharedStores.version1, as: "Store.sqlite")
        let taken = try folder.write([1, 2, 3], as: "Taken.sqlite")
        try expectFailure(
            73,
            [
                "migrate", store, "--models", SharedStores.models, "--to", "CoreDataMigration_Example 2", "--output",
                taken,
            ], in: folder)
        try expectFailure(
            73, ["generate", SharedStores.models, taken, "--rows", "10", "--seed", "1"], in: folder)
    }

    @Test("a step that can't be inferred is refused with its reasons, before a byte is written")
    func notInferable() throws {
        let folder = try WorkFolder()
        let store = try folder.copy(SharedStores.path("carekit/SampleStore2.0.sqlite"), as: "Store.sqlite")
        let before = try folder.content()
        let run = try ToolProcess(
            ["plan", store, "--models", SharedStores.path("carekit/CareKitStore.xcdatamodeld"), "--to", "nonsense"])
        #expect(run.status == 78)
        #expect(try folder.content() == before)
    }

    @Test(
        "invalid and contradictory options are refused",
        arguments: [
            ["--batch-size", "0"], ["--batch-size", "many"], ["--batch-bytes", "12X"], ["--batch-bytes", "1"],
            ["--batch-bytes", "99999999999G"], ["--jobs", "0"], ["--jobs", "-1"], ["--next", "A"], ["--next", "=B"],
            ["--next", "A=B", "--next", "A=C"], ["--framework-version", "0"], ["--quiet", "-v"], ["--frobnicate"],
            ["--restart", "--no-resume"], ["--checkpoint-interval", "-1"],
            ["--checkpoint-interval", "nan"], ["--checkpoint-interval", "86401"], ["--checkpoint-compression", "0"],
            ["--checkpoint-compression", "20"], ["--checkpoint-compression", "best"], ["--memory-limit", "little"],
            ["--verify", "some"], ["--bad-rows", "ignore"], ["--bad-rows", "quarantine"], ["--rejects", "rejects"],
            ["--swap-timeout", "-0.1"], ["--swap-timeout", "inf"], ["--swap-timeout", "soon"],
        ])
    func badFlags(flags: [String]) throws {
        let folder = try WorkFolder()
        let store = try folder.copy(SharedStores.version1, as: "Store.sqlite")
        try expectFailure(64, ["migrate", store, "--models", SharedStores.models] + flags, in: folder)
        let run = try ToolProcess(["migrate", store, "--models", SharedStores.models] + flags, in: folder.url)
        #expect(run.errors.contains("no store was touched; correct the command line, then run again\n"))
    }

    @Test("batches are made smaller for a memory limit, which is refused where the smallest don't fit")
    func memoryLimit() throws {
        let folder = try WorkFolder()
        let store = try folder.copy(SharedStores.version1, as: "Store.sqlite")
        let arguments = [
            "plan", store, "--models", SharedStores.models, "--to", "CoreDataMigration_Example 2", "--jobs", "8",
        ]
        for (limit, fewestBytes) in [("1G", 34 << 20), ("20M", 19 << 20), ("1M", 768 << 10), ("25K", 24_000)] {
            let run = try ToolProcess(arguments + ["--json", "--memory-limit", limit])
            #expect(run.status == 0, "\(run.errors)")
            let plan = try JSONDecoder().decode(MigrationPlan.self, from: Data(run.output.utf8))
            #expect(plan.memoryBytes <= byteSize(limit))
            #expect(plan.memoryBytes >= fewestBytes)
        }
        try expectFailure(64, arguments + ["--memory-limit", "20K"], in: folder)
    }

    private func byteSize(_ text: String) -> Int {
        (Int(text.dropLast()) ?? 0) << (text.hasSuffix("G") ? 30 : text.hasSuffix("M") ? 20 : 10)
    }

    @Test(
        "missing arguments are named",
        arguments: ["inspect", "models", "plan", "migrate", "generate", "status", "rollback", "purge-backup", "verify"])
    func missingArguments(command: String) throws {
        let folder = try WorkFolder()
        try expectFailure(64, [command], in: folder)
    }
}
