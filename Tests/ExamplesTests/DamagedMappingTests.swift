import Causeway
import CausewaySQLite
import Foundation
import Testing

/// Mappings read rows out of pages, and SQLite checks only what they don't read: damage anywhere is found all the same.
@Suite("Mapping models and stores that are damaged", .timeLimit(.minutes(60)))
struct DamagedMappingTests {
    private static let history = ColourfulPostsTests.history

    /// What is wrong with the store.
    enum Damage: CaseIterable {
        /// In the b-tree of the posts, of an index of theirs, and of a table that no mapping reads.
        case rows, index, otherTable
        /// A leaf is two tables'.
        case sharedLeaf
        /// The schema gives two tables one b-tree.
        case sharedRoot
        case unknownEntity, noEntity
    }

    private static func prepare(_ store: String, _ damage: Damage) throws {
        try StoreContent.execute(
            """
            CREATE INDEX own_index ON ZPOST (ZCONTENT, ZPOSTID);
            CREATE TABLE own_table (a, b);
            INSERT INTO own_table SELECT Z_PK, ZCONTENT FROM ZPOST;
            """, store)
        switch damage {
        case .rows: try spoil(store, "ZPOST")
        case .index: try spoil(store, "own_index")
        case .otherTable: try spoil(store, "own_table")
        case .sharedLeaf: try share(store, "ZPOST", "own_table")
        case .sharedRoot: try shareRoot(store, "ZPOST", "own_table")
        case .unknownEntity: try StoreContent.execute("UPDATE ZPOST SET Z_ENT = 99 WHERE Z_PK = 7", store)
        case .noEntity: try StoreContent.execute("UPDATE ZPOST SET Z_ENT = NULL WHERE Z_PK = 7", store)
        }
    }

    /// Makes the last leaf of a b-tree no page of any kind.
    private static func spoil(_ store: String, _ name: String) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: store))
        let path = try lastPath(of: name, in: store, bytes)
        bytes[path[path.count - 1]] = 0x55
        try bytes.write(to: URL(fileURLWithPath: store))
    }

    /// Makes the last leaf of one table that of another, too.
    private static func share(_ store: String, _ one: String, _ other: String) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: store))
        let (from, to) = (try lastPath(of: one, in: store, bytes), try lastPath(of: other, in: store, bytes))
        let (parent, above) = (to[to.count - 2], from[from.count - 2])
        bytes.replaceSubrange(parent + 8..<parent + 12, with: bytes[above + 8..<above + 12])
        try bytes.write(to: URL(fileURLWithPath: store))
    }

    /// Gives one table the b-tree of another, in the schema's record: its root page follows the names, in one byte.
    private static func shareRoot(_ store: String, _ one: String, _ other: String) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: store))
        let places = try [one, other].map { name in
            let names = try #require(bytes.range(of: Data("table\(name)\(name)".utf8)))
            return names.upperBound
        }
        bytes[places[1]] = bytes[places[0]]
        try bytes.write(to: URL(fileURLWithPath: store))
        let connection = try Connection(path: store, mode: .readOnly, hardening: .own)
        var roots = try connection.prepare(
            "SELECT count(DISTINCT rootpage) FROM sqlite_schema WHERE name IN ('\(one)', '\(other)')")
        try #require(try roots.step() && roots.int64(at: 0) == 1)
    }

    /// Where the pages begin that lead to the last leaf of a b-tree, by right-most children.
    private static func lastPath(of name: String, in store: String, _ bytes: Data) throws -> [Int] {
        let connection = try Connection(path: store, mode: .readOnly, hardening: .own)
        let size = Int(try connection.pragmaInteger("page_size"))
        var statement = try connection.prepare("SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'")
        try #require(try statement.step())
        var path = [(Int(statement.int64(at: 0)) - 1) * size]
        while let page = path.last, bytes[page] == 5 || bytes[page] == 2 {
            path.append((bytes[page + 8..<page + 12].reduce(0) { $0 << 8 | Int($1) } - 1) * size)
        }
        try #require(path.count > 1, "too few rows: the root is a leaf")
        return path
    }

    @Test("end with an error about the store, and make nothing", arguments: Damage.allCases, [1, 2])
    func refused(_ damage: Damage, jobs: Int) async throws {
        let workshop = try Workshop()
        let store = try Self.history.store(at: "v2", rows: 3_000, in: workshop)
        try Self.prepare(store, damage)
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        let error = await #expect(throws: MigrationError.self) {
            try await Self.history.migrate(
                store, to: "v3", ExampleHistory.Work(jobs: jobs), in: workshop, as: "made.sqlite")
        }
        #expect(error?.code == .sourceData, "\(String(describing: error))")
        let text = "\(String(describing: error))"
        switch damage {
        case .rows, .index, .otherTable, .sharedLeaf, .sharedRoot: #expect(text.contains("damaged"), "\(text)")
        case .unknownEntity, .noEntity: #expect(text.contains("ZPOST") && text.contains("Z_ENT"), "\(text)")
        }
        #expect(!FileManager.default.fileExists(atPath: workshop.path("made.sqlite")))
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
    }

    @Test("the posts of such a store are read out of pages")
    func readsPages() async throws {
        let workshop = try Workshop()
        let store = try Self.history.store(at: "v2", rows: 3_000, in: workshop)
        var options = MigrationOptions()
        options.target = "v3"
        let plan = try Migrator(store: store, models: Self.history.models, options: options, code: Self.history.code)
            .plan()
        #expect(plan.steps.flatMap(\.passes).contains { $0.mapping?.method == "pages" })
    }
}
