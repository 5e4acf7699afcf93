import Causeway
import CausewaySQLite
import Foundation
import Testing

/// `compare`: its report in every format and its exit status.
@Suite("Compare", .timeLimit(.minutes(60)))
struct CompareTests {
    private let place: RecipeFolder

    init() throws {
        place = try RecipeFolder()
        _ = try place.folder.copy(place.folder.path("Library.sqlite"), as: "Copy.sqlite")
    }

    private func compare(_ options: String...) throws -> ToolProcess {
        try ToolProcess(["compare", "Library.sqlite", "Copy.sqlite"] + options, in: place.folder.url)
    }

    private func change(_ sql: String) throws {
        try Connection(path: place.folder.path("Copy.sqlite"), mode: .readWrite, hardening: .own).execute(sql)
    }

    @Test("equal stores exit with 0 and say so", arguments: [[], ["--modulo-keys"], ["--models", "App.xcdatamodeld"]])
    func equal(options: [String]) throws {
        let run = try ToolProcess(["compare", "Library.sqlite", "Copy.sqlite"] + options, in: place.folder.url)
        #expect(run.status == 0 && run.errors == "", "\(run.errors)")
        #expect(run.output.contains("\nThe stores are equal"))
        #expect(!run.output.contains("Differences"))
        #expect(run.output.contains("version v1, 40 rows") == options.contains("--models"))
    }

    @Test("different stores exit with 1; the report names entities, attributes, keys, and no content")
    func different() throws {
        try change(
            """
            UPDATE ZNOTE SET ZTEXT = 'secret' WHERE Z_PK IN (2, 3, 4, 5, 6, 7);
            UPDATE ZNOTE SET ZTEXT = x'00' WHERE Z_PK = 8; DELETE FROM ZNOTE WHERE Z_PK = 40;
            CREATE TABLE own (a)
            """)
        let run = try compare()
        #expect(run.status == 1 && run.errors == "")
        let report = """

            The stores differ.

            Differences
              - Note: 1 row (p40) only in A
              - Note.text differs in 7 rows (p2, p3, p4, p5, p6, …); in 1 of them by storage class
              - the table own is only in B

            Equal: the rows of 0 of 1 entity, 0 of 1 other table.

            """
        #expect(run.output.hasSuffix(report), "\(run.output)")
        #expect(!run.output.contains("secret"))
        let markdown = try compare("--format", "markdown")
        #expect(markdown.status == 1 && markdown.output.hasPrefix("### The stores differ.\n"))
        #expect(markdown.output.contains("\n| `Note` | 40 | 39 | 1 | 0 |\n"), "\(markdown.output)")
        let json = try compare("--json")
        #expect(json.status == 1)
        let comparison = try JSONDecoder().decode(StoreComparison.self, from: Data(json.output.utf8))
        #expect(!comparison.isEqual && comparison.entities.first?.properties.first?.rows.count == 7)
    }

    @Test("where only links differ, what is equal are the rows", arguments: ["text", "markdown"])
    func equalRows(format: String) throws {
        let fixture = try ExportFixture()
        try FileManager.default.removeItem(atPath: fixture.folder.path(".Library_SUPPORT"))
        let copy = try fixture.folder.copy(fixture.store, as: "Copy.sqlite")
        try Connection(path: copy, mode: .readWrite, hardening: .own).execute(
            "DELETE FROM Z_2TAGS WHERE Z_2BOOKS = 1 AND Z_4TAGS = 2")
        let run = try ToolProcess(["compare", fixture.store, copy, "--format", format])
        #expect(run.status == 1 && run.output.contains("- Book.tags: 1 link (p1–p2) only in A\n"), "\(run.output)")
        let equal = "\nEqual: the rows of 4 of 4 entities, the links of 0 of 1 many-to-many relationship.\n"
        #expect(run.output.contains(equal), "\(run.output)")
    }

