import BookStoreMigrator
import Causeway
import CausewayGenerator
import CausewaySQLite
import ColourfulPostsMigrator
import Foundation
import StaffMigrator
import Testing
import TracksMigrator

/// Every statement of a plan, a migration, a verification and an inspection takes time that is linear in the rows,
/// except sorting: no scan inside a correlated subquery, no join without an index.
@Suite("Linear statements", .timeLimit(.minutes(60)))
struct LinearStatementTests {
    /// A model history of Fixtures or of shared/stores.
    struct History: CustomTestStringConvertible, Sendable {
        let name: String
        let models: String
        /// Where the rows come from: a version to generate, or a store to copy.
        var version: String?
        var store: String?
        var target: String?
        var fill: String?
        var mappings: [String] = []
        var frameworkVersion = StoreGeneration.defaultFrameworkVersion
        var code: @Sendable () throws -> MigrationCode = { MigrationCode() }

        var testDescription: String { name }

        /// Whether steps are fused, and how the result is verified; one entry for each migration that is tried.
        var ways: [(fuses: Bool, verification: MigrationOptions.Verification)] {
            store == nil ? [(true, .full), (false, .quick)] : [(true, .quick)]
        }
    }

    private static let fixtures = SharedStores.project.appending(path: "Fixtures")

    private static func fixture(
        _ name: String, from version: String = "v1", fill: String? = nil,
        code: @escaping @Sendable () throws -> MigrationCode = { MigrationCode() }
    ) -> History {
        History(
            name: "\(name) \(version)", models: fixtures.appending(path: "\(name)/\(name).xcdatamodeld").path(),
            version: version, fill: fill, code: code)
    }

    static let examples = [
        fixture("ColourfulPosts") { ColourfulPostsMigrator.code },
        fixture("BookStore") { BookStoreMigrator.code },
        fixture("BookStore", from: "v3") { BookStoreMigrator.code },
        fixture("Tracks", fill: #"UPDATE ZTRACK SET ZARTISTSJSON = '[{"id":' || (Z_PK % 7) || ',"name":"a"}]'"#) {
            try TracksMigrator.code
        },
        fixture("Staff") { StaffMigrator.code },
        fixture("Kennel"), fixture("Ledger"), fixture("Jumps"), fixture("Jumps", from: "v3"), fixture("Detour"),
        fixture("Orchard"),
        fixture("Orchard", from: "v2"),
    ]

    /// Plans, migrates each way, then inspects the old store and the new one.
    func examine(_ history: History, in folder: borrowing TemporaryFolder) async throws {
        let source = folder.path("source.sqlite")
        if let version = history.version {
            var generation = StoreGeneration(model: history.models, output: source, rows: 60, seed: 1)
            generation.version = version
            generation.frameworkVersion = history.frameworkVersion
            try generation.run()
            if let fill = history.fill {
                try Connection(path: source, mode: .readWrite, hardening: .own).execute(fill)
            }
        } else if let store = history.store {
            _ = try folder.copyStore(SharedStores.path(store), as: "source.sqlite")
        }
        // Reading many models takes seconds each time. A store has its own model in its cache.
        let models = history.store == nil ? history.models : nil
        _ = try StoreInspection(store: source, models: models)
        _ = try StoreVerification(store: source, models: models)
        for (fuses, verification) in history.ways {
            var options = MigrationOptions()
            options.output = folder.path("result-\(fuses).sqlite")
            options.target = history.target
            options.mappingModels = history.mappings
            options.fusesSteps = fuses
            options.verification = verification
            options.badRows = .quarantine
            options.onViolation = .reject
            options.rejects = folder.path("rejects-\(fuses).jsonl")
            let migrator = Migrator(
                store: source, models: history.models, options: options, code: try history.code())
            _ = try migrator.plan()
            try await migrator.migrate()
        }
        _ = try StoreVerification(store: folder.path("result-true.sqlite"), models: models)
        guard history.store == nil else { return }
        // In place too, for the statements of the swap.
        var options = MigrationOptions()
        options.target = history.target
        options.mappingModels = history.mappings
        options.verification = .none
        try await Migrator(store: source, models: history.models, options: options, code: try history.code()).migrate()
    }

