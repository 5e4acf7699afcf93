import Causeway
import CausewayEngine
import CausewayStores
import Foundation
import Testing

/// Stores whose keys and places are at the limits of 64-bit integers: an error that says what is wrong, never a trap.
@Suite(.timeLimit(.minutes(60)))
struct ObjectHostileTests {
    final class CopyingPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            try manager.destinationContext.insert(sInstance.entityName).set("name", to: "copy")
        }
    }

    /// Adds links after the last place.
    final class AppendingPolicy: EntityMigrationPolicy {
        override func createRelationships(
            forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let sources = try manager.sourceInstances(
                forEntityMappingName: mapping.name, destinationInstances: [dInstance])
            for album in try sources.flatMap({ try $0.objects("albums") }) {
                for made in try manager.destinationInstances(
                    forSourceRelationshipNamed: "albums", sourceInstances: [album])
                { try dInstance.add(made, to: "albums") }
            }
        }
    }

    enum Way: String, CaseIterable {
        case plain, filtered, split, policy, appending, stage

        /// Whether the rows that are made need new keys.
        var needsKeys: Bool { [.split, .policy, .stage].contains(self) }

        func code() throws -> MigrationCode {
            switch self {
            case .plain: return Shelf.code([]) {}
            case .filtered:
                return Shelf.code(["Artist", "Album", "Node"]) {
                    for entity in ["Artist", "Album", "Node"] {
                        let attribute = entity == "Artist" ? "name" : "title"
                        TransformEntity(entity, name: "\(entity) low") { Filter("\(attribute) < 'a2'") }
                        TransformEntity(entity, name: "\(entity) high") { Filter("NOT (\(attribute) < 'a2')") }
                    }
                }
            case .split:
                return Shelf.code(["Artist", "Album", "Node"]) {
                    for entity in ["Artist", "Album", "Node"] {
                        TransformEntity(entity, name: "\(entity) 1")
                        TransformEntity(entity, name: "\(entity) 2")
                    }
                }
            case .policy:
                return Shelf.code(["Artist"]) { TransformEntity("Artist", policy: CopyingPolicy.self) }
            case .appending:
                return Shelf.code(["Artist", "Band", "Album"]) {
                    TransformEntity("Artist", policy: AppendingPolicy.self)
                    TransformEntity("Band", policy: AppendingPolicy.self)
                    TransformEntity("Album") { Leave("artist") }
                }
            case .stage:
                var code = MigrationCode()
                code.stages = try StagedMigration([
                    CustomMigrationStage(
                        migratingFrom: "v1", to: "v2", willMigrate: Self.touch, didMigrate: Self.touch)
                ])
                return code
            }
        }

        private static let touch: CustomMigrationStage.Handler = { manager, _ in
            let context = manager.context
            try context.forEach(FetchRequest("Node")) { node in
                let children = try node.objects("children")
                try node.set("title", to: (node.string("title") ?? "") + "\(children.count)")
                try node.set("parent", to: node.object("parent"))
            }
            let artist = try context.insert("Artist")
            try artist.set("name", to: "handler's")
            try context.forEach(FetchRequest("Album")) { album in
                let old = try album.object("artist")
                if try album.string("title") == "a2" { try artist.add(album, to: "albums") }
                if try album.string("title") == "a1" { try old?.add(album, to: "albums") }
            }
        }
    }

    private func message(_ shelf: Shelf, _ way: Way) throws -> String {
        let error = try shelf.failure(shelf.request(way.code()))
        #expect(error.kind == .sourceData, "\(error)")
        return "\(error)"
    }

    private static let used = [
        "UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807 WHERE Z_NAME IN ('Artist', 'Album', 'Node');",
        """
        UPDATE ZARTIST SET Z_PK = 9223372036854775807 WHERE Z_PK = 11;
        UPDATE ZALBUM SET ZARTIST = 9223372036854775807 WHERE ZARTIST = 11;
        UPDATE ZNODE SET Z_PK = 9223372036854775807 WHERE Z_PK = 20;
        """,
    ]

    @Test("where no keys are left, only what needs new keys fails", arguments: used, Way.allCases)
    func usedUp(_ changes: String, _ way: Way) throws {
        let shelf = try Shelf(changes)
        if way.needsKeys {
            let text = try message(shelf, way)
            #expect(text.contains("used up its keys"), "\(text)")
        } else {
            try Shelf.expectLinks(shelf.migrate(way.code()), like: shelf.store)
        }
    }

    @Test(
        "keys below 1 are refused before a row is made", arguments: [0, -2, Int64.min],
        Way.allCases)
    func below(_ key: Int64, _ way: Way) throws {
        let shelf = try Shelf("UPDATE ZNODE SET Z_PK = \(key), ZPARENT = 4 WHERE Z_PK = 20;")
        let text = try message(shelf, way)
        #expect(text.contains("ZNODE") && text.contains("\(key)"), "\(text)")
    }

    @Test(
        "places at the limits of 64-bit integers, beside unset ones",
        arguments: [Int64.max, Int64.max - 5, Int64.min, -1, 0], Way.allCases)
    func places(_ place: Int64, _ way: Way) throws {
        let shelf = try Shelf(
            """
            UPDATE ZALBUM SET Z_FOK_ARTIST = \(place) WHERE Z_PK = 1;
            UPDATE ZALBUM SET Z_FOK_ARTIST = NULL WHERE Z_PK = 13;
            """)
        let code = try way.code()
        do {
            let result = try shelf.migrate(code)
            if way != .stage, way != .split {
                try Shelf.expectLinks(result, like: shelf.store)
            } else {
                try Shelf.expectSound(result)
            }
        } catch let error as EngineError {
            #expect(error.kind == .sourceData, "\(error)")
            #expect(place > Int64.max - 10, "\(error)")
        }
    }

    // MARK: - Values that aren't keys

    @Test("an entity column that is NULL stays NULL")
    func entityColumn() throws {
        let shelf = try Shelf("UPDATE ZALBUM SET Z2_ARTIST = NULL WHERE Z_PK % 2 = 1;")
        let result = try shelf.migrateEveryWay(Way.plain.code())
        #expect(
            try StoreRows.texts(result, "SELECT Z_PK FROM ZALBUM WHERE ZARTIST > 0 AND Z3_ARTIST IS NULL ORDER BY Z_PK")
                == (1...30).filter { $0 % 2 == 1 }.map { "\($0)" })
        let keys = "SELECT ifnull(ZARTIST, '-') FROM ZALBUM ORDER BY Z_PK"
        #expect(try StoreRows.texts(result, keys) == StoreRows.texts(shelf.store, keys))
    }

    /// `.appending` and the handlers look rows up by valid keys, and never read this one.
    @Test(
        "a key that isn't an integer is an error that names the row", arguments: ["'abc'", "x'00'", "1.5"],
        Way.allCases.filter { $0 != .stage && $0 != .appending })
    func noInteger(_ value: String, _ way: Way) throws {
        let shelf = try Shelf("UPDATE ZALBUM SET ZARTIST = \(value) WHERE Z_PK = 6;")
        let text = try message(shelf, way)
        #expect(text.contains("artist") || text.contains("ZARTIST"), "\(text)")
    }
}
