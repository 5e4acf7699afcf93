import CausewaySQLite
import CausewaySQLiteFile
import Testing

@Suite("Tables read from their pages", .timeLimit(.minutes(60)))
struct TableReaderTests {
    static let pageSizes = [512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536]

    /// Rows of all storage classes and of sizes around several overflow thresholds; `count` in table `t`.
    static func script(pageSize: Int, autoVacuum: Int, count: Int) -> [String] {
        let local = pageSize - 35
        return [
            "PRAGMA page_size = \(pageSize)", "PRAGMA auto_vacuum = \(autoVacuum)", "BEGIN",
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b TEXT, c BLOB, d REAL)",
            "CREATE TABLE other(id INTEGER PRIMARY KEY, a)", "CREATE INDEX ti ON t(b, a)",
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO t SELECT i * 7 - \(count), CASE i % 6 WHEN 0 THEN NULL WHEN 1 THEN i WHEN 2 THEN i * 1.5
              WHEN 3 THEN 'é' || i WHEN 4 THEN randomblob(i % 9) ELSE -i * 40000000000 END, 'text ' || i,
              CASE WHEN i % 23 = 0 THEN zeroblob(\(local) - 40 + i % 80) WHEN i % 41 = 0 THEN randomblob(i * 13 % 20000)
              ELSE NULL END, i % 3 FROM n
            """,
            "INSERT INTO other SELECT id, b FROM t", "COMMIT",
        ]
    }

    @Test("are what SELECT gives", arguments: pageSizes, [0, 1, 2])
    func equalSelect(pageSize: Int, autoVacuum: Int) throws {
        let fixture = try PageFixture(Self.script(pageSize: pageSize, autoVacuum: autoVacuum, count: 700))
        let file = try fixture.pages()
        let claims = PageClaims(pageCount: file.layout.pageCount)
        let rows = try read(table: fixture.root(of: "t"), of: file, claims: claims)
        #expect(
            try rows == fixture.select("SELECT id, NULL, a, b, c, iif(d = 0, 0, iif(d = 1, 1, 2)) FROM t ORDER BY id"))
        let others = try read(table: fixture.root(of: "other"), of: file, claims: claims)
        #expect(try others == fixture.select("SELECT id, NULL, a FROM other ORDER BY id"))
        let entries = try read(index: fixture.root(of: "ti"), of: file, claims: claims)
        #expect(
            try entries == fixture.select("SELECT b, a, id FROM t INDEXED BY ti ORDER BY b, a, id", hasRowid: false))
    }
}
