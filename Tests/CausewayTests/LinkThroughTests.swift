import Causeway
import Foundation
import Testing

/// Relationships read through some mappings only, and over several mapping models.
@Suite(.timeLimit(.minutes(60)))
struct LinkThroughTests {
    @Test(
        "a to-many is linked itself where its inverse covers only some mappings",
        arguments: ["BandToBand", "ArtistToArtist"])
    func halfCovered(_ mapping: String) throws {
        let shelf = try Shelf()
        let result = try shelf.migrateEveryWay(
            Shelf.code(["Album"]) { TransformEntity("Album") { Link("artist", through: mapping) } })
        try Shelf.expectLinks(result, like: shelf.store)
        let order = "SELECT ZARTIST || ' ' || ZTITLE FROM ZALBUM WHERE ZARTIST > 0 ORDER BY ZARTIST, Z_FOK_ARTIST"
        #expect(try StoreRows.texts(result, order) == StoreRows.texts(shelf.store, order))
    }

    @Test("a to-one through one mapping has only links to that mapping's rows where nothing links the others")
    func toOneThrough() throws {
        let shelf = try Shelf()
        let result = try shelf.migrateEveryWay(
            Shelf.code(["Album", "Artist", "Band"]) {
                TransformEntity("Artist") { Leave("albums") }
                TransformEntity("Band") { Leave("albums") }
                TransformEntity("Album") { Link("artist", through: "BandToBand") }
            })
        #expect(
            try Shelf.artists(result)
                == Shelf.artists(shelf.store).map { line in
                    line.hasSuffix("Artist") ? line.split(separator: " ")[0] + " -" : line
                })
    }

    @Test("a many-to-many through one mapping has only that mapping's links", arguments: [true, false])
    func joinThrough(isFiltered: Bool) throws {
        let shelf = try Shelf()
        let result = try shelf.migrateEveryWay(
            Shelf.code(["Tag", "Genre", "Album"]) {
                TransformEntity("Album") { Link("tags", through: isFiltered ? "One" : "TagToTag") }
                if isFiltered {
                    TransformEntity("Tag", name: "One") {
                        Filter("name == 'tag1'")
                        Leave("albums")
                    }
                    TransformEntity("Tag", name: "Others") {
                        Filter("name != 'tag1'")
                        Leave("albums")
                    }
                } else {
                    TransformEntity("Tag") { Leave("albums") }
                }
                TransformEntity("Genre") { Leave("albums") }
            })
        #expect(
            try Shelf.tags(result)
                == Shelf.tags(shelf.store).filter { $0.hasSuffix(isFiltered ? " tag1" : "") && $0.contains(" tag") })
        #expect(try Shelf.artists(result) == Shelf.artists(shelf.store))
    }

    @Test("a many-to-many through one mapping, and the rest from the other side: all links")
    func joinFromBothSides() throws {
        let shelf = try Shelf()
        let result = try shelf.migrateEveryWay(
            Shelf.code(["Album"]) { TransformEntity("Album") { Link("tags", through: "TagToTag") } })
        try Shelf.expectLinks(result, like: shelf.store)
    }

    // MARK: - Several mapping models

    @Test(
        "links between the entities of two mapping models are all there, in both orders",
        arguments: [["Album", "Node", "Band"], ["Album"], ["Artist", "Tag"], ["Band", "Genre"]], [true, false])
    func twoModels(_ entities: [String], isFirst: Bool) throws {
        let shelf = try Shelf()
        let one = SwiftMappingModel(from: "v1", to: "v2", name: "one") {
            for entity in entities { TransformEntity(entity) }
        }
        let two = SwiftMappingModel(from: "v1", to: "v2", name: "two") {
            for entity in Shelf.entities where !entities.contains(entity) { TransformEntity(entity) }
        }
        let result = try shelf.migrate(Shelf.code(isFirst ? [one, two] : [two, one]))
        try Shelf.expectLinks(result, like: shelf.store)
        let whole = try shelf.migrate(Shelf.code([]) {}, as: "whole")
        try Office.expectSame(result, whole)
    }

    private static func link(_ name: String) -> Link {
        Link(
            name,
            """
            FUNCTION($manager, 'destinationInstancesForSourceRelationshipNamed:sourceInstances:', '\(name)', \
            $source.\(name))
            """)
    }

    private static func halves(links: Bool) -> [SwiftMappingModel] {
        [
            SwiftMappingModel(from: "v1", to: "v2", name: "low") {
                TransformEntity("Node") {
                    Filter("title < 'K'")
                    if links { link("parent") }
                }
                for entity in Shelf.entities where entity != "Node" { TransformEntity(entity) }
            },
            SwiftMappingModel(from: "v1", to: "v2", name: "high") {
                TransformEntity("Node") {
                    Filter("title >= 'K'")
                    if links { link("parent") }
                }
            },
        ]
    }

    @Test(
        "one name in two mapping models with disjoint filters: links inside and across are kept",
        arguments: [true, false])
    func sameName(lowFirst: Bool) throws {
        let shelf = try Shelf()
        let halves = Self.halves(links: true)
        let result = try shelf.migrateEveryWay(Shelf.code(lowFirst ? halves : halves.reversed()))
        try Shelf.expectLinks(result, like: shelf.store)
    }

    @Test(
        "a mapping's name means the one of its own mapping model: links inside each are kept", arguments: [true, false])
    func sameNameInside(lowFirst: Bool) throws {
        // P to T are a chain of parents, and so are A to J.
        let shelf = try Shelf("UPDATE ZNODE SET ZPARENT = Z_PK - 1 WHERE Z_PK > 15;")
        let halves = Self.halves(links: false)
        let result = try shelf.migrateEveryWay(Shelf.code(lowFirst ? halves : halves.reversed()))
        let all = try Shelf.parents(shelf.store)
        let found = try Shelf.parents(result)
        for (line, was) in zip(found, all) {
            let names = was.split(separator: " ").map { String($0) }
            let isInside = names[1] != "-" && (names[0] < "K") == (names[1] < "K")
            if isInside { #expect(line == was) } else { #expect(line == was || line.hasSuffix(" -")) }
        }
        #expect(found.count == all.count)
    }
}
