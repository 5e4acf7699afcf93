import Causeway
import Foundation
import Testing

/// Mapping models on the command line; `SNAP_UPDATE=1` rewrites the golden texts.
@Suite("Commands with mapping models", .timeLimit(.minutes(60)))
struct MappingCommandTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let snapshots = root.appendingPathComponent("Tests/CausewayToolTests/Snapshots")

    /// Runs in the package's folder, so that paths are the same everywhere.
    private static func run(_ arguments: [String]) throws -> ToolProcess { try ToolProcess(arguments, in: root) }

    @Test(
        "models --mappings shows every mapping model and the step that it fits",
        arguments: ["Staff", "Jumps", "ColourfulPosts", "Kennel", "Ledger"])
    func listing(history: String) throws {
        let run = try Self.run(["models", "Fixtures/\(history)/\(history).xcdatamodeld", "--mappings"])
        #expect(run.status == 0, "\(run.errors)")
        let file = Self.snapshots.appendingPathComponent("mappings-\(history).txt")
        if ProcessInfo.processInfo.environment["SNAP_UPDATE"] == "1" { try Data(run.output.utf8).write(to: file) }
        #expect(run.output == String(decoding: try Data(contentsOf: file), as: UTF8.self))
        // Default expressions are printed too.
        #expect(!run.output.contains("default)"))
    }

    @Test("models --mappings as JSON says what a mapping model fits, or why it fits nothing")
    func json() throws {
        let run = try Self.run([
            "models", "Fixtures/Staff/Staff.xcdatamodeld", "--mappings", "--mapping",
            "Fixtures/BookStore/v3-v4.xcmappingmodel", "--json",
        ])
        #expect(run.status == 0, "\(run.errors)")
        let report = try JSONDecoder().decode(ModelsReport.self, from: Data(run.output.utf8))
        let mappings = try #require(report.mappings)
        #expect(mappings.map(\.name) == ["v3-v4", "v1-v2"])
        #expect(mappings.map(\.origin) == [.given, .found])
        #expect(mappings[0].fits.isEmpty)
        #expect(mappings[0].nearest == "v1 → v2")
        #expect(mappings[0].differences.contains { $0.contains("Publication") })
        #expect(mappings[1].fits.map { [$0.from, $0.to] } == [["v1", "v2"]])
        #expect(mappings[1].differences.isEmpty)
        #expect(mappings[1].lines.contains("    policy: ContactPolicy"))
    }

    @Test("a mapping model given in place of models is shown by itself")
    func alone() throws {
        let path = "Fixtures/Staff/v1-v2.xcmappingmodel"
        let text = try Self.run(["models", path])
        #expect(text.status == 0, "\(text.errors)")
        #expect(text.output.hasPrefix("v1-v2: 1 entity mapping\n"))
        let json = try Self.run(["models", path + "/", "--json"])
        let report = try JSONDecoder().decode(MappingModelReport.self, from: Data(json.output.utf8))
        #expect(report.sourceVersion == "v1")
        #expect(report.destinationVersion == "v2")
        #expect(report.policies == ["ContactPolicy"])
        #expect(try Self.run(["models", "Fixtures/Staff/missing.cdm"]).status == 66)
    }

    @Test(
        "invalid and contradictory options are refused",
        arguments: [
            ["plan", "store", "--models", "models", "--on-violation", "reject"],
            ["plan", "store", "--models", "models", "--rejects", "file"],
            ["plan", "store", "--models", "models", "--on-violation", "default", "--rejects", "file"],
            ["migrate", "store", "--models", "models", "--on-violation", "ignore"],
            ["models", "models", "--mapping", "file"],
        ])
    func flags(arguments: [String]) throws {
        #expect(try Self.run(arguments).status == 64)
    }

    @Test("a named mapping model that is missing stops a plan and a migration", arguments: ["plan", "migrate"])
    func missing(command: String) throws {
        let folder = try WorkFolder()
        let store = folder.path("Store.sqlite")
        let models = "Fixtures/Staff/Staff.xcdatamodeld"
        let made = try Self.run(["generate", models, store, "--version", "v1", "--rows", "20", "--seed", "1"])
        #expect(made.status == 0, "\(made.errors)")
        let before = try folder.content()
        let run = try Self.run([command, store, "--models", models, "--mapping", folder.path("missing.cdm")])
        #expect(run.status == 66, "\(run.errors)")
        #expect(run.errors.contains("missing.cdm"))
        #expect(try folder.content() == before)
    }

    @Test("a policy that isn't registered stops a plan and a migration", arguments: ["plan", "migrate"])
    func unregistered(command: String) throws {
        let folder = try WorkFolder()
        let store = folder.path("Store.sqlite")
        let models = "Fixtures/Staff/Staff.xcdatamodeld"
        _ = try Self.run(["generate", models, store, "--version", "v1", "--rows", "20", "--seed", "1"])
        let before = try folder.content()
        let run = try Self.run([command, store, "--models", models])
        #expect(run.status == 78, "\(run.errors)")
        #expect(run.errors.contains("ContactPolicy"))
        #expect(run.errors.contains("isn't registered"))
        #expect(try folder.content() == before)
    }

    @Test("a plan shows entity mappings with their properties, and which keys are kept")
    func plan() throws {
        let folder = try WorkFolder()
        let store = folder.path("Store.sqlite")
        let models = "Fixtures/Jumps/Jumps.xcdatamodeld"
        let made = try Self.run(["generate", models, store, "--version", "v3", "--rows", "20", "--seed", "1"])
        #expect(made.status == 0, "\(made.errors)")
        let text = try Self.run(["plan", store, "--models", models, "--to", "v4"])
        #expect(text.status == 0, "\(text.errors)")
        #expect(text.output.contains("  Mapping TripToTrip of v3-v4: Trip → Trip\n    keys: kept\n"))
        #expect(text.output.contains("    start ← CAST($source.start, \"NSDate\")\n"))
        let json = try Self.run(["plan", store, "--models", models, "--to", "v4", "--json"])
        let plan = try JSONDecoder().decode(MigrationPlan.self, from: Data(json.output.utf8))
        let passes = plan.steps.flatMap(\.passes)
        let trip = try #require(passes.first { $0.mapping?.name == "TripToTrip" })
        #expect(trip.method == "transform")
        #expect(trip.mapping?.keys == .kept)
        #expect(trip.mapping?.policy == nil)
        #expect(trip.statement.contains("ZTRIP"))
        #expect(passes.first { $0.mapping?.name == "Stop" }?.method == "add")
    }
}