    @Test("a -wal that breaks off is a note")
    func brokenLog() throws {
        let (origin, copy) = (place.folder.path("Copy.sqlite"), place.folder.path("Cut.sqlite"))
        let connection = try Connection(path: origin, mode: .readWrite, hardening: .own)
        try connection.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA wal_checkpoint")
        for number in 1...5 { try connection.execute("UPDATE ZNOTE SET Z_OPT = \(number)") }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: origin + suffix, toPath: copy + suffix)
        }
        var log = try Data(contentsOf: URL(fileURLWithPath: copy + "-wal"))
        log[log.count / 2] ^= 0xFF
        try log.write(to: URL(fileURLWithPath: copy + "-wal"))
        let run = try ToolProcess(["compare", "Library.sqlite", "Cut.sqlite"], in: place.folder.url)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("Cut.sqlite-wal: commits that can be read: "), "\(run.output)")
    }

    @Test("a folder of temporary files that isn't there is named, and TMPDIR")
    func temporaryFolder() throws {
        let run = try ToolProcess(
            ["compare", "Library.sqlite", "Copy.sqlite", "--modulo-keys"], in: place.folder.url,
            environment: ["TMPDIR": "/nonexistent"])
        #expect(run.status == 73)
        #expect(run.errors.hasPrefix("error: /nonexistent: no temporary file can be made there: "), "\(run.errors)")
        #expect(run.errors.contains("TMPDIR") && !run.errors.contains("Library.sqlite"), "\(run.errors)")
    }

    @Test("markdown shows odd names as they are, on their line")
    func oddNames() throws {
        try change("DELETE FROM ZNOTE WHERE Z_PK = 40")
        let name = "od|d`\nname.sqlite"
        try FileManager.default.moveItem(
            atPath: place.folder.path("Copy.sqlite"), toPath: place.folder.path(name))
        let run = try ToolProcess(
            ["compare", "Library.sqlite", name, "--format", "markdown"], in: place.folder.url)
        #expect(run.output.contains("od\\|d' name.sqlite` |"), "\(run.output)")
        let text = try ToolProcess(["compare", "Library.sqlite", name], in: place.folder.url)
        #expect(text.output.contains("od|d`\\u{a}name.sqlite\n"), "\(text.output)")
    }

    @Test("by content: rows are counted, attributes named")
    func content() throws {
        try change("UPDATE ZNOTE SET Z_PK = Z_PK + 100; UPDATE ZNOTE SET ZTEXT = 'secret' WHERE Z_PK = 101")
        let run = try compare("--modulo-keys")
        #expect(run.status == 1)
        #expect(run.output.contains("  - Note: 1 row (p1) only in A\n  - Note: 1 row (p101) only in B\n"))
        #expect(run.output.contains("  - Note.text differs\n"), "\(run.output)")
    }

    @Test("stores of two versions: what the models and the rows have in common is compared")
    func versions() throws {
        let migrated = try ToolProcess(
            ["migrate", "Copy.sqlite", "--models", "App.xcdatamodeld"], in: place.folder.url)
        #expect(migrated.status == 0, "\(migrated.errors)")
        let run = try compare("--models", "App.xcdatamodeld")
        #expect(run.status == 1)
        #expect(run.output.contains("version v1,") && run.output.contains("version v3,"))
        #expect(
            run.output.contains(
                "  - the models differ in Note\n  - Note.more is only in B\n  - Note.rank is only in B\n"),
            "\(run.output)")
    }

    @Test("a store that can't be read has its own status, also as JSON")
    func failures() throws {
        let missing = try ToolProcess(["compare", "Library.sqlite", "none.sqlite", "--json"], in: place.folder.url)
        #expect(missing.status == 66 && missing.output.contains("\"event\":\"error\""))
        _ = try place.folder.write(Array(repeating: 65, count: 9_000), as: "Copy.sqlite")
        #expect(try compare().status == 65)
        #expect(try compare("--format", "github").status == 64)
    }
}
