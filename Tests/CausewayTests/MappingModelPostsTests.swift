import Causeway
import CausewayEngine
import CausewayStores
import Foundation
import Testing

/// Posts of two example apps, split by policies: compared with what Core Data made of the same stores.
@Suite(.timeLimit(.minutes(60)), .enabled(if: SharedStores.isThere, "shared/stores is missing"))
struct MappingModelPostsTests {
    static let colourful = colourful("by the app's own policy", Post2ToPost3MigrationPolicy.self)
    static let independent = colourful("by an independent policy", IndependentPostPolicy.self)
    static let colors = posts(
        "Posts and Colors 2 → 3", "posts-and-colors/CoreDataMigration_Example_2.sqlite",
        to: "CoreDataMigration_Example 3")

    private static func colourful(_ name: String, _ policy: EntityMigrationPolicy.Type) -> PoliciesExample {
        var code = MigrationCode()
        code.register(policy, as: "Post2ToPost3MigrationPolicy")
        return PoliciesExample(
            name: "Colourful Posts 2 → 3 \(name)", store: "colourful-posts/CoreDataMigration_Example_2.sqlite",
            models: "colourful-posts/CoreDataMigration_Example.xcdatamodeld", target: "CoreDataMigration_Example 3",
            mappings: ["colourful-posts/Migration2to3ModelMapping.xcmappingmodel"], code: code)
    }

    private static func posts(_ name: String, _ store: String, to target: String) -> PoliciesExample {
        var code = MigrationCode()
        code.register(PostToColorPolicy.self, as: "CoreDataMigration_Example.Post2ToPost3MigrationPolicy")
        return PoliciesExample(
            name: name, store: store, models: "posts-and-colors/CoreDataMigration_Example.xcdatamodeld", target: target,
            code: code, random: ["ZCOLOR.ZCOLORID"])
    }

    /// Posts 11 and 12 and their four sections were added in the app after the migration.
    private static let writtenLater = ["DELETE FROM ZPOST WHERE Z_PK > 10", "DELETE FROM ZSECTION WHERE Z_PK > 10"]

    private static let sections = """
        SELECT p.ZPOSTID || p.ZHEXCOLOR || quote(p.ZDATE) || s.ZINDEX || s.ZTITLE || s.ZBODY || s.Z_ENT
        FROM ZPOST AS p JOIN ZSECTION AS s ON s.ZPOST = p.Z_PK WHERE p.Z_PK <= 10 ORDER BY 1
        """

    @Test("a post's content becomes a section", arguments: [colourful, independent])
    func colourfulPosts(_ example: PoliciesExample) throws {
        let folder = try TemporaryFolder()
        let result = try example.migrate(in: folder)
        try example.expectReference(
            result, "colourful-posts/CoreDataMigration_Example_3.sqlite", without: Self.writtenLater, in: folder)
        let links = try StoreRows.texts(result, Self.sections)
        #expect(links.count == 10)
        #expect(try links == StoreRows.texts(folder.path("reference"), Self.sections))
        let source = StoreRows.shared(example.store)
        let keys = "SELECT Z_PK || ZPOSTID FROM ZPOST ORDER BY 1"
        #expect(
            try StoreRows.texts(result, keys)
                == StoreRows.texts(folder.copyStore(source, as: "copy"), keys), "posts keep their keys")
    }

    @Test("the rows don't depend on batch size or workers", arguments: [colourful, independent])
    func colourfulWork(_ example: PoliciesExample) throws {
        #expect(try example.differences(PoliciesExample.Work.every, from: Self.colourful) == [])
    }

    /// The later stores of the two apps hold other posts, so only the step's own result is checked.
    @Test("Posts and Colors 1 → 2 by its mapping model keeps every value")
    func rename() throws {
        let folder = try TemporaryFolder()
        let example = Self.posts(
            "1 → 2", "posts-and-colors/CoreDataMigration_Example_1.sqlite", to: "CoreDataMigration_Example 2")
        let result = try example.migrate(in: folder)
        try example.expectSchema(result)
        let source = try folder.copyStore(StoreRows.shared(example.store), as: "copy")
        let values = { (column: String) in
            "SELECT Z_PK || quote(ZPOSTID) || quote(ZDATE) || quote(\(column)) FROM ZPOST ORDER BY Z_PK"
        }
        let rows = try StoreRows.texts(result, values("ZHEXCOLOR"))
        #expect(rows.count == 1_001)
        #expect(try rows == StoreRows.texts(source, values("ZCOLOR")))
    }

    private static let colored = """
        SELECT p.ZPOSTID || quote(p.ZDATE) || c.ZHEX FROM ZPOST AS p
        JOIN ZCOLOR AS c ON c.Z_PK = p.ZCOLOR AND c.ZPOST = p.Z_PK
        WHERE p.Z_PK <= 5979 ORDER BY 1
        """

    @Test("each of 5,979 posts gets a color of its own")
    func postsAndColors() throws {
        let folder = try TemporaryFolder()
        let result = try Self.colors.migrate(in: folder)
        // The app was used afterwards: it made posts and colors from 5,980 on.
        try Self.colors.expectReference(
            result, "posts-and-colors/CoreDataMigration_Example_3.sqlite",
            without: ["DELETE FROM ZPOST WHERE Z_PK > 5979", "DELETE FROM ZCOLOR WHERE ZPOST > 5979"], in: folder)
        let links = try StoreRows.texts(result, Self.colored)
        #expect(links.count == 5_979)
        #expect(try links == StoreRows.texts(folder.path("reference"), Self.colored))
        #expect(try StoreRows.texts(result, "SELECT count(DISTINCT ZCOLORID) FROM ZCOLOR") == ["5979"])
        #expect(
            try StoreRows.texts(result, "SELECT count(*) FROM ZCOLOR WHERE length(ZCOLORID) <> 36") == ["0"])
    }

    @Test("5,979 posts: the rows don't depend on batch size or workers")
    func colorsWork() throws {
        #expect(try Self.colors.differences(PoliciesExample.Work.sample) == [])
    }

    @Test("1 → 2 → 3 in one run")
    func chain() throws {
        let folder = try TemporaryFolder()
        let example = Self.posts(
            "1 → 3", "posts-and-colors/CoreDataMigration_Example_1.sqlite", to: "CoreDataMigration_Example 3")
        let result = try example.migrate(in: folder)
        try example.expectSchema(result)
        let source = try folder.copyStore(StoreRows.shared(example.store), as: "copy")
        #expect(
            try StoreRows.texts(result, Self.colored)
                == StoreRows.texts(source, "SELECT ZPOSTID || quote(ZDATE) || ZCOLOR FROM ZPOST ORDER BY 1"))
    }

    @Test("a policy that isn't registered is refused by name before anything is written")
    func unregistered() throws {
        let folder = try TemporaryFolder()
        var example = Self.colourful
        example.code = MigrationCode()
        let error = #expect(throws: EngineError.self) { try example.migrate(in: folder) }
        #expect(error?.kind == .plan)
        #expect(error.map { "\($0)".contains("Post2ToPost3MigrationPolicy") } == true)
    }
}