    private func expectLinear(_ history: History) async throws {
        let folder = try TemporaryFolder()
        let judgement = try await StatementPlans.judging(folder.url) { try await examine(history, in: folder) }
        #expect(judgement.explained > 50)
        #expect(judgement.faults.isEmpty)
    }

    @Test("of every example", arguments: examples)
    func example(_ history: History) async throws {
        try await expectLinear(history)
    }

    /// The stores of every real history, with the code that its app has; CATALOG.md names their origin. Wire's stores
    /// are one store at many versions; only two are here, because reading 90 models takes seconds.
    static let real: [History] = {
        var result = [WireChainTests.early, WireChainTests.late].compactMap { stores -> History? in
            guard let first = stores.first, let last = stores.last else { return nil }
            return History(
                name: "Wire \(first.name)", models: WireChainTests.models,
                store: "wire/store\(first.name).wiredatabase", target: last.version)
        }
        func add(_ example: PoliciesExample) {
            result.append(
                History(
                    name: example.name, models: SharedStores.path(example.models), store: example.store,
                    target: example.target, mappings: example.mappings.map { SharedStores.path($0) },
                    code: { example.code }))
        }
        let posts = "CoreDataMigration_Example"
        result.append(
            History(
                name: "Colourful Posts 1", models: SharedStores.path("colourful-posts/\(posts).xcdatamodeld"),
                store: "colourful-posts/\(posts)_1.sqlite", target: "\(posts) 2"))
        add(MappingModelPostsTests.colourful)
        for version in [1, 5] { add(MappingModelMoodyTests.Step(from: version, to: 6).example) }
        add(MappingModelCarsTests.edited)
        add(MappingModelCareKitTests.example)
        result.append(
            History(
                name: "students", models: SharedStores.path("students/TestModel.xcdatamodeld"),
                store: "students/OldStudentsStore.sqlite", target: "Model4",
                code: {
                    var code = MigrationCode()
                    code.stages = try StagedMigrationTests.studentStages()
                    return code
                }))
        result.append(
            History(
                name: "Photos 10.15.4", models: SharedStores.path("photos/Photos-10.16.0.sqlite"),
                store: "photos/Photos-10.15.4.sqlite"))
        return result
    }()

    @Test("of every real store", .enabled(if: SharedStores.isThere, "shared/stores is missing"), arguments: real)
    func realStore(_ history: History) async throws {
        try await expectLinear(history)
    }

    // MARK: - Judging query plans

    @Test("a scan inside a loop is found, whichever form the loop has; what runs once isn't a fault")
    func judgement() {
        func faults(_ details: (Int64, Int64, String)...) -> [String] {
            QueryPlan(details.map { (id: $0.0, parent: $0.1, detail: $0.2) }).faults
        }
        #expect(faults((1, 0, "SCAN t")).isEmpty)
        #expect(faults((1, 0, "SCAN t"), (2, 0, "SEARCH o USING INTEGER PRIMARY KEY (rowid=?)")).isEmpty)
        #expect(faults((1, 0, "SCAN t"), (2, 0, "SCAN o")).count == 1)
        #expect(faults((1, 0, "SCAN t"), (2, 0, "CORRELATED SCALAR SUBQUERY 1"), (3, 2, "SCAN o")).count == 1)
        #expect(
            faults(
                (1, 0, "SCAN t"), (2, 0, "CORRELATED SCALAR SUBQUERY 1"),
                (3, 2, "SEARCH o USING COVERING INDEX i (ZKEY=?)")
            ).isEmpty)
        #expect(
            faults(
                (1, 0, "SCAN t"), (2, 0, "CORRELATED SCALAR SUBQUERY 1"),
                (3, 2, "SEARCH o USING INDEX ZO_Z_ENT_INDEX (Z_ENT=?)")
            ).count == 1)
        #expect(
            faults((1, 0, "SCAN t"), (2, 0, "SEARCH o USING AUTOMATIC COVERING INDEX (ZKEY=?)")).count == 1)
        #expect(faults((1, 0, "SCAN t"), (2, 0, "SCALAR SUBQUERY 1"), (3, 2, "SCAN o")).isEmpty)
        #expect(faults((1, 0, "SCAN t"), (2, 0, "SEARCH o USING INTEGER PRIMARY KEY (rowid>?)")).count == 1)
    }
}
