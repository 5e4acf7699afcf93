import Causeway
import CausewayCheckers
import CausewayGenerator
import CausewayEngine
import CausewayPreparation
import Foundation
import Testing

/// Every history in shared/stores, from a generated store of its oldest version to its newest one.
@Suite(.timeLimit(.minutes(60)), .enabled(if: SharedStores.isThere, "shared/stores is missing"))
struct WholeHistoryTests {
    struct Journey: CustomTestStringConvertible, Sendable {
        /// Path of the bundle below shared/stores.
        let bundle: String
        let from: String
        let to: String
        var testDescription: String { "\(bundle): \(from) → \(to)" }
    }

    /// Does what the mapping model says. It stands in for policies whose code only their app has.
    final class DefaultPolicy: EntityMigrationPolicy {}

    /// LoopKit's own policies set what is mandatory in the new version.
    final class CarbPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            let made = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance])
            for carb in made {
                try carb.setValue(.boolean(false), forKey: "createdByCurrentApp")
            }
        }
    }

    static func code(for bundle: String) -> MigrationCode {
        var code = MigrationCode()
        for policy in [
            "GalleryDetailMO5toGalleryDetailMO6MigrationPolicy", "GalleryMO5toGalleryMO6MigrationPolicy",
            "GalleryStateMO5toGalleryStateMO6MigrationPolicy", "OEDBRomMigrationPolicy",
            "OEDBSaveStateMigrationPolicy", "OEDBImageMigrationPolicy",
        ] {
            code.register(DefaultPolicy.self, as: policy)
        }
        for policy in ["CachedCarbObjectv3EntityMigrationPolicy", "DeletedCarbObjectv3EntityMigrationPolicy"] {
            code.register(CarbPolicy.self, as: policy)
        }
        let posts =
            bundle.hasPrefix("colourful")
            ? Post2ToPost3MigrationPolicy.self : PostToColorPolicy.self as EntityMigrationPolicy.Type
        code.register(posts, as: "Post2ToPost3MigrationPolicy")
        code.register(Country5ToCountry6Policy.self)
        code.register(V2to3MakerPolicy.self)
        return code
    }

    /// The oldest version of each history; of the long one also the version before the step with a changed type.
    static let journeys: [Journey] = {
        guard SharedStores.isThere else { return [] }
        let folder = SharedStores.folder.path(percentEncoded: false)
        let bundles = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        return bundles.filter { $0.hasSuffix(".xcdatamodeld") || $0.hasSuffix(".momd") }.sorted().flatMap { bundle in
            guard let history = try? ModelHistory(reading: SharedStores.path(bundle), edges: [:]),
                let oldest = history.versions.first?.name, oldest != history.versions.last?.name,
                let newest = history.versions.last?.name
            else { return [Journey]() }
            let middle = history.versions.map(\.name).filter { $0 == "zmessaging2.53.0" }
            return ([oldest] + middle).map { Journey(bundle: bundle, from: $0, to: newest) }
        }
    }()

    @Test("every history of more than one version is here")
    func complete() {
        #expect(Set(Self.journeys.map(\.bundle)).count >= 11)
        #expect(Self.journeys.contains { $0.from == "zmessaging2.53.0" })
    }

    @Test("a generated store of the oldest version becomes one of the newest", arguments: journeys)
    func migrate(_ journey: Journey) throws {
        let folder = try TemporaryFolder()
        let models = SharedStores.path(journey.bundle)
        var generation = StoreGeneration(model: models, output: folder.path("source"), rows: 1_000, seed: 7)
        generation.version = journey.from
        try generation.run()
        var request = MigrationRequest(
            store: folder.path("source"), models: models, output: folder.path("result"), target: journey.to,
            options: EngineOptions(jobs: 2))
        request.code = Self.code(for: journey.bundle)
        let outcome = try Migration(request).run()
        #expect(outcome.rows + outcome.createdRows > 0)
        let schema = try Checker.schema(folder.path("result"))
        #expect(schema.status == 0, "\(schema.text)")
        let hashes = try Checker.hashes(folder.path("result"))
        #expect(hashes.status == 0, "\(hashes.text)")
    }
}
