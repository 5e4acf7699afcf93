import Causeway
import Foundation
import Testing

/// Policies that look into the destination while its rows are made.
@Suite(.timeLimit(.minutes(60)))
struct ObjectLookupTests {
    /// Fetches while a row's attributes are filled: the current row is written first, so that the fetch finds it.
    final class LookingPolicy: EntityMigrationPolicy {
        override var functions: [String: MigrationFunction] {
            [
                "count:": { arguments, manager in
                    let request = FetchRequest("Album", where: "label == $label", ["label": arguments[0]])
                    return .integer(Int64(try manager.destinationContext.count(request)))
                },
                "tag:": { arguments, manager in
                    let context = manager.destinationContext
                    let found = try context.fetch(FetchRequest("Tag", where: "name == $name", ["name": arguments[0]]))
                    if let tag = found.first { return .integer(tag.objectID.key) }
                    let tag = try context.insert("Tag")
                    try tag.setValue(arguments[0], forKey: "name")
                    return .integer(tag.objectID.key)
                },
            ]
        }
    }

    private static func code(_ expression: String) -> MigrationCode {
        Shelf.code(["Album"]) {
            TransformEntity("Album", policy: LookingPolicy.self) { Compute("aaa", expression) }
        }
    }

    @Test("an attribute's function counts the rows that are there")
    func count() throws {
        let shelf = try Shelf()
        let result = try shelf.migrateEveryWay(
            Self.code("FUNCTION($entityPolicy, 'count:', $source.label)"))
        try Shelf.expectLinks(result, like: shelf.store)
        let texts = "SELECT Z_PK || ' ' || ZTITLE || ' ' || ZLABEL FROM ZALBUM ORDER BY Z_PK"
        #expect(try StoreRows.texts(result, texts) == StoreRows.texts(shelf.store, texts))
        let earlier = "(SELECT count(*) FROM ZALBUM o WHERE o.ZLABEL = ZALBUM.ZLABEL AND o.Z_PK < ZALBUM.Z_PK)"
        #expect(
            try StoreRows.texts(result, "SELECT ZAAA FROM ZALBUM ORDER BY Z_PK")
                == StoreRows.texts(shelf.store, "SELECT \(earlier) FROM ZALBUM ORDER BY Z_PK"))
    }

    @Test("an attribute's function finds or makes rows by a fetch")
    func findOrMake() throws {
        let shelf = try Shelf()
        let result = try shelf.migrateEveryWay(Self.code("FUNCTION($entityPolicy, 'tag:', $source.label)"))
        try Shelf.expectLinks(result, like: shelf.store)
        #expect(
            try StoreRows.texts(
                result, "SELECT ZNAME || ' ' || count(*) FROM ZTAG WHERE ZNAME LIKE 'l%' GROUP BY ZNAME")
                == (0...3).map { "label\($0) 1" })
        #expect(
            try StoreRows.texts(
                result, "SELECT count(*) FROM ZALBUM l JOIN ZTAG t ON t.Z_PK = l.ZAAA AND t.ZNAME = l.ZLABEL")
                == ["30"])
    }

    @Test("the current row has no members yet when its attributes are filled", arguments: [false, true])
    func destinationCount(hasEarlierChild: Bool) throws {
        let shelf = try Shelf(hasEarlierChild ? "UPDATE ZNODE SET ZPARENT = 15 WHERE Z_PK = 1;" : "")
        let result = try shelf.migrateEveryWay(
            Shelf.code(["Node"]) {
                TransformEntity("Node", name: "Low") {
                    Filter("title != 'T'")
                    Compute("aaa", "$destination.children.@count")
                }
                TransformEntity("Node", name: "High") {
                    Filter("title == 'T'")
                    Compute("aaa", "$destination.children.@count + 10")
                }
            })
        let expected = Array(repeating: "0", count: 19) + ["10"]
        #expect(try StoreRows.texts(result, "SELECT ZAAA FROM ZNODE ORDER BY Z_PK") == expected)
        let whole = try shelf.migrateEveryWay(
            Shelf.code(["Node"]) { TransformEntity("Node") { Compute("aaa", "$destination.children.@count") } })
        #expect(
            try StoreRows.texts(whole, "SELECT ZAAA FROM ZNODE ORDER BY Z_PK") == Array(repeating: "0", count: 20))
        try Shelf.expectLinks(whole, like: shelf.store)
    }

    // MARK: - Shared rows

    final class SharingPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let name = try sInstance.value(forKey: "name")
            let (object, _) = try manager.findOrInsert("Tag", where: "name", is: name)
            try manager.associate(sourceInstance: sInstance, withDestinationInstance: object, for: mapping)
        }
    }

    @Test("findOrInsert tells texts apart by their bytes: composed and decomposed letters are two")
    func normalForms() throws {
        let shelf = try Shelf(
            """
            UPDATE ZTAG SET ZNAME = 'caf' || char(233) WHERE Z_PK IN (1, 3);
            UPDATE ZTAG SET ZNAME = 'cafe' || char(769) WHERE Z_PK IN (2, 4);
            """)
        let result = try shelf.migrateEveryWay(
            Shelf.code(["Tag"]) { TransformEntity("Tag", policy: SharingPolicy.self) { Leave("albums") } })
        try Shelf.expectLinks(result, like: shelf.store)
        #expect(
            try StoreRows.texts(result, "SELECT hex(ZNAME) FROM ZTAG WHERE ZNAME LIKE 'caf%' ORDER BY 1")
                == ["63616665CC81", "636166C3A9"])
    }

    /// Deletes the shared row each time that it is made.
    final class DeletingPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let (object, isNew) = try manager.findOrInsert("Tag", where: "name", is: .string("shared"))
            if isNew, sInstance.objectID.key < 5 {
                try object.delete()
            } else if sInstance.objectID.key == 8 {
                try object.delete()
            }
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        }
    }

    @Test("findOrInsert never returns a row that the policy has deleted")
    func deleted() throws {
        let shelf = try Shelf()
        let result = try shelf.migrateEveryWay(
            Shelf.code(["Artist"]) { TransformEntity("Artist", policy: DeletingPolicy.self) })
        try Shelf.expectLinks(result, like: shelf.store)
        #expect(try StoreRows.texts(result, "SELECT count(*) FROM ZTAG WHERE ZNAME = 'shared'") == ["1"])
        #expect(try StoreRows.texts(result, "SELECT count(*) FROM ZTAG") == ["9"])
    }
}
