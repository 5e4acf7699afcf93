import CausewaySQLite
import CausewaySQLiteFile
import Testing

@Suite("Entries that are hard to sort or to form", .timeLimit(.minutes(60))) struct HardIndexTests {
    private static let table = "CREATE TABLE t(a)"

    private static func store(_ rows: [PlainRow], _ pageSize: Int, isDescending: Bool = false) throws -> SortedStore {
        let index = MadeIndex(name: "i", columns: [(name: "a", isDescending: isDescending)])
        let stock = try PageFixture(["PRAGMA page_size = \(pageSize)", table])
        try stock.insert(rows, into: "t", columns: "rowid, a")
        try stock.run([index.sql])
        return SortedStore(stock: stock, table: table, sources: ["a": .cell(0)], indexes: [index])
    }

    @Test("keys that are longer than the memory", arguments: [false, true])
    func longKeys(isDescending: Bool) throws {
        var numbers = SeededNumbers(9)
        let rows = (0..<40).map { row in
            let length = row % 5 == 0 ? 300_000 + row % 3 : Int.random(in: 0...20_000, using: &numbers)
            // The first two differ only at their ends.
            let text = MadeRow.pattern[0..<length] + [UInt8(row % 7)]
            return PlainRow(rowid: Int64(row), cells: [.blob(Array(text))])
        }
        let store = try Self.store(rows, 1_024, isDescending: isDescending)
        for memory in [1_024, 40_000, 4 << 20] {
            try store.check(store.build(pageSize: 1_024, autoVacuum: 2, memory: memory, batch: 3), "\(memory)")
        }
    }

    @Test("many texts with a long common beginning, and many that are equal", arguments: [false, true])
    func commonBeginnings(isDescending: Bool) throws {
        var numbers = SeededNumbers(10)
        let rows = (0..<4_000).map { row in
            let head = String(repeating: "common ", count: [3, 40][row % 2])
            return PlainRow(rowid: Int64(row), cells: [.text(head + "\(numbers.next() % 900)")])
        }
        let store = try Self.store(rows, 512, isDescending: isDescending)
        for memory in [5_000, 8 << 20] {
            try store.check(store.build(pageSize: 512, autoVacuum: 0, memory: memory), "\(memory)")
        }
    }

    @Test("many columns, equal but for the last")
    func manyColumns() throws {
        let names = (0..<60).map { "c\($0)" }
        let table = "CREATE TABLE t(\(names.joined(separator: ", ")))"
        let index = MadeIndex(name: "i", columns: names.enumerated().map { ($1, $0 % 3 == 0) })
        let stock = try PageFixture([table])
        let rows = (0..<900).map { row in
            let last: CellValue = .integer(Int64(row * 7919 % 100))
            return PlainRow(rowid: Int64(row), cells: Array(repeating: .text("equal"), count: 59) + [last])
        }
        try stock.insert(rows, into: "t", columns: "rowid, " + names.joined(separator: ", "))
        try stock.run([index.sql])
        let sources = names.enumerated().map { ($1, IndexKey.Source.cell($0)) }
        let store = SortedStore(
            stock: stock, table: table, sources: Dictionary(uniqueKeysWithValues: sources), indexes: [index])
        for memory in [20_000, 8 << 20] {
            try store.check(store.build(pageSize: 1_024, autoVacuum: 0, memory: memory), "\(memory)")
        }
    }

    @Test("integers and reals around every power of two", arguments: [false, true])
    func numbers(isDescending: Bool) throws {
        var values: [CellValue] = [.null, .real(.infinity), .real(-.infinity), .real(-0.0)]
        for power in 0..<63 {
            for near in -2...2 {
                let integer = Int64(1) << Int64(power) + Int64(near)
                for value in [integer, -integer] {
                    values += [.integer(value), .real(Double(value)), .real(Double(value).nextUp)]
                    values.append(.real(Double(value).nextDown))
                }
            }
        }
        values += [.integer(.max), .integer(.min), .real(0x1p63), .real(-0x1p63), .real((-0x1p63).nextDown)]
        var numbers = SeededNumbers(11)
        values.shuffle(using: &numbers)
        let rows = values.enumerated().map { PlainRow(rowid: Int64($0), cells: [$1]) }
        let store = try Self.store(rows, 4_096, isDescending: isDescending)
        for memory in [3_000, 8 << 20] {
            try store.check(store.build(pageSize: 4_096, autoVacuum: 0, memory: memory), "\(memory)")
        }
    }

    @Test("no rows, and one")
    func few() throws {
        for count in 0...2 {
            let rows = (0..<count).map { PlainRow(rowid: Int64($0) - 1, cells: [.integer(7)]) }
            let store = try Self.store(rows, 512)
            try store.check(store.build(pageSize: 512, autoVacuum: 1, memory: 1), "\(count) rows")
        }
    }

    /// A record of one cell, whose type and bytes are given.
    private static func row(_ type: UInt8, _ bytes: [UInt8]) throws -> RowBatch {
        let batch = RowBatch()
        let record = [2, type] + bytes
        try unsafe record.withUnsafeBytes { try unsafe batch.append(rowid: 300, record: $0) }
        return batch
    }

    @Test("integers get their shortest form, and a real that is no number becomes NULL, as in CREATE INDEX")
    func forms() throws {
        let summer = EntrySummer([IndexKey([.init(.cell(0))])])
        func sum(_ type: UInt8, _ bytes: [UInt8]) throws -> [EntrySum] {
            try summer.add(Self.row(type, bytes))
            return summer.take()
        }
        let shortest = try sum(1, [5])
        #expect(try sum(6, [0, 0, 0, 0, 0, 0, 0, 5]) == shortest)
        #expect(try sum(3, [0, 0, 5]) == shortest)
        #expect(try sum(1, [0]) == sum(8, []))
        #expect(try sum(1, [1]) == sum(9, []))
        #expect(try sum(7, [0x7f, 0xf8, 0, 0, 0, 0, 0, 0]) == sum(0, []))
        #expect(try sum(1, [6]) != shortest)
    }

    @Test(
        "a row that breaks the format is an error",
        arguments: [
            [], [0], [1, 1], [2], [2, 1], [2, 10], [2, 11], [3, 0x81], [9, 1, 1], [2, 6, 1, 2, 3], [2, 23, 65],
            [0x82, 0x80, 0x80, 1], [10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        ] as [[UInt8]])
    func damagedRows(record: [UInt8]) throws {
        let batch = RowBatch()
        try unsafe record.withUnsafeBytes { try unsafe batch.append(rowid: 12, record: $0) }
        let summer = EntrySummer([IndexKey([.init(.cell(0))])])
        // A record without cells is short, not damaged.
        if record == [1, 1] {
            try summer.add(batch)
            #expect(summer.take().map(\.count) == [1])
            return
        }
        let error = #expect(throws: IndexSortError.self) { try summer.add(batch) }
        guard case .damagedRow(rowid: 12, _)? = error?.code else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("rows that aren't in the order of rowids are an error")
    func unordered() throws {
        let batch = RowBatch()
        for rowid in [4, 6, 6] as [Int64] { try MadeRow(rowid, [.null]).append(to: batch) }
        let error = #expect(throws: IndexSortError.self) {
            var sorter = try IndexSorter(IndexKey([.init(.cell(0))]), memory: 1, scratchPath: "/nonexistent/x")
            try sorter.add(batch)
        }
        #expect(error?.code == .unorderedRow(rowid: 6))
    }
}
