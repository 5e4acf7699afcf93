import CausewaySQLite
import CausewaySQLiteFile
import Testing

@Suite("Indexes are built page by page", .timeLimit(.minutes(60))) struct IndexBuildingTests {
    /// Rows with one blob each; every blob has another length, which grows with the rowid.
    private static func rows(_ count: Int, length: (Int) -> Int) -> [MadeRow] {
        (0..<count).map { row in
            let number = [UInt8(row >> 16 & 0xff), UInt8(row >> 8 & 0xff), UInt8(row & 0xff)]
            return MadeRow(Int64(row) * 5 - 300, [.blob(number + MadeRow.pattern[row..<row + length(row)])])
        }
    }

    private static func entries(_ rows: [MadeRow]) -> [[CellValue]] {
        rows.map { $0.cells + [.integer($0.rowid)] }
    }

    private static func check(_ store: NewStore, _ rows: [MadeRow], _ note: Comment? = nil) throws {
        #expect(try store.check() == "ok", note)
        let found = try store.rows("SELECT a, rowid FROM t INDEXED BY i ORDER BY a")
        let isSame = found == entries(rows)
        #expect(isSame, note)
    }

    private static let schema = "CREATE TABLE t(a); CREATE INDEX i ON t(a)"

    /// Four entries per page: four levels.
    @Test("any number of entries gives a valid tree", arguments: [(0, 400), (1, 90), (2, 400)])
    func everyCount(autoVacuum: Int, length: Int) throws {
        let empty = try NewStore(pageSize: 512, autoVacuum: autoVacuum, Self.schema)
        let all = Self.rows(700) { length + $0 % 11 }
        for count in Array(0...130) + Array(622...628) {
            let rows = Array(all[..<count])
            let store = try NewStore(copying: empty)
            try store.build("t", rows)
            try store.build(index: "i", Self.entries(rows), pagesPerBatch: count % 4 == 0 ? 1 : count)
            try Self.check(store, rows, "\(count) entries")
        }
    }

    @Test("entries around every overflow threshold", arguments: TableBuildingTests.pageSizes, [0, 2])
    func thresholds(pageSize: Int, autoVacuum: Int) throws {
        let maximum = (pageSize - 12) * 64 / 255 - 23
        let minimum = (pageSize - 12) * 32 / 255 - 23
        let chain = pageSize - 4
        let corners = [8, 60, minimum, maximum, minimum + chain, maximum + chain, maximum + 2 * chain]
        let lengths = Set(corners.flatMap { $0 - 10...$0 + 3 }.filter { $0 >= 0 }).sorted()
        // Each length is in an interior cell too.
        let rows = Self.rows(lengths.count * (pageSize > 4_096 ? 1 : 3)) { lengths[$0 * 7 % lengths.count] }
        let store = try NewStore(pageSize: pageSize, autoVacuum: autoVacuum, Self.schema)
        try store.build("t", rows)
        try store.build(index: "i", Self.entries(rows), pagesPerBatch: autoVacuum == 0 ? 1 : 7)
        try Self.check(store, rows)
    }

    @Test("the batch limit doesn't change the leaves")
    func batches() throws {
        let rows = Self.rows(3_000) { 5 + $0 * 37 % 60 }
        let leaves = try [1, 2, 10, 10_000].map { limit in
            let store = try NewStore(pageSize: 512, autoVacuum: 0, Self.schema)
            try store.build("t", rows)
            try store.build(index: "i", Self.entries(rows), pagesPerBatch: limit)
            try Self.check(store, rows)
            // Their numbers, and so their places in the file, follow from the batches.
            let bytes = [UInt8](try store.bytes)
            let pages = Swift.stride(from: 0, to: bytes.count, by: 512).map { Array(bytes[$0..<$0 + 512]) }
            return Dictionary(pages.filter { $0[0] == 10 }.map { ($0, 1) }, uniquingKeysWith: +)
        }
        #expect(leaves[0].count > 100)
        for other in leaves.dropFirst() {
            let isSame = other == leaves[0]
            #expect(isSame)
        }
    }

    @Test("tables without rowid have the form of indexes; the shortest cells have four bytes")
    func withoutRowid() throws {
        let store = try NewStore(pageSize: 512, autoVacuum: 1, "CREATE TABLE t(a PRIMARY KEY) WITHOUT ROWID")
        let values: [CellValue] = [.integer(0), .integer(1)] + (2...500).map { .integer($0) } + [.text(""), .blob([])]
        try store.build(index: "t", values.map { [$0] })
        #expect(try store.check() == "ok")
        #expect(try store.rows("SELECT a FROM t ORDER BY a") == values.map { [$0] })
    }

    @Test("several columns, equal keys and all storage classes")
    func columns() throws {
        let store = try NewStore(
            pageSize: 1_024, autoVacuum: 2, "CREATE TABLE t(a, b); CREATE INDEX i ON t(b, a); CREATE INDEX j ON t(a)")
        let values: [CellValue] = [.null, .integer(0), .integer(1), .real(1.5), .integer(300), .text("x"), .blob([1])]
        let rows = (0..<2_100).map { MadeRow(Int64($0), [values[$0 / 300], .integer(Int64($0 % 2))]) }
        try store.build("t", rows)
        try store.build(index: "j", rows.map { [$0.cells[0], .integer($0.rowid)] })
        let sorted = rows.filter { $0.rowid % 2 == 0 } + rows.filter { $0.rowid % 2 == 1 }
        try store.build(index: "i", sorted.map { [$0.cells[1], $0.cells[0], .integer($0.rowid)] })
        #expect(try store.check() == "ok")
        #expect(try store.integer("SELECT count(*) FROM t INDEXED BY i WHERE b = 1 AND a = 'x'") == 150)
        #expect(try store.integer("SELECT count(*) FROM t INDEXED BY j WHERE a IS NULL") == 300)
    }
}
