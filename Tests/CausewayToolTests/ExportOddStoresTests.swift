import Causeway
import CausewaySQLite
import Foundation
import Testing

/// `export` of stores with odd values and names, and of stores that others use.
@Suite("Export of odd stores", .timeLimit(.minutes(60)))
struct ExportOddStoresTests {
    @Test("values that don't fit are written as they are; warnings name the attributes")
    func misfits() throws {
        let fixture = try ExportFixture()
        try Connection(path: fixture.store, mode: .readWrite, hardening: .own).execute(
            """
            UPDATE ZBOOK SET ZISNEW = 2 WHERE Z_PK = 1; UPDATE ZBOOK SET ZVOLUME = 70000 WHERE Z_PK = 2;
            UPDATE ZTAG SET ZLABEL = CAST(x'78FF' AS TEXT) WHERE Z_PK = 1
            """)
        let done = try fixture.export("Out")
        #expect(try fixture.text("Out/Book.jsonl").contains("\"isNew\":2,"))
        #expect(try fixture.text("Out/Comic.jsonl").contains("\"volume\":70000,"))
        #expect(try fixture.text("Out/Tag.jsonl").contains("\"label\":\"x\u{FFFD}\""))
        for (property, complaint, key) in [
            ("Book.isNew", "holds values that don't fit its type, written as they are,", 1),
            ("Comic.volume", "holds values that don't fit its type, written as they are,", 2),
            ("Tag.label", "holds text that isn't valid UTF-8, written with U+FFFD in its place,", 1),
        ] {
            #expect(done.output.contains("warning: \(property) \(complaint) in 1 row (p\(key))\n"), "\(done.output)")
        }
    }

    /// One entity with every name that an export adds.
    private static func namesakes() throws -> (models: ModelFolder, store: String) {
        let models = try ModelFolder()
        let names = ["id", "objectID", "objectURI", "entity", "entityName"]
        let link = """
            <relationship name="store" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="store" \
            inverseName="items" inverseEntity="store"/>
            """
        let links = """
            <relationship name="items" optional="YES" toMany="YES" ordered="YES" deletionRule="Nullify" \
            destinationEntity="Item" inverseName="store" inverseEntity="Item"/><relationship name="copies" \
            optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="store"/>
            """
        let item = ModelFolder.entity(
            "Item", (names + ["storePosition"]).map { ModelFolder.attribute($0) }.joined(), link)
        let part = "    <entity name=\"Part\" parentEntity=\"Item\"></entity>"
        try models.bundle("App", [("V1", [item, part, ModelFolder.entity("store", links)])], current: "V1")
        return (models, try models.store("Store.sqlite", of: "App.xcdatamodeld", version: "V1"))
    }

    @Test("names that are taken give way as the article says, and nothing is lost")
    func names() throws {
        let (models, store) = try Self.namesakes()
        let rows = try StoreInspection(store: store).rowCount
        let database = try ToolProcess(["export", store, "--output", models.path("Out.sqlite"), "--as", "sqlite"])
        #expect(database.status == 0, "\(database.errors)")
        let connection = try Connection(path: models.path("Out.sqlite"), mode: .readOnly, hardening: .own)
        var columns = try connection.prepare("SELECT name FROM pragma_table_info('Item')")
        var found: [String] = []
        while try columns.step() { found.append(try columns.string(at: 0) ?? "") }
        #expect(
            found.sorted() == [
                "Item_storePosition", "entity", "entityName", "entityName_2", "id", "objectID", "objectURI",
                "objectURI_2", "store", "storePosition",
            ])
        var counts = try connection.prepare(
            "SELECT (SELECT count(*) FROM Item) + (SELECT count(*) FROM store), (SELECT count(uuid) FROM store_2)")
        let hasCounts = try counts.step()
        #expect(hasCounts && counts.int64(at: 0) == rows && counts.int64(at: 1) == 1)
        let lines = try ToolProcess(["export", store, "--output", models.path("Out")])
        #expect(lines.status == 0, "\(lines.errors)")
        let text = try String(contentsOfFile: models.path("Out/Item.jsonl"), encoding: .utf8)
        #expect(text.hasPrefix("{\"objectURI_2\":\"x-coredata://"), "\(text.prefix(60))")
    }

    @Test("a salvage has a file for a relationship that is called like one of its own files")
    func relationshipFile() throws {
        let (models, store) = try Self.namesakes()
        try Connection(path: store, mode: .readWrite, hardening: .own).execute("UPDATE ZSTORE SET Z_PK = Z_PK")
        let run = try ToolProcess(["export", store, "--output", models.path("Out"), "--salvage", "--json"])
        let summary = try JSONDecoder().decode(SalvageSummary.self, from: Data(run.output.utf8))
        #expect(summary.rowCount == (try StoreInspection(store: store).rowCount))
        #expect(summary.links.allSatisfy { $0.file == "store.copies_2.jsonl" })
    }

    @Test("links that old frames of a -wal hold again are written once, and so is each that differs")
    func links() throws {
        let fixture = try ExportFixture()
        let copy = fixture.folder.path("Copy.sqlite")
        let connection = try Connection(path: fixture.store, mode: .readWrite, hardening: .own)
        try connection.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA wal_checkpoint")
        // There and back.
        for change in Array(repeating: ["+", "-"], count: 5).flatMap(\.self) {
            try connection.execute("UPDATE Z_2TAGS SET Z_4TAGS = Z_4TAGS \(change) 7 WHERE Z_2BOOKS = 2")
        }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: fixture.store + suffix, toPath: copy + suffix)
        }
        var log = try Data(contentsOf: URL(fileURLWithPath: copy + "-wal"))
        log[26] ^= 0xFF
        try log.write(to: URL(fileURLWithPath: copy + "-wal"))
        let run = try ToolProcess(["export", copy, "--salvage", "--output", fixture.folder.path("Out"), "--json"])
        let links = try #require(JSONDecoder().decode(SalvageSummary.self, from: Data(run.output.utf8)).links.first)
        // Three links in each of ten frames.
        #expect(links.rows == 4 && links.identicalCopies == 29)
        let lines = try fixture.text("Out/Book.tags.jsonl").split(separator: "\n")
        #expect(Set(lines).count == 4 && lines.contains { $0.contains("\"member\":\"U/Tag/p8\"") })
    }

    @Test("a folder that isn't there is what to make, not a reason to run again only")
    func noFolder() throws {
        let fixture = try ExportFixture()
        let run = try fixture.export("no/such/folder")
        #expect(run.status == 73)
        #expect(run.errors.contains("make the folder, or give another path"), "\(run.errors)")
    }

    @Test(
        "a salvage names the program that has the store open",
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd")))
    func user() throws {
        let fixture = try ExportFixture()
        let alone = try fixture.export("Alone", "--salvage")
        #expect(alone.status == 0 && !alone.output.contains("in use"), "\(alone.output)")
        let other = Process()
        other.executableURL = URL(fileURLWithPath: "/bin/sleep")
        other.arguments = ["600"]
        let file = try #require(FileHandle(forReadingAtPath: fixture.store))
        other.standardInput = file
        try other.run()
        try file.close()
        defer {
            // A thread of the tests may have passed its blocked SIGTERM on.
            kill(other.processIdentifier, SIGKILL)
            other.waitUntilExit()
        }
        let used = try fixture.export("Used", "--salvage")
        let name = "sleep (process \(other.processIdentifier))"
        #expect(used.status == 0 && used.output.contains("warning: the store is in use by \(name): "), "\(used.output)")
    }
}
