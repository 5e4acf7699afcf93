import CausewaySQLite
import CausewaySQLiteFile
import Testing

@Suite("Unique indexes", .timeLimit(.minutes(60))) struct UniqueIndexTests {
    /// Sorts rows by an index on their first columns; gives the number of entries.
    static func sort(_ rows: [MadeRow], columns: Int, memory: Int = 1 << 20) throws -> Int {
        let key = IndexKey((0..<columns).map { IndexKey.Column(.cell($0)) }, isUnique: true)
        let scratch = try NewStore(pageSize: 512, autoVacuum: 0, "CREATE TABLE t(a)")
        var sorter = try IndexSorter(key, memory: memory, scratchPath: scratch.path + "-sort")
        let batch = RowBatch()
        for row in rows { try row.append(to: batch) }
        try sorter.add(batch)
        var sorted = try sorter.sorted(pageSize: 512)
        let leaves = PackedLeaves(pageSize: 512)
        var count = 0
        var hasMore = true
        while hasMore {
            hasMore = try sorted.fill(leaves)
            count += leaves.rowCount
        }
        return count
    }

    private static let texts = (0..<900).map { MadeRow(Int64($0), [.text("name \($0 * 7919 % 900)"), .null]) }

    @Test("two rows with the same key are an error that names both", arguments: [1_024, 1 << 20])
    func duplicate(memory: Int) {
        let rows = Self.texts + [MadeRow(5_000, [.text("name 77"), .integer(1)])]
        let first = Self.texts.first { $0.cells[0] == .text("name 77") }?.rowid ?? -1
        let error = #expect(throws: IndexSortError.self) {
            try Self.sort(rows, columns: 1, memory: memory)
        }
        #expect(error?.code == .duplicate(first: first, second: 5_000))
    }

    /// What SQLite itself says about two rows.
    @Test(
        "keys are equal where SQLite says so",
        arguments: [
            [CellValue.integer(3), .real(3)], [.integer(1 << 53 + 1), .real(0x1p53)],
            [.integer(1 << 53), .real(0x1p53)],
            [.integer(.max), .real(0x1p63)], [.integer(.min), .real(-0x1p63)], [.real(0.0), .real(-0.0)],
            [.integer(0), .real(-0.0)], [.text("1"), .integer(1)], [.text("a"), .blob([97])], [.text(""), .blob([])],
            [.text(""), .text("")], [.blob([]), .blob([])], [.text("a"), .text("a\0")], [.null, .null],
            [.text("12345678"), .text("1234567")], [.text("12345678"), .text("12345678")],
            [.real(0.1), .real(0.1)], [.real(0.1), .real(0.1.nextUp)],
        ], [false, true])
    func equality(values: [CellValue], hasNull: Bool) throws {
        let rows = values.enumerated().map { MadeRow(Int64($0), [$1, hasNull ? .null : .integer(5)]) }
        let stock = try PageFixture(["CREATE TABLE t(a, b)"])
        let plain = rows.map { PlainRow(rowid: $0.rowid, cells: $0.cells) }
        try stock.insert(plain, into: "t", columns: "rowid, a, b")
        for (columns, list) in [(1, "a"), (2, "a, b")] {
            let isRefused = (try? stock.run(["CREATE UNIQUE INDEX i\(columns) ON t(\(list))"])) == nil
            do {
                #expect(try Self.sort(rows, columns: columns) == 2)
                #expect(!isRefused, "\(list)")
            } catch let error as IndexSortError {
                #expect(error.code == .duplicate(first: 0, second: 1))
                #expect(isRefused, "\(list)")
            }
        }
    }
}
