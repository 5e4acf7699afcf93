import Causeway
import Foundation
import Testing

/// Two stores with the same keys: one change in one of them is found, and nothing else.
@Suite("Comparing by keys", .timeLimit(.minutes(60)))
struct CellTests {
    /// A change, and the place where a comparison must find it.
    struct Change: CustomTestStringConvertible, Sendable {
        let sql: String
        let place: String
        var kind = StoreComparison.Kind.attribute
        var classes = 0
        var testDescription: String { sql }
    }

    private static let first = "(SELECT min(Z_PK) FROM ZWORK)"

    static let changes = [
        Change(sql: "UPDATE ZWORK SET ZTITLE = 'x' WHERE Z_PK = \(first)", place: "title"),
        Change(sql: "UPDATE ZWORK SET ZTITLE = CAST('x' AS BLOB) WHERE Z_PK = \(first)", place: "title", classes: 1),
        Change(sql: "UPDATE ZWORK SET ZPAGES = 'many' WHERE Z_PK = \(first)", place: "pages", classes: 1),
        Change(sql: "UPDATE ZWORK SET ZPAGES = 0.5 WHERE Z_PK = \(first)", place: "pages", classes: 1),
        Change(sql: "UPDATE ZWORK SET ZPAGES = NULL WHERE Z_PK = \(first)", place: "pages"),
        Change(
            sql: "UPDATE ZWORK SET ZAUTHOR = ifnull(ZAUTHOR, 0) + 1 WHERE Z_PK = \(first)", place: "author",
            kind: .toOne),
        Change(
            sql: "UPDATE ZWORK SET Z_FOK_AUTHOR = ifnull(Z_FOK_AUTHOR, 0) + 1 WHERE Z_PK = \(first)", place: "author",
            kind: .place),
        Change(
            sql: "UPDATE ZWORK SET ZCOVER = x'0142' WHERE Z_PK = \(first)", place: "cover", kind: .external),
    ]

    @Test("a changed cell is found, with its key and its kind", arguments: changes)
    func cell(_ change: Change) throws {
        let folder = try StoreFolder()
        try folder.twins()
        // Values that the change can't happen to equal.
        try folder.change("UPDATE ZWORK SET ZPAGES = 7, ZTITLE = 't', ZCOVER = x'0100'", in: "a.sqlite")
        try folder.change("UPDATE ZWORK SET ZPAGES = 7, ZTITLE = 't', ZCOVER = x'0100'")
        try folder.change(change.sql)
        let comparison = try folder.compare()
        #expect(!comparison.isEqual)
        let differing = comparison.entities.filter(\.differs)
        let entity = try #require(differing.first)
        #expect(differing.count == 1 && comparison.places.count == 1, "\(comparison.places)")
        let property = try #require(entity.properties.first)
        #expect(property.name == change.place && property.kind == change.kind)
        #expect(property.rows.count == 1 && property.storageClasses == change.classes)
        let key = try folder.value("SELECT min(Z_PK) FROM ZWORK")
        #expect(property.rows.keys.map { "\($0)" } == [key])
        #expect(entity.rowsInA == entity.rowsInB && entity.onlyInA.count == 0 && entity.onlyInB.count == 0)
    }

    @Test("reals are compared by their bits")
    func reals() throws {
        let folder = try StoreFolder()
        try folder.twins()
        // The nearest number above.
        try folder.change("UPDATE ZAUTHOR SET ZSCORE = 1.0", in: "a.sqlite")
        try folder.change("UPDATE ZAUTHOR SET ZSCORE = 1.0000000000000002")
        #expect(try folder.compare().places == ["Author.score"])
    }

    @Test("a store equals itself and its copy, with and without keys")
    func same() throws {
        let folder = try StoreFolder()
        try folder.twins()
        for isModuloKeys in [false, true] {
            let comparison = try folder.compare(isModuloKeys: isModuloKeys)
            #expect(comparison.isEqual, "\(comparison.places)")
            #expect(comparison.a.rows == comparison.b.rows && comparison.a.rows > 100)
            #expect(comparison.notes == [])
            #expect(comparison.entities.map(\.name) == ["Author", "Novel", "Shelf", "Tag", "Tool", "Work"])
        }
    }

    @Test("rows that only one store has, the first five by key")
    func rows() throws {
        let folder = try StoreFolder()
        try folder.twins()
        let count = try #require(Int(try folder.value("SELECT count(*) FROM ZTAG")))
        try folder.change("DELETE FROM ZTAG; DELETE FROM \(try folder.value(Self.join))")
        let comparison = try folder.compare()
        let tag = try #require(comparison.entities.first { $0.name == "Tag" })
        #expect(tag.onlyInA.count == count && tag.onlyInA.keys == Array(1...5) && tag.onlyInB.count == 0)
        let links = try #require(comparison.relationships.first)
        #expect(links.name == "Tag.works" && links.inverse == "Work.tags")
        #expect(links.countInB == 0 && links.onlyInA == links.countInA && links.firstOnlyInA.count <= 5)
    }

    private static let join = "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'"

