import CausewaySQLite
import CausewaySQLiteFile
import Testing

@Suite("Batches of a table's rows", .timeLimit(.minutes(60)))
struct TableBatchTests {
    private static let limitSets = [
        ReadingLimits(rows: 1), ReadingLimits(rows: 2), ReadingLimits(rows: 7), ReadingLimits(rows: 50, bytes: 3_000),
        ReadingLimits(bytes: 1), ReadingLimits(bytes: 600), ReadingLimits(bytes: 5_000), ReadingLimits(bytes: .max),
        ReadingLimits(rows: 0, bytes: 0),
    ]

    @Test("hold the same rows whatever the limits", arguments: limitSets.indices, [512, 4_096])
    func limits(_ index: Int, pageSize: Int) throws {
        let fixture = try TableReaderTests.interleaved(pageSize, autoVacuum: 1)
        let limits = Self.limitSets[index]
        let file = try fixture.pages()
        let root = try fixture.root(of: "t")
        #expect(try read(table: root, of: file, limits) == fixture.select(TableReaderTests.query))
    }

    @Test("end in the same places for a reader that begins after one of them", arguments: limitSets.indices)
    func resume(_ index: Int) throws {
        let fixture = try TableReaderTests.interleaved(1_024, autoVacuum: 0)
        // Leaves then end before the rowid that the page above gives them.
        try fixture.run(["DELETE FROM t WHERE rowid % 4 < 2"])
        let limits = Self.limitSets[index]
        let file = try fixture.pages()
        let root = try fixture.root(of: "t")
        func ends(after rowid: Int64?) throws -> [Int64] {
            var ends: [Int64] = []
            _ = try read(table: root, of: file, after: rowid, limits) { batch in
                if !batch.isEmpty { ends.append(batch.rowid(at: batch.count - 1)) }
            }
            return ends
        }
        let all = try ends(after: nil)
        for (index, end) in all.enumerated() where index % 3 == 0 || index + 4 > all.count {
            #expect(try ends(after: end) == Array(all.dropFirst(index + 1)))
        }
    }

    @Test("begin after every row, and after rowids that aren't there", arguments: [512, 4_096])
    func seek(pageSize: Int) throws {
        let fixture = try TableReaderTests.interleaved(pageSize, autoVacuum: 2)
        let file = try fixture.pages()
        let root = try fixture.root(of: "t")
        let all = try fixture.select(TableReaderTests.query)
        let keys = Set(all.flatMap { [$0.rowid - 1, $0.rowid] } + [.min, .max, -1_000, 100_000])
        for key in keys {
            let claims = PageClaims(pageCount: file.layout.pageCount)
            var reader = TableReader(file, root: root, after: key, claims: claims)
            let batch = RowBatch()
            let hasMore = try reader.fill(batch, rows: 3, bytes: 1 << 20)
            let expected = all.filter { $0.rowid > key }
            #expect(try plainRows(of: batch) == Array(expected.prefix(3)), "after \(key)")
            #expect(hasMore || expected.count <= 3)
        }
    }

    @Test("are bounded where rows overflow, and where leaves are almost empty")
    func bounded() throws {
        let fixture = try PageFixture(TableReaderTests.start(4_096))
        var numbers = SeededNumbers(9)
        let long = (0..<60).map { PlainRow(rowid: Int64($0), cells: [.blob(numbers.bytes(30_000))]) }
        try fixture.insert(long, into: "t", columns: "rowid, a")
        let short = (0..<900).map { PlainRow(rowid: Int64($0), cells: [.blob(numbers.bytes(1_900))]) }
        try fixture.insert(short, into: "u", columns: "rowid, a")
        try fixture.run(["UPDATE u SET a = 1"])
        let file = try fixture.pages()
        for table in ["t", "u"] {
            var largest = 0
            let rows = try read(table: fixture.root(of: table), of: file, ReadingLimits(bytes: 65_536)) { batch in
                largest = max(largest, batch.byteCount)
            }
            #expect(rows.count == (table == "t" ? 60 : 900))
            // The limit, one more row, and leaves that were read ahead.
            #expect(largest <= 65_536 + 30_010 + 65_536)
        }
    }

    @Test("remove the last row without a change to other rows' pages")
    func removesLast() throws {
        let fixture = try TableReaderTests.interleaved(512, autoVacuum: 0)
        let file = try fixture.pages()
        let root = try fixture.root(of: "t")
        let batch = RowBatch()
        var reader = TableReader(file, root: root, claims: PageClaims(pageCount: file.layout.pageCount))
        while try reader.fill(batch, rows: .max, bytes: .max) {}
        let expected = try plainRows(of: batch)
        let byteCount = batch.byteCount
        for _ in 0..<40 { batch.removeLast() }
        #expect(batch.byteCount == byteCount)
        let record: [UInt8] = [2, 1, 77]
        try unsafe record.withUnsafeBytes { try unsafe batch.append(rowid: 7_000, record: $0) }
        #expect(batch.byteCount == byteCount + 3)
        batch.removeLast()
        #expect(batch.byteCount == byteCount)
        try unsafe record.withUnsafeBytes { try unsafe batch.append(rowid: 7_001, record: $0) }
        #expect(
            try plainRows(of: batch) == expected.dropLast(40) + [PlainRow(rowid: 7_001, cells: [.integer(77)])])
        batch.removeAll()
        try unsafe record.withUnsafeBytes { try unsafe batch.append(rowid: 1, record: $0) }
        batch.removeLast()
        #expect(batch.byteCount == 0)
    }

    @Test("are appended to rows that a batch has")
    func appends() throws {
        let fixture = try TableReaderTests.interleaved(1_024, autoVacuum: 0)
        let file = try fixture.pages()
        var reader = TableReader(
            file, root: try fixture.root(of: "t"), claims: PageClaims(pageCount: file.layout.pageCount))
        let batch = RowBatch()
        while try reader.fill(batch, rows: batch.count + 10, bytes: 700) {}
        #expect(try plainRows(of: batch) == fixture.select(TableReaderTests.query))
        #expect(try reader.fill(batch, rows: .max, bytes: .max) == false)
        #expect(try batch.count == fixture.select(TableReaderTests.query).count)
    }
}
