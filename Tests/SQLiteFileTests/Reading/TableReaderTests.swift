import CausewaySQLite
import CausewaySQLiteFile
import Testing

@Suite("Tables read from their pages", .timeLimit(.minutes(60)))
struct TableReaderTests {
    static let pageSizes = [512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536]

    static func start(_ pageSize: Int, autoVacuum: Int = 0) -> [String] {
        [
            "PRAGMA page_size = \(pageSize)", "PRAGMA auto_vacuum = \(autoVacuum)",
            "CREATE TABLE t(a, b, c)", "CREATE TABLE u(a, b, c)",
        ]
    }

    /// Two tables of rows of all storage classes, their pages interleaved; some chains of overflow pages.
    static func interleaved(_ pageSize: Int, autoVacuum: Int) throws -> PageFixture {
        let fixture = try PageFixture(start(pageSize, autoVacuum: autoVacuum))
        var numbers = SeededNumbers(UInt64(pageSize + autoVacuum))
        var first: Int64 = -40
        for _ in 0..<6 {
            for table in ["t", "u"] {
                let rows = numbers.rows(60, width: 3, longest: min(pageSize, 5_000), from: first)
                try fixture.insert(rows, into: table, columns: "rowid, a, b, c")
            }
            first += 200
        }
        return fixture
    }

    static let query = "SELECT rowid, a, b, c FROM t ORDER BY rowid"

    @Test("are what SELECT gives", arguments: pageSizes, [0, 1, 2])
    func equalSelect(pageSize: Int, autoVacuum: Int) throws {
        let fixture = try Self.interleaved(pageSize, autoVacuum: autoVacuum)
        let file = try fixture.pages()
        // One pass over the file: no page is in both tables.
        let claims = PageClaims(pageCount: file.layout.pageCount)
        for table in ["t", "u"] {
            let rows = try read(table: fixture.root(of: table), of: file, claims: claims)
            #expect(try rows == fixture.select("SELECT rowid, a, b, c FROM \(table) ORDER BY rowid"))
        }
        let schema = try read(table: 1, of: file, claims: claims)
        #expect(try schema == fixture.select("SELECT rowid, * FROM sqlite_schema"))
    }

    @Test("payloads around every overflow threshold", arguments: pageSizes)
    func thresholds(pageSize: Int) throws {
        let fixture = try PageFixture(Self.start(pageSize))
        let most = pageSize - 35
        let least = (pageSize - 12) * 32 / 255 - 23
        let chained = pageSize - 4
        // A record has about three bytes of header before its blob.
        let limits = [
            most, least + chained, most + chained, least + 2 * chained, most + 2 * chained, least + 9 * chained,
        ]
        var numbers = SeededNumbers(3)
        var rows: [PlainRow] = []
        for length in limits.flatMap({ $0 - 12...$0 + 4 }) {
            rows.append(PlainRow(rowid: Int64(rows.count), cells: [.blob(numbers.bytes(length))]))
        }
        try fixture.insert(rows, into: "t", columns: "rowid, a")
        let found = try read(table: fixture.root(of: "t"), of: fixture.pages())
        #expect(found.map { PlainRow(rowid: $0.rowid, cells: [$0.cells[0]]) } == rows)
    }

    @Test("every payload length with small pages")
    func lengths() throws {
        let fixture = try PageFixture(Self.start(512))
        var numbers = SeededNumbers(4)
        let rows = (0..<1_700).map { PlainRow(rowid: Int64($0), cells: [.blob(numbers.bytes($0))]) }
        try fixture.insert(rows, into: "t", columns: "rowid, a")
        let found = try read(table: fixture.root(of: "t"), of: fixture.pages())
        #expect(found.map { PlainRow(rowid: $0.rowid, cells: [$0.cells[0]]) } == rows)
    }

