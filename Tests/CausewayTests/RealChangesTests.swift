import Causeway
import Foundation
import Testing

/// What plans and models say about real histories.
@Suite(
    "Changes of real histories", .timeLimit(.minutes(60)),
    .enabled(if: SharedStores.isThere, "shared/stores is missing"))
struct RealChangesTests {
    private static let bundles = Set(WholeHistoryTests.journeys.map(\.bundle)).sorted()

    /// What the hash of an entity covers.
    private static let hashed: Set<ModelChange.Kind> = [
        .added, .dropped, .renamed, .converted, .mandatory, .optional, .cardinality, .destination,
    ]

    @Test("every step of every history that can be inferred lists changes, and none of an entity that is the same")
    func models() throws {
        var all = 0
        for bundle in Self.bundles {
            let report = try ModelsReport(models: SharedStores.path(bundle))
            let hashes = Dictionary(report.versions.map { ($0.name, $0.entityHashes) }, uniquingKeysWith: { $1 })
            for step in report.steps where step.isInferable {
                let (before, after) = (hashes[step.from] ?? [:], hashes[step.to] ?? [:])
                for change in step.changes where Self.hashed.contains(change.kind) && change.property != nil {
                    #expect(
                        before[change.entity] == nil || before[change.entity] != after[change.entity],
                        "\(bundle) \(step.to): \(change.entity).\(change.property ?? "") \(change.words)")
                }
                all += step.changes.count
                let known = Set(step.changes.map(\.entity))
                #expect(known.isSuperset(of: step.addedEntities + step.removedEntities))
                #expect(step.changes.count { $0.kind == .converted } >= step.conversions.count)
            }
        }
        #expect(all > 300, "\(all)")
    }

    /// Stores that Core Data wrote, with the models of their apps.
    private static let stores = [
        (
            "colourful-posts/CoreDataMigration_Example_1.sqlite",
            "colourful-posts/CoreDataMigration_Example.xcdatamodeld"
        ),
        ("coredataplus/SampleModel_V1.sqlite", "coredataplus/SampleModel.xcdatamodeld"),
        ("wire/store2-57-0.wiredatabase", "wire/zmessaging.xcdatamodeld"),
    ]

    @Test("a plan of a real store lists what its models list, and counts what is dropped", arguments: stores)
    func plan(store: String, models: String) throws {
        let folder = try TemporaryFolder()
        let source = try folder.copyStore(SharedStores.path(store), as: "source.sqlite")
        let path = SharedStores.path(models)
        let inspection = try StoreInspection(store: source, models: path)
        let report = try ModelsReport(models: path)
        let start = try #require(report.steps.firstIndex { inspection.versions.contains($0.from) })
        // As far as mappings are inferred: mapping models beside the models come first.
        let mapped = try ModelsReport(models: path, mappingModels: []).mappings?.flatMap(\.fits) ?? []
        let steps = report.steps[start...].prefix { step in
            step.isInferable && !mapped.contains { $0.from == step.from && $0.to == step.to }
        }
        let target = try #require(steps.last?.to)
        var options = MigrationOptions()
        options.target = target
        options.badRows = .quarantine
        options.rejects = folder.path("rejects")
        let plan = try Migrator(store: source, models: path, options: options).plan()
        var uncounted = plan.steps.flatMap(\.changes)
        #expect(uncounted.allSatisfy { ($0.count == nil) == ($0.unit == nil) })
        let rows = inspection.rowCount
        #expect(uncounted.allSatisfy { ($0.unit != "values" && $0.unit != "rows") || ($0.count ?? 0) <= rows })
        for index in uncounted.indices { (uncounted[index].count, uncounted[index].unit) = (nil, nil) }
        #expect(uncounted == steps.flatMap(\.changes))
        #expect(plan.steps.flatMap(\.losses).allSatisfy { $0.contains(" → ") })
    }
}
