import CausewaySQLite
import CausewaySQLiteFile
import Testing

@Suite("Indexes read from their pages", .timeLimit(.minutes(60)))
struct IndexReaderTests {
    /// The definition after `CREATE INDEX i`, the columns of its entries, and the order of the scan.
    static let indexes = [
        ("ON t(a)", "a, rowid", "a, rowid"), ("ON t(c, b)", "c, b, rowid", "c, b, rowid"),
        ("ON t(b DESC, a)", "b, a, rowid", "b DESC, a, rowid"),
    ]

    @Test("give their entries in order", arguments: indexes.indices, TableReaderTests.pageSizes)
    func entries(index: Int, pageSize: Int) throws {
        let fixture = try TableReaderTests.interleaved(pageSize, autoVacuum: pageSize == 1_024 ? 1 : 0)
        let (definition, columns, order) = Self.indexes[index]
        try fixture.run(["CREATE INDEX i \(definition)"])
        let expected = try fixture.select("SELECT 0, \(columns) FROM t INDEXED BY i ORDER BY \(order)")
        #expect(expected.count == 360)
        let file = try fixture.pages()
        let root = try fixture.root(of: "i")
        #expect(try read(index: root, of: file) == expected)
        for limits in [
            ReadingLimits(rows: 1), ReadingLimits(rows: 7), ReadingLimits(bytes: 1), ReadingLimits(bytes: 9_000),
        ] {
            #expect(try read(index: root, of: file, limits) == expected)
        }
    }

    @Test("keys around every overflow threshold, in leaves and above them", arguments: [512, 1_024, 4_096, 65_536])
    func thresholds(pageSize: Int) throws {
        let fixture = try PageFixture(TableReaderTests.start(pageSize) + ["CREATE INDEX i ON t(a)"])
        let most = (pageSize - 12) * 64 / 255 - 23
        let least = (pageSize - 12) * 32 / 255 - 23
        let chained = pageSize - 4
        var numbers = SeededNumbers(5)
        var lengths = [most, least + chained, most + chained, least + 3 * chained].flatMap { $0 - 12...$0 + 4 }
        lengths.shuffle(using: &numbers)
        let rows = (lengths + lengths).enumerated().map { index, length in
            PlainRow(rowid: Int64(index), cells: [.blob(numbers.bytes(length))])
        }
        try fixture.insert(rows, into: "t", columns: "rowid, a")
        let expected = try fixture.select("SELECT 0, a, rowid FROM t INDEXED BY i ORDER BY a, rowid")
        #expect(try read(index: fixture.root(of: "i"), of: fixture.pages()) == expected)
    }

    @Test("a table WITHOUT ROWID has the same form")
    func withoutRowid() throws {
        let fixture = try PageFixture([
            "PRAGMA page_size = 512", "CREATE TABLE w(x, k, y, PRIMARY KEY(k, x)) WITHOUT ROWID",
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
            INSERT INTO w SELECT i, 'key ' || i * 37 % 101, zeroblob(i) FROM n
            """,
        ])
        let expected = try fixture.select("SELECT 0, k, x, y FROM w ORDER BY k, x")
        #expect(try read(index: fixture.root(of: "w"), of: fixture.pages()) == expected)
    }

    @Test("of nothing, of one entry, and of a tree that shrank")
    func small() throws {
        let fixture = try PageFixture(TableReaderTests.start(512) + ["CREATE INDEX i ON t(a)"])
        let root = try fixture.root(of: "i")
        #expect(try read(index: root, of: fixture.pages()).isEmpty)
        try fixture.run(["INSERT INTO t VALUES('x', 1, 2)"])
        #expect(try read(index: root, of: fixture.pages()).map(\.cells) == [[.text("x"), .integer(1)]])
        var numbers = SeededNumbers(8)
        try fixture.insert(numbers.rows(500, width: 1, longest: 300), into: "t", columns: "rowid, a")
        try fixture.run(["DELETE FROM t WHERE rowid % 8 <> 3"])
        let expected = try fixture.select("SELECT 0, a, rowid FROM t INDEXED BY i ORDER BY a, rowid")
        #expect(try read(index: root, of: fixture.pages()) == expected)
    }
}
