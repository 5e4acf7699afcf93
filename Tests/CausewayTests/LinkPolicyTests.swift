import Causeway
import Foundation
import Testing

/// Links of default mappings to rows that a policy makes: they follow the policy's associations, never the source's
/// keys.
@Suite(.timeLimit(.minutes(60)))
struct LinkPolicyTests {
    /// Makes one row of all rows with the same name.
    class MergingPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let (object, _) = try manager.findOrInsert(
                sInstance.entityName, where: "name", is: sInstance.value(forKey: "name"))
            try manager.associate(sourceInstance: sInstance, withDestinationInstance: object, for: mapping)
        }
    }

    /// Makes an object that isn't associated with the row, and nothing of the row.
    class StrangerPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try manager.destinationContext.insert(sInstance.entityName).set("name", to: "stranger")
        }
    }

    final class IndependentStrangerPolicy: StrangerPolicy {
        override class var isIndependent: Bool { true }
    }

    /// The first object of the entity takes the source's key; the row's own object is made after it.
    class CopyFirstPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try manager.destinationContext.insert(sInstance.entityName).set("name", to: "copy")
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        }
    }

    final class IndependentCopyFirstPolicy: CopyFirstPolicy {
        override class var isIndependent: Bool { true }
    }

    private static func code(
        _ entity: String, _ policy: EntityMigrationPolicy.Type, leaving: Bool, comesFirst: Bool = true
    ) -> MigrationCode {
        Shelf.code(comesFirst ? [entity] : Shelf.entities) {
            if !comesFirst {
                for other in Shelf.entities where other != entity { TransformEntity(other) }
            }
            TransformEntity(entity, policy: policy) {
                if leaving { Leave("albums") }
            }
        }
    }

    @Test(
        "a policy that merges rows keeps every link to them", arguments: ["Artist", "Band", "Tag", "Genre"],
        [true, false])
    func merging(_ entity: String, leaving: Bool) throws {
        let shelf = try Shelf()
        let result = try shelf.migrateEveryWay(Self.code(entity, MergingPolicy.self, leaving: leaving))
        try Shelf.expectLinks(result, like: shelf.store)
        if leaving {
            let last = try shelf.migrate(
                Self.code(entity, MergingPolicy.self, leaving: true, comesFirst: false), as: "last")
            try Shelf.expectLinks(last, like: shelf.store)
        }
        let table = entity == "Artist" || entity == "Band" ? "ZARTIST" : "ZTAG"
        let names = """
            SELECT count(DISTINCT ZNAME) = count(*) FROM \(table)
            WHERE Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = '\(entity)')
            """
        #expect(try StoreRows.texts(result, names) == ["1"])
        #expect(try StoreRows.texts(shelf.store, names) == ["0"], "the store has something to merge")
    }

    @Test("an ordered to-many keeps its order when its owners get other keys")
    func order() throws {
        let shelf = try Shelf()
        let code = Self.code("Artist", CopyFirstPolicy.self, leaving: true)
        let result = try shelf.migrateEveryWay(code)
        let sql = """
            SELECT group_concat(ZTITLE, ' ') FROM (SELECT a.Z_PK AS artist, l.ZTITLE FROM ZALBUM l
                JOIN ZARTIST a ON a.Z_PK = l.ZARTIST ORDER BY a.ZNAME, a.Z_ENT, l.Z_FOK_ARTIST, l.Z_PK)
            GROUP BY artist ORDER BY 1
            """
        #expect(try StoreRows.texts(result, sql) == StoreRows.texts(shelf.store, sql))
    }

    @Test(
        "a policy whose first object takes the source's key: links lead to the associated one",
        arguments: ["Artist", "Tag", "Genre"], [CopyFirstPolicy.self, IndependentCopyFirstPolicy.self])
    func copyFirst(_ entity: String, _ policy: CopyFirstPolicy.Type) throws {
        let shelf = try Shelf()
        for leaving in [true, false] {
            let code = Self.code(entity, policy, leaving: leaving)
            let result = try leaving ? shelf.migrateEveryWay(code) : shelf.migrate(code)
            try Shelf.expectLinks(result, like: shelf.store)
        }
    }

    @Test(
        "rows that a policy makes without associating them have no links",
        arguments: ["Artist", "Band"], [StrangerPolicy.self, IndependentStrangerPolicy.self])
    func strangers(_ entity: String, _ policy: StrangerPolicy.Type) throws {
        let shelf = try Shelf()
        let expected = try Shelf.artists(shelf.store).map { line in
            line.hasSuffix(entity) ? line.split(separator: " ")[0] + " -" : line
        }
        let result = try shelf.migrateEveryWay(Self.code(entity, policy, leaving: true))
        #expect(try Shelf.artists(result) == expected)
        #expect(try Shelf.tags(result) == Shelf.tags(shelf.store))
        let last = try shelf.migrate(Self.code(entity, policy, leaving: false, comesFirst: false), as: "last")
        #expect(try Shelf.artists(last) == expected)
        try Shelf.expectSound(last)
    }

    @Test(
        "rows that a policy makes without associating them are in no join table",
        arguments: [StrangerPolicy.self, IndependentStrangerPolicy.self])
    func strangersInJoins(_ policy: StrangerPolicy.Type) throws {
        let shelf = try Shelf()
        let expected = try Shelf.tags(shelf.store).filter { $0.contains("genre") }
        let result = try shelf.migrateEveryWay(Self.code("Tag", policy, leaving: true))
        #expect(try Shelf.tags(result) == expected)
        let last = try shelf.migrate(Self.code("Tag", policy, leaving: false, comesFirst: false), as: "last")
        #expect(try Shelf.tags(last) == expected)
        #expect(try Shelf.artists(last) == Shelf.artists(shelf.store))
    }
}