    @Test("tables after rows were deleted, moved and made larger", arguments: [512, 4_096, 65_536], [0, 1, 2])
    func holes(pageSize: Int, autoVacuum: Int) throws {
        let fixture = try Self.interleaved(pageSize, autoVacuum: autoVacuum)
        try fixture.run([
            "DELETE FROM t WHERE rowid % 3 = 0", "UPDATE t SET a = 'a' || a WHERE rowid % 5 = 1",
            "UPDATE t SET c = NULL WHERE rowid % 7 = 2", "INSERT INTO t(a) SELECT b FROM u WHERE rowid % 4 = 1",
            "DELETE FROM u WHERE rowid > 100", "PRAGMA incremental_vacuum(3)",
            "INSERT INTO t(rowid, b) SELECT -100000 - rowid, c FROM u",
        ])
        let found = try read(table: fixture.root(of: "t"), of: fixture.pages())
        #expect(try found == fixture.select(Self.query))
    }

    @Test("deep trees of small pages")
    func deep() throws {
        let fixture = try PageFixture(Self.start(512))
        let first = Int64.max - 60_000
        let rows = (0..<9_000).map { PlainRow(rowid: first + Int64($0) * 5, cells: [.text("row \($0) of many")]) }
        try fixture.insert(rows, into: "t", columns: "rowid, a")
        let found = try read(table: fixture.root(of: "t"), of: fixture.pages())
        #expect(try found == fixture.select(Self.query))
    }

    @Test("tables with no row, and with one", arguments: [0, 1], pageSizes)
    func small(count: Int, pageSize: Int) throws {
        let fixture = try PageFixture(Self.start(pageSize))
        let rows = (0..<count).map { PlainRow(rowid: Int64($0), cells: [.null, .integer(7), .null]) }
        try fixture.insert(rows, into: "t", columns: "rowid, a, b, c")
        #expect(try read(table: fixture.root(of: "t"), of: fixture.pages()) == rows)
    }

    @Test("the schema table, whose root comes after the file's header", arguments: [512, 1_024])
    func schema(pageSize: Int) throws {
        let fixture = try PageFixture(
            ["PRAGMA page_size = \(pageSize)"]
                + (1...90).map { "CREATE TABLE t\($0)(a, \(String(repeating: "b", count: $0 * 11)))" })
        let rows = try read(table: 1, of: fixture.pages())
        #expect(rows.count == 90)
        #expect(try rows == fixture.select("SELECT rowid, * FROM sqlite_schema"))
    }

    @Test("a table that became empty")
    func emptied() throws {
        let fixture = try Self.interleaved(512, autoVacuum: 0)
        try fixture.run(["DELETE FROM t WHERE rowid < 100000"])
        #expect(try read(table: fixture.root(of: "t"), of: fixture.pages()).isEmpty)
    }

    @Test("records have as many columns as the table had when they were written")
    func shortRecords() throws {
        let fixture = try PageFixture([
            "CREATE TABLE t(a, b)", "INSERT INTO t VALUES(1, 'x')", "ALTER TABLE t ADD COLUMN c DEFAULT 'new'",
            "INSERT INTO t VALUES(2, NULL, 'y')",
        ])
        let rows = try read(table: fixture.root(of: "t"), of: fixture.pages())
        #expect(rows.map(\.cells) == [[.integer(1), .text("x")], [.integer(2), .null, .text("y")]])
    }

    @Test("the smallest and the largest rowids, and INTEGER PRIMARY KEY columns")
    func extremes() throws {
        let keys: [Int64] = [.min, .min + 1, -70_000, -1, 0, 1, 127, 128, 1 << 56, .max - 1, .max]
        let fixture = try PageFixture(["CREATE TABLE t(id INTEGER PRIMARY KEY, a)"])
        try fixture.insert(keys.map { PlainRow(rowid: $0, cells: [.integer($0)]) }, into: "t", columns: "id, a")
        let file = try fixture.pages()
        let root = try fixture.root(of: "t")
        #expect(try read(table: root, of: file) == keys.map { PlainRow(rowid: $0, cells: [.null, .integer($0)]) })
        for key in keys {
            let rows = try read(table: root, of: file, after: key)
            #expect(rows.map(\.rowid) == keys.filter { $0 > key })
        }
    }
}
