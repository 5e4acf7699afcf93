import Causeway
import CausewaySQLite
import Foundation
import Testing

/// `export`: what it writes, and what it refuses.
@Suite("Export", .timeLimit(.minutes(60)))
struct ExportCommandTests {
    private let fixture: ExportFixture

    init() throws {
        fixture = try ExportFixture()
    }

    @Test("JSON lines have every property, ordered links in order, and external values as files")
    func lines() throws {
        let done = try fixture.export("Out")
        #expect(done.status == 0, "\(done.errors)")
        #expect(
            try fixture.text("Out/Author.jsonl") == """
                {"objectID":"U/Author/p1","born":"2000-12-31T23:59:59.75Z","id":"00112233-4455-6677-8899-AABBCCDDEEFF",\
                "name":"Ann \\"A\\"","books":["U/Comic/p2","U/Book/p1"]}
                {"objectID":"U/Author/p2","born":"2001-01-01T01:00:00Z","id":null,"name":"Bob","books":[]}

                """)
        #expect(
            try fixture.text("Out/Book.jsonl") == """
                {"id":"U/Book/p1","cover":"AQI=","isNew":true,"price":"12.5","rating":0.1,"scan":"/w==","title":"One",\
                "author":"U/Author/p1","tags":["U/Tag/p1","U/Tag/p2"]}
                {"id":"U/Book/p3","cover":null,"isNew":null,"price":"4","rating":3.0,"scan":null,"title":"",\
                "author":"U/Author/p9","tags":[]}

                """)
        #expect(
            try fixture.text("Out/Comic.jsonl") == """
                {"id":"U/Comic/p2","cover":null,"isNew":false,"price":null,"rating":null,\
                "scan":{"file":"external/0A1B2C3D-0000-4000-8000-0123456789AB"},"title":"Two, \\"2\\"","volume":7,\
                "author":"U/Author/p1","tags":["U/Tag/p1"]}

                """)
        #expect(
            try fixture.text("Out/Tag.jsonl") == """
                {"id":"U/Tag/p1","label":"x","books":["U/Book/p1","U/Comic/p2"]}
                {"id":"U/Tag/p2","label":null,"books":["U/Book/p1"]}

                """)
        #expect(try fixture.text("Out/external/0A1B2C3D-0000-4000-8000-0123456789AB") == "scan")
        #expect(
            done.output == """
                \(fixture.folder.path("Out")): 7 rows of 4 entities, 1 external file
                  ENTITY  ROWS  IN
                  Author     2  Author.jsonl
                  Book       2  Book.jsonl
                  Comic      1  Comic.jsonl
                  Tag        2  Tag.jsonl

                """)
    }

    @Test("CSV has a header, quotes where they are needed, and files for links that no column tells")
    func csv() throws {
        let done = try fixture.export("Out", "--as", "csv")
        #expect(done.status == 0, "\(done.errors)")
        #expect(
            try fixture.text("Out/Book.csv") == """
                id,cover,isNew,price,rating,scan,title,author\r
                U/Book/p1,AQI=,true,12.5,0.1,/w==,One,U/Author/p1\r
                U/Book/p3,,,4,3.0,,"",U/Author/p9\r

                """)
        #expect(
            try fixture.text("Out/Comic.csv") == """
                id,cover,isNew,price,rating,scan,title,volume,author\r
                U/Comic/p2,,false,,,external/0A1B2C3D-0000-4000-8000-0123456789AB,"Two, ""2""\",7,U/Author/p1\r

                """)
        #expect(
            try fixture.text("Out/Author.books.csv")
                == "owner,member\r\nU/Author/p1,U/Comic/p2\r\nU/Author/p1,U/Book/p1\r\n")
        #expect(
            try fixture.text("Out/Book.tags.csv") == "owner,member\r\nU/Book/p1,U/Tag/p1\r\nU/Book/p1,U/Tag/p2\r\n")
    }

    @Test("a database has readable names, views for subentities, and foreign keys that hold")
    func database() throws {
        let done = try fixture.export("Out.sqlite", "--as", "sqlite")
        #expect(done.status == 0, "\(done.errors)")
        #expect(
            done.output.contains("warning: Book.author leads to rows that aren't there, written as NULL, in 1 row (p3)")
        )
        let connection = try Connection(path: fixture.folder.path("Out.sqlite"), mode: .readOnly, hardening: .own)
        func rows(_ sql: String) throws -> [String] {
            var statement = try connection.prepare(sql)
            let count = statement.columnCount
            var result: [String] = []
            while try statement.step() {
                var cells: [String] = []
                for column in 0..<count { cells.append(try statement.string(at: column) ?? "NULL") }
                result.append(cells.joined(separator: "|"))
            }
            return result
        }
        #expect(try rows("PRAGMA foreign_key_check") == [])
        #expect(
            try rows("SELECT objectID, born, id, name FROM Author") == [
                "1|2000-12-31T23:59:59.75Z|00112233-4455-6677-8899-AABBCCDDEEFF|Ann \"A\"",
                "2|2001-01-01T01:00:00Z|NULL|Bob",
            ])
        #expect(
            try rows("SELECT id, entity, author, price, isNew, hex(cover), title FROM Book") == [
                "1|Book|1|12.5|1|0102|One", "2|Comic|1|NULL|0||Two, \"2\"", "3|Book|NULL|4|NULL||",
            ])
        #expect(try rows("SELECT id, volume, scan FROM Comic") == ["2|7|scan"])
        #expect(
            try rows("SELECT title FROM Book WHERE author = 1 ORDER BY authorPosition") == ["Two, \"2\"", "One"])
        #expect(try rows("SELECT owner, member FROM Book_tags") == ["1|1", "1|2", "2|1"])
        #expect(try rows("SELECT uuid FROM store") == [fixture.uuid])
        #expect(
            try rows("SELECT \"table\" FROM pragma_foreign_key_list('Book_tags') ORDER BY 1") == ["Book", "Tag"])
    }

    @Test("in a database the attribute has its name, and the place of an ordered link gives way")
    func placeNames() throws {
        let models = try ModelFolder()
        let links = """
            <relationship name="parent" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Other" \
            inverseName="children" inverseEntity="Other"/><relationship name="children" optional="YES" toMany="YES" \
            ordered="YES" deletionRule="Nullify" destinationEntity="Other" inverseName="parent" inverseEntity="Other"/>
            """
        try models.bundle(
            "App", [("V1", [ModelFolder.entity("Other", ModelFolder.attribute("parentPosition", "Decimal"), links)])],
            current: "V1")
        let store = try models.store("Store.sqlite", of: "App.xcdatamodeld", version: "V1")
        let output = models.path("out.sqlite")
        let run = try ToolProcess(["export", store, "--output", output, "--as", "sqlite"])
        #expect(run.status == 0, "\(run.errors)")
        let connection = try Connection(path: output, mode: .readOnly, hardening: .own)
        var columns = try connection.prepare("SELECT name || ' ' || type FROM pragma_table_info('Other')")
        var found: [String] = []
        while try columns.step() { found.append(try columns.string(at: 0) ?? "") }
        #expect(found.contains("parentPosition TEXT") && found.contains("Other_parentPosition INTEGER"), "\(found)")
    }

    @Test("one entity's rows go to standard output, with its subentities'")
    func stream() throws {
        let done = try fixture.export("-", "--entity", "Book", "--where", "title BEGINSWITH 'T' OR price > 10")
        #expect(done.status == 0, "\(done.errors)")
        #expect(
            fixture.short(done.output).split(separator: "\n").map { $0.prefix(16) } == [
                "{\"id\":\"U/Book/p1", "{\"id\":\"U/Comic/p",
            ])
        #expect(done.output.contains("\"scan\":\"c2Nhbg==\""))
    }

    @Test("a predicate follows links, and a limit counts for each entity")
    func choice() throws {
        let filtered = try fixture.export(
            "Out", "--entity", "Book", "--where", "author.name BEGINSWITH 'Ann'", "--json")
        let summary = try JSONDecoder().decode(ExportSummary.self, from: Data(filtered.output.utf8))
        #expect(summary.entities.map(\.name) == ["Book", "Comic"] && summary.entities.map(\.rows) == [1, 1])
        let limited = try fixture.export("Out2", "--limit", "1", "--json")
        let counts = try JSONDecoder().decode(ExportSummary.self, from: Data(limited.output.utf8)).entities.map(\.rows)
        #expect(counts == [1, 1, 1, 1])
        let partial = try fixture.export("Part.sqlite", "--as", "sqlite", "--entity", "Book", "--limit", "1")
        #expect(partial.status == 0, "\(partial.errors)")
        let connection = try Connection(path: fixture.folder.path("Part.sqlite"), mode: .readOnly, hardening: .own)
        var links = try connection.prepare("SELECT count(*), (SELECT count(*) FROM Book) FROM Book_tags")
        let hasRow = try links.step()
        let counted = [links.int64(at: 0), links.int64(at: 1)]
        #expect(hasRow && counted == [3, 2])
    }

    @Test("what can't be done is refused, and nothing is left behind")
    func refusals() throws {
        let cases: [([String], Int32, String)] = [
            (["--output", "Out", "--entity", "Bok"], 64, "the model has no entity of that name; did you mean `Book`?"),
            (["--output", "Out", "--entity", "Book", "--where", "pages > 3"], 64, "pages"),
            (["--output", "Out", "--where", "title =="], 64, "--where"),
            (["--output", "-"], 64, "standard output takes the rows of one entity"),
            (["--output", "-", "--as", "csv", "--entity", "Tag"], 64, "only JSON lines"),
            (["--output", "Library.sqlite"], 73, "already exists"),
            (["--output", "no/such/folder"], 73, "can't be reached"),
            (["--output", "Out", "--salvage", "--as", "sqlite"], 64, "--salvage writes"),
        ]
        let before = try fixture.folder.content()
        for (arguments, status, words) in cases {
            let done = try ToolProcess(["export", fixture.store] + arguments, in: fixture.folder.url)
            #expect(done.status == status && done.errors.contains(words), "\(arguments): \(done.status) \(done.errors)")
        }
        #expect(try fixture.folder.content() == before)
    }

    @Test("columns and tables that the model doesn't know are named")
    func unknown() throws {
        try Connection(path: fixture.store, mode: .readWrite, hardening: .own).execute(
            "ALTER TABLE ZTAG ADD COLUMN ZEXTRA INTEGER; CREATE TABLE mine (a)")
        let done = try fixture.export("Out")
        #expect(done.status == 0, "\(done.errors)")
        #expect(done.output.contains("warning: ZTAG: columns that the model doesn't know, left out: ZEXTRA"))
        #expect(done.output.contains("warning: tables that aren't the model's, left out: mine"), "\(done.output)")
    }

    @Test("a store without a model is refused")
    func noModel() throws {
        try Connection(path: fixture.store, mode: .readWrite, hardening: .own).execute("DROP TABLE Z_MODELCACHE")
        let done = try fixture.export("Out")
        #expect(done.status == 66 && done.errors.contains("--models"), "\(done.errors)")
        let given = try fixture.export("Out", "--models", fixture.folder.path("Library.xcdatamodel"))
        #expect(given.status == 0, "\(given.errors)")
    }
}
