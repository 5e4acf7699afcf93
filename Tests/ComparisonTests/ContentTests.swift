import Causeway
import CausewaySQLite
import Foundation
import Testing

/// `--modulo-keys`: two stores whose rows have different keys.
@Suite("Comparing by content", .timeLimit(.minutes(60)))
struct ContentTests {
    /// Gives every row of the second store another key, in another order, and every link the new one.
    private func renumber(_ folder: borrowing StoreFolder) throws {
        let join = try folder.value(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'")
        let columns = try folder.value(
            """
            SELECT group_concat(name || ' = 100000 - ' || name) FROM pragma_table_info('\(join)') \
            WHERE name NOT LIKE 'Z_FOK%'
            """)
        let tools = try folder.value("SELECT name FROM pragma_table_info('ZTOOL') WHERE name LIKE 'Z%TOOLS'")
        try folder.change(
            """
            UPDATE ZAUTHOR SET Z_PK = 100000 - Z_PK; UPDATE ZTAG SET Z_PK = 100000 - Z_PK;
            UPDATE ZSHELF SET Z_PK = 100000 - Z_PK, ZFAVOURITE = 100000 - ZFAVOURITE;
            UPDATE ZWORK SET Z_PK = 100000 - Z_PK, ZAUTHOR = 100000 - ZAUTHOR, Z_FOK_AUTHOR = Z_FOK_AUTHOR * 3;
            UPDATE ZTOOL SET Z_PK = 100000 - Z_PK, \(tools) = 100000 - \(tools);
            UPDATE \(join) SET \(columns)
            """)
    }

    @Test("new keys make no difference; by key every row differs")
    func renumbered() throws {
        let folder = try StoreFolder()
        try folder.twins()
        try renumber(folder)
        let comparison = try folder.compare(isModuloKeys: true)
        #expect(comparison.isEqual, "\(comparison.places)")
        #expect((comparison.rounds ?? 0) > 0)
        #expect(!(try folder.compare().isEqual))
    }

    @Test(
        "a changed value or link is found behind new keys, and its relationship is named",
        arguments: [
            ("UPDATE ZAUTHOR SET ZNAME = 'nobody' WHERE Z_PK = (SELECT min(Z_PK) FROM ZAUTHOR)", "Author"),
            ("DELETE FROM ZSHELF WHERE Z_PK = (SELECT min(Z_PK) FROM ZSHELF)", "Shelf"),
            (
                "UPDATE ZWORK SET ZAUTHOR = (SELECT Z_PK FROM ZAUTHOR WHERE Z_PK <> ZWORK.ZAUTHOR LIMIT 1) "
                    + "WHERE Z_PK = (SELECT min(Z_PK) FROM ZWORK WHERE ZAUTHOR IS NOT NULL)", "Work.author"
            ),
            (
                "UPDATE ZSHELF SET ZFAVOURITE = NULL "
                    + "WHERE Z_PK = (SELECT min(Z_PK) FROM ZSHELF WHERE ZFAVOURITE IS NOT NULL)", "Shelf.favourite"
            ),
        ])
    func changed(sql: String, place: String) throws {
        let folder = try StoreFolder()
        try folder.twins()
        try renumber(folder)
        try folder.change(sql)
        let comparison = try folder.compare(isModuloKeys: true)
        #expect(!comparison.isEqual && comparison.places.contains(place), "\(comparison.places)")
    }

    @Test("rows of no entity are counted, and a lost one is a difference")
    func strangers() throws {
        let folder = try StoreFolder()
        try folder.twins()
        for store in ["a.sqlite", "b.sqlite"] {
            try folder.change("UPDATE ZTAG SET Z_ENT = 99 WHERE Z_PK <= 2", in: store)
        }
        let same = try folder.compare(isModuloKeys: true)
        #expect(same.isEqual && same.notes.contains { $0.contains("Z_ENT 99 in ZTAG") }, "\(same.notes)")
        try folder.change("DELETE FROM ZTAG WHERE Z_PK = 2")
        let lost = try folder.compare(isModuloKeys: true)
        #expect(!lost.isEqual && lost.places.contains("Z_ENT 99 in ZTAG"), "\(lost.places)")
    }

    @Test("the order of an ordered relationship counts, the numbers that make it don't")
    func order() throws {
        let folder = try StoreFolder()
        try folder.twins()
        // Two works of one author that differ, in an order of their own.
        let pair = "(SELECT Z_PK FROM ZWORK WHERE ZAUTHOR = 1 ORDER BY Z_PK LIMIT 2)"
        for store in ["a.sqlite", "b.sqlite"] {
            try folder.change(
                """
                UPDATE ZWORK SET ZAUTHOR = 1, Z_FOK_AUTHOR = 1024 * Z_PK WHERE Z_PK IN (SELECT Z_PK FROM ZWORK LIMIT 9);
                UPDATE ZWORK SET ZTITLE = 'T' || Z_PK
                """, in: store)
        }
        try folder.change("UPDATE ZWORK SET Z_FOK_AUTHOR = Z_FOK_AUTHOR * 5 + 3")
        #expect(try folder.compare(isModuloKeys: true).isEqual)
        try folder.change("UPDATE ZWORK SET Z_FOK_AUTHOR = 1000000 - Z_FOK_AUTHOR WHERE Z_PK IN \(pair)")
        let comparison = try folder.compare(isModuloKeys: true)
        #expect(comparison.places.contains("Work.author"), "\(comparison.places)")
    }

    @Test("rows that are all alike differ by what they lead to, however far away it is")
    func chains() throws {
        let folder = try StoreFolder()
        let node = """
            <entity name="Node"><attribute name="mark" attributeType="Integer 32" optional="YES"/>
            <relationship name="next" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Node"/></entity>
            """
        try folder.makeModel("Nodes", more: node)
        // Of these at least twelve nodes: with fewer, the links below lead nowhere.
        try folder.generate(model: "Nodes", rows: 400)
        #expect(Int(try folder.value("SELECT count(*) FROM ZNODE WHERE Z_PK <= 12", in: "a.sqlite")) == 12)
        try folder.copy("a", to: "b")
        // One ring of twelve against two rings of six: the same values, as many links.
        let rows = "DELETE FROM ZNODE WHERE Z_PK > 12; UPDATE ZNODE SET ZMARK = 0;"
        try folder.change(rows + "UPDATE ZNODE SET ZNEXT = Z_PK % 12 + 1", in: "a.sqlite")
        try folder.change(
            rows + "UPDATE ZNODE SET ZNEXT = CASE WHEN Z_PK <= 6 THEN Z_PK % 6 + 1 ELSE (Z_PK - 6) % 6 + 7 END")
        // Rings of equal rows can't be told apart by following links: the documented limit.
        #expect(try folder.compare(isModuloKeys: true).isEqual)
        for store in ["a.sqlite", "b.sqlite"] {
            try folder.change("UPDATE ZNODE SET ZMARK = 1 WHERE Z_PK = 1", in: store)
        }
        let comparison = try folder.compare(isModuloKeys: true)
        #expect(comparison.places.contains("Node links") && comparison.places.contains("Node.next"))
        #expect((comparison.rounds ?? 0) > 0)
    }

    @Test("without a model links can't be told from attributes: it says so; by keys the tables are compared")
    func withoutModel() throws {
        let folder = try StoreFolder()
        try folder.twins()
        try folder.change("DROP TABLE Z_MODELCACHE")
        do throws(MigrationError) {
            _ = try StoreComparison(folder.path("a.sqlite"), folder.path("b.sqlite"), isModuloKeys: true)
            Issue.record("it was compared")
        } catch {
            #expect(error.code == .missing && error.message.contains("its model is unknown"))
        }
        var comparison = try folder.compare()
        #expect(comparison.isEqual && comparison.notes.contains { $0.contains("under their own names") })
        try folder.change("UPDATE ZTOOL SET ZNAME = 'x' WHERE Z_PK = 1")
        comparison = try folder.compare()
        #expect(comparison.places == ["Tool.ZNAME"])
        let models = try StoreComparison(
            folder.path("a.sqlite"), folder.path("b.sqlite"), models: folder.path("Books.xcdatamodel"))
        #expect(models.places == ["Tool.name"] && models.b.modelOrigin == .models)
    }

    @Test("neither store changes, and no temporary file is left")
    func untouched() throws {
        let folder = try StoreFolder()
        try folder.twins()
        let root = folder.url.path(percentEncoded: false)
        func bytes() throws -> [String: Data] {
            var result: [String: Data] = [:]
            for name in try FileManager.default.contentsOfDirectory(atPath: root) where !name.hasSuffix("-shm") {
                result[name] = FileManager.default.contents(atPath: root + "/" + name) ?? Data()
            }
            return result
        }
        let before = try bytes()
        for isModuloKeys in [false, true] { _ = try folder.compare(isModuloKeys: isModuloKeys) }
        #expect(try bytes().filter { !$0.value.isEmpty } == before.filter { !$0.value.isEmpty })
        let temporary = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        let left = try FileManager.default.contentsOfDirectory(atPath: temporary).filter {
            $0.hasPrefix(".causeway-compare-\(ProcessInfo.processInfo.processIdentifier)-")
        }
        #expect(left.isEmpty)
    }
}
