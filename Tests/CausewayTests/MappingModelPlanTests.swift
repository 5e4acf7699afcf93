import Causeway
import CausewayCheckers
import CausewayGenerator
import CausewayEngine
import CausewayPreparation
import Foundation
import Testing

/// Every mapping model in shared/stores, between the two versions that it is for.
@Suite(.timeLimit(.minutes(60)), .enabled(if: SharedStores.isThere, "shared/stores is missing"))
struct MappingModelPlanTests {
    struct Model: CustomTestStringConvertible, Sendable {
        let path: String
        let models: String
        /// A store of the version before; nil if one is generated.
        var store: String?
        let from: String
        let to: String
        var policies: [String] = []
        var testDescription: String { path }
    }

    /// Does what the mapping model says.
    final class StubPolicy: EntityMigrationPolicy {}

    static let all =
        [
            Model(
                path: "carekit/2.0_2.1_Mapping.xcmappingmodel", models: "carekit/SampleStore2.1.sqlite",
                store: "carekit/SampleStore2.0.sqlite", from: "", to: "", policies: ["OCKStoreMigration2_0To2_1Policy"]),
            Model(
                path: "carekit/2.0_3.0_Mapping.xcmappingmodel", models: "carekit/CareKitStore.xcdatamodeld",
                store: "carekit/SampleStore2.0.sqlite", from: "", to: "CareKitStore3.0",
                policies: ["OCKStoreMigration2_0To3_0Policy"]),
            Model(
                path: "carekit/2.1_3.0_Mapping.xcmappingmodel", models: "carekit/CareKitStore.xcdatamodeld",
                store: "carekit/SampleStore2.1.sqlite", from: "", to: "CareKitStore3.0"),
            Model(
                path: "colourful-posts/Migration2to3ModelMapping.xcmappingmodel",
                models: "colourful-posts/CoreDataMigration_Example.xcdatamodeld", from: "CoreDataMigration_Example 2",
                to: "CoreDataMigration_Example 3", policies: ["Post2ToPost3MigrationPolicy"]),
            Model(
                path: "coredataplus/V2toV3.cdm", models: "coredataplus/SampleModel.momd", from: "SampleModel2",
                to: "SampleModel3", policies: ["V2to3MakerPolicy"]),
            Model(
                path: "coredataplus/V2toV3.xcmappingmodel", models: "coredataplus/SampleModel.xcdatamodeld",
                from: "SampleModel2", to: "SampleModel3", policies: ["V2to3MakerPolicy"]),
            Model(
                path: "ehpanda/Model5toModel6.xcmappingmodel", models: "ehpanda/Model.xcdatamodeld", from: "Model 5",
                to: "Model 6",
                policies: [
                    "GalleryDetailMO5toGalleryDetailMO6MigrationPolicy", "GalleryMO5toGalleryMO6MigrationPolicy",
                    "GalleryStateMO5toGalleryStateMO6MigrationPolicy",
                ]),
            Model(
                path: "loopkit/Modelv1v4.xcmappingmodel", models: "loopkit/Model.xcdatamodeld", from: "Model",
                to: "Modelv4",
                policies: ["CachedCarbObjectv3EntityMigrationPolicy", "DeletedCarbObjectv3EntityMigrationPolicy"]),
            Model(
                path: "posts-and-colors/Migration1to2.xcmappingmodel",
                models: "posts-and-colors/CoreDataMigration_Example.xcdatamodeld", from: "CoreDataMigration_Example",
                to: "CoreDataMigration_Example 2"),
            Model(
                path: "posts-and-colors/Migration2to3.xcmappingmodel",
                models: "posts-and-colors/CoreDataMigration_Example.xcdatamodeld", from: "CoreDataMigration_Example 2",
                to: "CoreDataMigration_Example 3", policies: ["Post2ToPost3MigrationPolicy"]),
        ]
        + [2, 3, 4, 5].map {
            Model(
                path: "moody/Moody \($0)-Moody \($0 + 1).xcmappingmodel", models: "moody/Moody.xcdatamodeld",
                from: "Moody \($0)", to: "Moody \($0 + 1)", policies: ["Country5ToCountry6Policy"])
        } + openEmu

    private static let openEmu = [
        ("1.0 Beta to 0.2", "OEDatabase", "OEDatabase 0.2"), ("0.2 to 0.3", "OEDatabase 0.2", "OEDatabase 0.3"),
        ("1.0 Beta 4 to 1.0", "OEDatabase 0.5", "OEDatabase 1.0"), ("1.1 to 1.2", "OEDatabase 1.1", "OEDatabase 1.2"),
        ("1.2 to 1.3", "OEDatabase 1.2", "OEDatabase 1.3"),
    ].map { name, from, to in
        Model(
            path: "openemu/\(name).xcmappingmodel", models: "openemu/OEDatabase.xcdatamodeld", from: from, to: to,
            policies: ["OEDBRomMigrationPolicy", "OEDBSaveStateMigrationPolicy", "OEDBImageMigrationPolicy"])
    }

    private func request(_ model: Model, in folder: borrowing TemporaryFolder) throws -> MigrationRequest {
        let store: String
        if let path = model.store {
            store = try folder.copyStore(StoreRows.shared(path), as: "source")
        } else {
            store = folder.path("source")
            var generation = StoreGeneration(
                model: StoreRows.shared(model.models), output: store, rows: 400, seed: 1)
            generation.version = model.from
            try generation.run()
        }
        var code = MigrationCode()
        for policy in model.policies { code.register(StubPolicy.self, as: policy) }
        var request = MigrationRequest(
            store: store, models: StoreRows.shared(model.models), output: folder.path("result"),
            target: model.to.isEmpty ? nil : model.to, options: EngineOptions(jobs: 2))
        request.edges = model.from.isEmpty ? [:] : [model.from: model.to]
        request.mappings = [StoreRows.shared(model.path)]
        request.code = code
        request.violations = .reject
        return request
    }

    @Test(
        "a mapping model is used for the step that it is for, and every expression fits both versions", arguments: all)
    func plan(_ model: Model) throws {
        let folder = try TemporaryFolder()
        let prepared = try Migration(request(model, in: folder)).prepare()
        #expect(prepared.steps.count == 1)
        // An inferred step has no such rows.
        #expect(!prepared.objectRows.isEmpty)
    }

    @Test("no mapping model in shared/stores is left out")
    func complete() throws {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: SharedStores.folder.path())
            .filter { $0.hasSuffix(".xcmappingmodel") || $0.hasSuffix(".cdm") }
        #expect(Set(paths) == Set(Self.all.map(\.path)))
    }

    @Test("rows of every version go through its mapping model", arguments: all)
    func run(_ model: Model) throws {
        let folder = try TemporaryFolder()
        var request = try request(model, in: folder)
        request.rejects = folder.path("rejects")
        let outcome = try Migration(request).run()
        #expect(outcome.createdRows > 0)
        let hashes = try Checker.hashes(folder.path("result"))
        #expect(hashes.status == 0, "\(hashes.text)")
    }
}