    @Test("a link, and the place of one, in a join table")
    func joins() throws {
        let folder = try StoreFolder()
        try folder.twins()
        let table = try folder.value(Self.join)
        let order = try folder.value(
            "SELECT name FROM pragma_table_info('\(table)') WHERE name LIKE 'Z_FOK%'")
        try folder.change(
            "UPDATE \(table) SET \(order) = ifnull(\(order), 0) + 1 WHERE rowid = (SELECT min(rowid) FROM \(table))")
        var comparison = try folder.compare()
        #expect(comparison.places == ["Tag.works"])
        #expect(comparison.relationships.first?.places == 1 && comparison.relationships.first?.onlyInA == 0)
        try folder.change("DELETE FROM \(table) WHERE rowid = (SELECT max(rowid) FROM \(table))")
        comparison = try folder.compare()
        #expect(comparison.relationships.first?.onlyInA == 1 && comparison.relationships.first?.onlyInB == 0)
    }

    @Test("the app's own tables are compared as a whole")
    func appTables() throws {
        let folder = try StoreFolder()
        try folder.twins()
        let table = "CREATE TABLE own (a, b); INSERT INTO own VALUES (1, 'x'), (2, 'y')"
        try folder.change(table, in: "a.sqlite")
        #expect(try folder.compare().places == ["own"])
        try folder.change(table)
        #expect(try folder.compare().isEqual)
        try folder.change("UPDATE own SET b = 'z' WHERE a = 2")
        let comparison = try folder.compare()
        #expect(comparison.tables.first { $0.name == "own" }?.rowsDiffer == true)
    }

    private static func hexadecimal(_ data: Data) -> String {
        data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test("external data are compared by content, wherever they are")
    func external() throws {
        let folder = try StoreFolder()
        try folder.twins()
        let data = Data(repeating: 0x42, count: 3_000)
        let root = folder.url
        func write(_ name: String, in store: String, _ data: Data) throws {
            let files = root.appending(path: ".\(store)_SUPPORT/_EXTERNAL_DATA")
            try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
            try data.write(to: files.appending(path: name))
        }
        let names = ["11111111-2222-3333-4444-555555555555", "66666666-7777-8888-9999-AAAAAAAAAAAA"]
        for (name, store) in zip(names, ["a", "b"]) {
            try write(name, in: store, data)
            let reference = Self.hexadecimal(Data([2]) + Data(name.utf8) + Data([0]))
            try folder.change("UPDATE ZWORK SET ZCOVER = x'\(reference)'", in: store + ".sqlite")
        }
        for isModuloKeys in [false, true] { #expect(try folder.compare(isModuloKeys: isModuloKeys).isEqual) }
        // The same data in the row.
        try folder.change("UPDATE ZWORK SET ZCOVER = x'\(Self.hexadecimal(Data([1]) + data))'")
        for isModuloKeys in [false, true] { #expect(try folder.compare(isModuloKeys: isModuloKeys).isEqual) }
        try write(names[0], in: "a", data + Data([0]))
        #expect(try folder.compare().places == ["Work.cover", "Novel.cover"])
        #expect(try !folder.compare(isModuloKeys: true).isEqual)
        try FileManager.default.removeItem(atPath: folder.path(".a_SUPPORT/_EXTERNAL_DATA/" + names[0]))
        let comparison = try folder.compare()
        #expect(!comparison.isEqual && comparison.notes.contains { $0.contains("can't be read") })
    }

    @Test("entities are compared by name, whatever their numbers, and by table where their hierarchy differs")
    func numbers() async throws {
        let folder = try StoreFolder()
        try folder.makeModel()
        try folder.generate()
        try folder.makeModel("Front", more: "<entity name=\"Aardvark\"/>")
        try await migrate(folder, to: "Front")
        let comparison = try folder.compare()
        #expect(comparison.modelDifferences == ["Aardvark"])
        #expect(comparison.places == [], "\(comparison.places)")
        #expect(comparison.entities.contains { $0.name == "Novel" && $0.rowsInB > 0 })
    }

    @Test("an attribute that only one store has is named, and the others are compared")
    func attributes() async throws {
        let folder = try StoreFolder()
        try folder.makeModel()
        try folder.generate()
        try folder.makeModel(
            "More", replacing: "<entity name=\"Tool\">",
            by: "<entity name=\"Tool\"><attribute name=\"weight\" attributeType=\"Double\" optional=\"YES\"/>")
        try await migrate(folder, to: "More")
        try folder.change("UPDATE ZTOOL SET ZNAME = 'hammer' WHERE Z_PK = 1")
        let comparison = try folder.compare()
        #expect(comparison.modelDifferences == ["Tool"])
        let tool = try #require(comparison.entities.first { $0.name == "Tool" })
        #expect(tool.propertiesOnlyInB == ["weight"] && tool.propertiesOnlyInA == [])
        #expect(comparison.places == ["Tool.name"])
    }

    /// `b.sqlite`: `a.sqlite` migrated to another version of the model.
    private func migrate(_ folder: borrowing StoreFolder, to version: String) async throws {
        let bundle = folder.path("Versions.xcdatamodeld")
        try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
        for (name, place) in [("Books", "v1"), (version, "v2")] {
            try FileManager.default.copyItem(
                atPath: folder.path(name + ".xcdatamodel"), toPath: "\(bundle)/\(place).xcdatamodel")
        }
        var options = MigrationOptions()
        (options.target, options.output) = ("v2", folder.path("b.sqlite"))
        try await Migrator(store: folder.path("a.sqlite"), models: bundle, options: options).migrate()
    }
}
