import Causeway
import Foundation
import Testing

/// Places in ordered relationships, given and appended in one run: equal for every batch size.
@Suite(.timeLimit(.minutes(60)))
struct ObjectPlaceTests {
    /// Sets all albums of one artist at once, adds those of the next one by one, and does both for the third.
    final class MixedPolicy: EntityMigrationPolicy {
        override func createRelationships(
            forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let sources = try manager.sourceInstances(
                forEntityMappingName: mapping.name, destinationInstances: [dInstance])
            let albums = try manager.destinationInstances(
                forSourceRelationshipNamed: "albums", sourceInstances: sources.flatMap { try $0.objects("albums") })
            switch dInstance.objectID.key % 3 {
            case 0: try dInstance.set("albums", to: albums.reversed())
            case 1: for album in albums { try dInstance.add(album, to: "albums") }
            default:
                try dInstance.set("albums", to: Array(albums.prefix(1)))
                for album in albums.dropFirst() { try dInstance.add(album, to: "albums") }
            }
        }
    }

    private static let members = """
        SELECT group_concat(ZTITLE, ' ') FROM (SELECT ZARTIST, ZTITLE FROM ZALBUM WHERE ZARTIST IS NOT NULL
            ORDER BY ZARTIST, Z_FOK_ARTIST) GROUP BY ZARTIST ORDER BY ZARTIST
        """

    @Test("a policy that gives places and appends in stage 2", arguments: [true, false])
    func relating(leaving: Bool) throws {
        let shelf = try Shelf()
        let result = try shelf.migrateEveryWay(
            Shelf.code(["Artist", "Band", "Album"]) {
                TransformEntity("Artist", policy: MixedPolicy.self)
                TransformEntity("Band", policy: MixedPolicy.self)
                TransformEntity("Album") {
                    if leaving { Leave("artist") }
                }
            }, works: Shelf.allWorks)
        try Shelf.expectLinks(result, like: shelf.store)
        guard leaving else { return }
        let before = try StoreRows.texts(shelf.store, Self.members)
        let expected = zip(1..., before).map { key, albums in
            key % 3 == 0 ? albums.split(separator: " ").reversed().joined(separator: " ") : albums
        }
        #expect(try StoreRows.texts(result, Self.members) == expected)
    }

    /// Links the album that it has just made, from either end in turn.
    final class EarlyPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            let made = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance])
            let artists = try manager.destinationInstances(
                forSourceRelationshipNamed: "artist", sourceInstances: [sInstance.object("artist")].compactMap { $0 })
            guard let album = made.first, let artist = artists.first else { return }
            switch sInstance.objectID.key % 4 {
            case 0: try artist.add(album, to: "albums")
            case 1: try album.set("artist", to: artist)
            case 2: try artist.set("albums", to: artist.objects("albums") + [album])
            default: try artist.set("albums", to: [album] + artist.objects("albums"))
            }
        }

        override func createRelationships(
            forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {}
    }

    @Test("a policy that gives places and appends in stage 1")
    func creating() throws {
        let shelf = try Shelf()
        let result = try shelf.migrateEveryWay(
            Shelf.code(["Artist", "Band", "Album"]) {
                TransformEntity("Artist") { Leave("albums") }
                TransformEntity("Band") { Leave("albums") }
                TransformEntity("Album", policy: EarlyPolicy.self)
            }, works: Shelf.allWorks)
        #expect(try Shelf.artists(result) == Shelf.artists(shelf.store))
    }

    @Test(
        "a store with unset places among given ones",
        arguments: [
            "UPDATE ZALBUM SET Z_FOK_ARTIST = NULL WHERE Z_PK % 3 = 1;",
            "UPDATE ZALBUM SET Z_FOK_ARTIST = NULL WHERE Z_PK > 12 AND Z_PK < 25;",
            "UPDATE ZALBUM SET Z_FOK_ARTIST = NULL;",
            "UPDATE ZALBUM SET Z_FOK_ARTIST = 9000 - Z_FOK_ARTIST WHERE Z_PK % 3 <> 1;",
        ])
    func unset(_ changes: String) throws {
        let shelf = try Shelf(changes)
        let codes = [
            Shelf.code([]) {}, Shelf.code(["Album"]) { TransformEntity("Album", policy: EntityMigrationPolicy.self) },
            Shelf.code(["Album"]) {
                TransformEntity("Album", name: "Low") { Filter("title < 'a2'") }
                TransformEntity("Album", name: "High", policy: EntityMigrationPolicy.self) { Filter("title >= 'a2'") }
            },
        ]
        for (index, code) in codes.enumerated() {
            let result = try shelf.migrateEveryWay(code)
            try Shelf.expectLinks(result, like: shelf.store)
            if index == 0 {
                let places = "SELECT quote(Z_FOK_ARTIST) FROM ZALBUM ORDER BY Z_PK"
                #expect(try StoreRows.texts(result, places) == StoreRows.texts(shelf.store, places))
            }
        }
    }

    /// A function of the manager that appends an album while the places of others are carried.
    final class AddingManager: MigrationManager {
        override var functions: [String: MigrationFunction] {
            [
                "twin:": { arguments, manager in
                    let context = manager.destinationContext
                    let album = try context.insert("Album")
                    try album.setValue(arguments[0], forKey: "label")
                    let artists = try context.fetch(FetchRequest("Artist", where: "name == 'n3'"))
                    if let artist = artists.first { try album.set("artist", to: artist) }
                    return .integer(7)
                }
            ]
        }
    }

    @Test("rows that are appended while others' keys are carried")
    func carried() throws {
        let shelf = try Shelf()
        var code = Shelf.code(["Artist", "Band", "Album"]) {
            TransformEntity("Artist") { Leave("albums") }
            TransformEntity("Band") { Leave("albums") }
            TransformEntity("Album") {
                Compute(
                    "aaa", "TERNARY($source.label == 'label2', FUNCTION($manager, 'twin:', $source.title), 0)")
            }
        }
        code.managerType = AddingManager.self
        let result = try shelf.migrateEveryWay(code, works: Shelf.allWorks)
        // One for each album with the label, after the artist's own, in their order.
        let twins = try StoreRows.texts(
            shelf.store, "SELECT ZTITLE FROM ZALBUM WHERE ZLABEL = 'label2' ORDER BY Z_PK")
        #expect(twins.count == 8)
        #expect(
            try StoreRows.texts(
                result,
                """
                SELECT l.ZLABEL FROM ZALBUM l JOIN ZARTIST a ON a.Z_PK = l.ZARTIST
                WHERE l.ZTITLE IS NULL AND a.ZNAME = 'n3' ORDER BY l.Z_FOK_ARTIST
                """) == twins)
        // Nobody takes over the artists' own order: albums come as they are set.
        let albums = "SELECT ZTITLE || ' ' || ZARTIST FROM ZALBUM WHERE ZARTIST > 0 AND ZTITLE > '' ORDER BY ZARTIST, "
        #expect(
            try StoreRows.texts(result, albums + "Z_FOK_ARTIST") == StoreRows.texts(shelf.store, albums + "Z_PK"))
    }
}
