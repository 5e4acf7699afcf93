import Causeway
import CausewayEngine
import CausewayStores
import Foundation
import Testing

/// Policies on real rows, in cases that the example apps don't have: several mappings of one entity, lookups from
/// hooks, rows that are left out.
@Suite(.timeLimit(.minutes(60)), .enabled(if: SharedStores.isThere, "shared/stores is missing"))
struct MappingModelHookTests {
    private func posts(_ code: MigrationCode) -> PoliciesExample {
        PoliciesExample(
            name: "Colourful Posts 2 → 3", store: "colourful-posts/CoreDataMigration_Example_2.sqlite",
            models: "colourful-posts/CoreDataMigration_Example.xcdatamodeld", target: "CoreDataMigration_Example 3",
            code: code)
    }

    private static let v2 = "CoreDataMigration_Example 2"
    private static let v3 = "CoreDataMigration_Example 3"

    @Test("super, then the lookup of what it made, where several mappings make the same entity")
    func severalMappings() throws {
        var code = MigrationCode()
        code.add(
            SwiftMappingModel(from: Self.v2, to: Self.v3) {
                TransformEntity("Post", to: "Post", name: "Low", policy: Post2ToPost3MigrationPolicy.self) {
                    Filter("hexColor < '8'")
                }
                TransformEntity("Post", to: "Post", name: "High", policy: Post2ToPost3MigrationPolicy.self) {
                    Filter("NOT hexColor < '8'")
                }
            })
        let folder = try TemporaryFolder()
        let whole = try MappingModelPostsTests.colourful.migrate(in: folder, as: "whole")
        let result = try posts(code).migrate(in: folder)
        let posts = "SELECT Z_PK || quote(ZDATE) || ZHEXCOLOR || ZPOSTID FROM ZPOST ORDER BY Z_PK"
        #expect(try StoreRows.texts(result, posts) == StoreRows.texts(whole, posts))
        let sections = "SELECT ZPOST || ZTITLE || ZBODY FROM ZSECTION ORDER BY ZPOST"
        #expect(try StoreRows.texts(result, sections) == StoreRows.texts(whole, sections))
    }

    /// Makes nothing of posts with a low color.
    final class DroppingPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            guard let color = try sInstance.string("hexColor"), color >= "8" else { return }
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        }
    }

    @Test(
        "rows that a policy leaves out are gone, and the others keep their keys", arguments: PoliciesExample.Work.every)
    func dropping(_ work: PoliciesExample.Work) throws {
        var code = MigrationCode()
        code.register(DroppingPolicy.self, as: "Post2ToPost3MigrationPolicy")
        let folder = try TemporaryFolder()
        let result = try posts(code).migrate(work, in: folder)
        let source = try folder.copyStore(StoreRows.shared(posts(code).store), as: "copy")
        let kept = try StoreRows.texts(result, "SELECT Z_PK || ZPOSTID FROM ZPOST ORDER BY 1")
        #expect(kept.count > 0 && kept.count < 10)
        #expect(
            try kept == StoreRows.texts(source, "SELECT Z_PK || ZPOSTID FROM ZPOST WHERE ZHEXCOLOR >= '8' ORDER BY 1"))
        #expect(try StoreRows.texts(result, "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Post'") == ["10"])
    }

    /// Records its hooks in the order in which they are called.
    final class HookPolicy: EntityMigrationPolicy {
        private var rows = 0
        private var relations = 0
        private var last: ManagedObject?

        private func note(_ hook: String, _ mapping: EntityMapping, _ manager: MigrationManager) {
            let log = manager.userInfo["log"] as? [String] ?? []
            manager.userInfo["log"] = log + ["\(hook) \(mapping.name)"]
        }

        override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
            note("begin", mapping, manager)
        }

        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            rows += 1
            last = sInstance
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        }

        override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
            // Its batch has been released: the row is read again.
            guard try last?.string("postID")?.count == 36 else { throw PolicyError.nothingMade(mapping.name) }
            note("endInstanceCreation after \(rows)", mapping, manager)
        }

        override func createRelationships(
            forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            relations += 1
            let sources = try manager.sourceInstances(
                forEntityMappingName: mapping.name, destinationInstances: [dInstance])
            guard sources.count == 1, try sources[0].string("postID") == dInstance.string("postID") else {
                throw PolicyError.nothingMade(dInstance.uri)
            }
        }

        override func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
            note("endRelationshipCreation after \(relations)", mapping, manager)
        }

        override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
            let count = try manager.destinationContext.count(FetchRequest("Post"))
            note("performCustomValidation of \(count)", mapping, manager)
        }

        override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
            note("end", mapping, manager)
            guard mapping.name == "High" else { return }
            throw LogError(log: manager.userInfo["log"] as? [String] ?? [])
        }
    }

    struct LogError: Error, CustomStringConvertible {
        let log: [String]
        var description: String { log.joined(separator: "\n") }
    }

    @Test("the seven hooks are called stage by stage over all mappings", arguments: PoliciesExample.Work.every)
    func order(_ work: PoliciesExample.Work) throws {
        var code = MigrationCode()
        code.add(
            SwiftMappingModel(from: Self.v2, to: Self.v3) {
                TransformEntity("Post", to: "Post", name: "Low", policy: HookPolicy.self) { Filter("hexColor < '8'") }
                TransformEntity("Post", to: "Post", name: "High", policy: HookPolicy.self) {
                    Filter("NOT hexColor < '8'")
                }
            })
        let folder = try TemporaryFolder()
        let source = try folder.copyStore(StoreRows.shared(posts(code).store), as: "copy")
        let low = try StoreRows.texts(source, "SELECT count(*) FROM ZPOST WHERE ZHEXCOLOR < '8'")[0]
        let high = try StoreRows.texts(source, "SELECT count(*) FROM ZPOST WHERE NOT ZHEXCOLOR < '8'")[0]
        let error = #expect(throws: EngineError.self) { try posts(code).migrate(work, in: folder) }
        let text = error.map { "\($0)" } ?? ""
        let log = [
            "begin Low", "endInstanceCreation after \(low) Low", "begin High", "endInstanceCreation after \(high) High",
            "endRelationshipCreation after \(low) Low", "endRelationshipCreation after \(high) High",
            "performCustomValidation of 10 Low", "end Low", "performCustomValidation of 10 High", "end High",
        ]
        #expect(text.contains(log.joined(separator: "\n")), "\(text)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("result")), "a failed run leaves no output")
    }

    /// Fails at one row.
    final class FailingPolicy: EntityMigrationPolicy {
        override class var isIndependent: Bool { true }

        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            guard sInstance.objectID.key != 4 else { throw PolicyError.nothingMade("of the fourth") }
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        }
    }

    @Test("an error from a policy names the row, whichever worker it was on", arguments: PoliciesExample.Work.every)
    func failure(_ work: PoliciesExample.Work) throws {
        var code = MigrationCode()
        code.register(FailingPolicy.self, as: "Post2ToPost3MigrationPolicy")
        let folder = try TemporaryFolder()
        let error = #expect(throws: EngineError.self) { try posts(code).migrate(work, in: folder) }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("/Post/p4"), "\(text)")
        #expect(text.contains("of the fourth"), "\(text)")
    }
}
