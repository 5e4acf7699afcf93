import CausewaySQLiteFile
import Testing

@Suite("An index that is carried", .timeLimit(.minutes(60))) struct IndexOrderCheckTests {
    private typealias Code = IndexSortError.Code

    /// Checks entries that are given as cells, `batch` at a time.
    private static func check(
        _ entries: [[CellValue]], isUnique: Bool = false, isDescending: Bool = false, batch count: Int = 100
    ) throws -> EntrySum {
        var check = IndexOrderCheck(IndexKey([.init(.cell(0), isDescending: isDescending)], isUnique: isUnique))
        for start in stride(from: 0, to: entries.count, by: count) {
            let batch = RowBatch()
            for cells in entries[start..<min(start + count, entries.count)] {
                try MadeRow(0, cells).append(to: batch)
            }
            try check.add(batch)
        }
        return check.sum
    }

    @Test("is in order where keys ascend, and rowids among equal keys", arguments: [1, 2, 100])
    func order(batch: Int) throws {
        let entries: [[CellValue]] = [
            [.null, .integer(9)], [.integer(-4), .integer(1)], [.integer(2), .integer(-7)], [.real(2), .integer(3)],
            [.text("a"), .integer(0)], [.blob([]), .integer(0)],
        ]
        #expect(try Self.check(entries, batch: batch).count == 6)
        for place in 0..<5 {
            var swapped = entries
            swapped.swapAt(place, place + 1)
            let error = #expect(throws: IndexSortError.self) { try Self.check(swapped, batch: batch) }
            #expect(error?.code == .outOfOrder(entry: place + 1))
        }
        let descending = Array(entries[4...].reversed()) + [entries[2], entries[3], entries[1], entries[0]]
        #expect(try Self.check(descending, isDescending: true, batch: batch).count == 6)
        let error = #expect(throws: IndexSortError.self) { try Self.check(entries, isDescending: true, batch: batch) }
        #expect(error?.code == .outOfOrder(entry: 1))
    }

    @Test("holds no entry twice", arguments: [1, 2])
    func twice(batch: Int) {
        let entry: [CellValue] = [.integer(5), .integer(8)]
        let error = #expect(throws: IndexSortError.self) { try Self.check([entry, entry], batch: batch) }
        #expect(error?.code == .outOfOrder(entry: 1))
    }

    @Test("holds no key twice where it is unique, but for NULL")
    func unique() throws {
        let twice: [[CellValue]] = [[.text("x"), .integer(2)], [.text("x"), .integer(5)]]
        #expect(try Self.check(twice).count == 2)
        let error = #expect(throws: IndexSortError.self) { try Self.check(twice, isUnique: true) }
        #expect(error?.code == .duplicate(first: 2, second: 5))
        #expect(try Self.check([[.null, .integer(1)], [.null, .integer(2)]], isUnique: true).count == 2)
    }

    @Test(
        "has entries of its columns and a rowid, and nothing else",
        arguments: [[.integer(1)], [.null, .null], [.null, .text("1")], [.null, .null, .integer(1)], []]
            as [[CellValue]])
    func shape(entry: [CellValue]) {
        let error = #expect(throws: IndexSortError.self) { try Self.check([[.null, .integer(-1)], entry]) }
        #expect(error?.code == .damagedEntry(entry: 1))
    }

    @Test("has another digest after any change, and the same in any order")
    func digest() throws {
        let entries = (0..<300).map { [CellValue.integer(Int64($0)), .integer(Int64($0) * 3)] }
        let whole = try Self.check(entries)
        var parts = try Self.check(Array(entries[200...]))
        parts.add(try Self.check(Array(entries[..<200])))
        #expect(parts == whole)
        for place in 0..<300 {
            var changed = entries
            changed[place][1] = .integer(Int64(place) * 3 + 1)
            #expect(try Self.check(changed) != whole)
        }
        var crossed = entries
        crossed[10][1] = entries[11][1]
        crossed[11][1] = entries[10][1]
        #expect(try Self.check(crossed) != whole)
    }
}
