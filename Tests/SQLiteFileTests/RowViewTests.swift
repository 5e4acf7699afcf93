import CausewaySQLiteFile
import Testing

/// A view shows the same row whether it comes from a table's b-tree or from a statement.
@Suite("Rows from pages and from statements", .timeLimit(.minutes(60)))
struct RowViewTests {
    /// The table's columns in order: name, weight FLOAT, key INTEGER PRIMARY KEY, data, count, added, rate FLOAT. The
    /// last two were added later.
    private static let defaults: [CellValue] = [
        .null, .null, .null, .null, .null, .text("new"), .integer(2),
    ]
    private static let reals: Set<Int> = [1, 6]
    private static let key = 2
    /// The number of columns of the oldest rows.
    private static let shortest = 5

    /// The pass's cells: columns of the table.
    private static let orders = [[0, 1, 2, 3, 4, 5, 6], [6, 0, 1, 2, 5, 4, 3], [3, 4, 5], [4, 4, 2, 2], [1]]

    private static let names: [CellValue] = [
        .null, .text(""), .text("n"), .text(String(repeating: "long ", count: 9_000)),
    ]
    private static let weights: [CellValue] = [
        .null, .integer(0), .integer(5), .integer(-70_000), .integer(1 << 47), .real(1.5), .real(-0.0),
        .text("not a number"), .blob([1, 2]),
    ]
    private static let data: [CellValue] = [.null, .blob([]), .blob(Array(repeating: 7, count: 3_000)), .integer(9)]

    /// Columns in a page's order.
    private static let rows: [[CellValue]] = names.flatMap { name in
        weights.flatMap { weight in
            data.flatMap { data -> [[CellValue]] in
                let row: [CellValue] = [name, weight, .null, data, .integer(300), .text("given"), .integer(-1)]
                return (shortest...row.count).map { Array(row.prefix($0)) }
            }
        }
    }

    private static func map(_ order: [Int]) throws -> RowMap {
        try RowMap(
            order.map { $0 == key ? .rowid : .column($0, isReal: reals.contains($0)) }, defaults: defaults)
    }

    /// SQLite's values for the cells of a page's row.
    private static func statement(_ row: [CellValue], _ order: [Int], key: Int64) -> [CellValue] {
        order.map { column in
            if column == Self.key { return .integer(key) }
            let cell = column < row.count ? row[column] : defaults[column]
            if reals.contains(column), case .integer(let value) = cell { return .real(Double(value)) }
            return cell
        }
    }

    private static func value(_ view: RowView, _ index: Int) throws -> CellValue {
        let type = view.serialType(at: index)
        #expect(view.isNull(at: index) == type.isNull)
        if type.isNull { return .null }
        if type.isInteger { return .integer(try #require(view.integer(at: index))) }
        if type.isReal { return .real(try #require(view.real(at: index))) }
        #expect(view.integer(at: index) == nil && view.real(at: index) == nil)
        let bytes = unsafe Array(view.unsafeBytes(at: index))
        return type.isText ? .text(String(decoding: bytes, as: UTF8.self)) : .blob(bytes)
    }

    /// Records of rows, each with the row's key.
    private static func batch(_ rows: [(key: Int64, cells: [CellValue])]) throws -> RowBatch {
        let (batch, writer) = (RowBatch(), RecordWriter(capacity: 8))
        for row in rows {
            let cells = try EncodedCells(row.cells)
            writer.begin()
            writer.append(cells)
            try writer.finish(into: batch, rowid: row.key)
        }
        return batch
    }

    /// Bit for bit: −0.0 isn't 0.0.
    private static func isSame(_ left: CellValue, _ right: CellValue) -> Bool {
        if case .real(let one) = left, case .real(let other) = right { return one.bitPattern == other.bitPattern }
        return left == right
    }

    private static let keys: [Int64] = [1, 0, -5, 300, .max, .min]

    @Test("give the same cells, and copies of the same bytes", arguments: orders)
    func same(order: [Int]) throws {
        let rows = Self.rows.enumerated().map { (key: Self.keys[$0 % Self.keys.count], cells: $1) }
        let pages = try Self.batch(rows)
        let statements = try Self.batch(rows.map { ($0.key, Self.statement($0.cells, order, key: $0.key)) })
        let (page, statement) = (RowView(try Self.map(order)), RowView(capacity: order.count))
        let (writer, copies) = (RecordWriter(capacity: 8), RowBatch())
        for index in rows.indices {
            try page.load(index, of: pages)
            try statement.load(index, of: statements)
            #expect(page.count == order.count && statement.count == order.count)
            #expect(page.rowid == rows[index].key && statement.rowid == rows[index].key)
            for cell in order.indices {
                let (one, other) = (try Self.value(page, cell), try Self.value(statement, cell))
                #expect(Self.isSame(one, other), "row \(index), cell \(cell)")
            }
            for first in order.indices {
                for end in first + 1...order.count {
                    copies.removeAll(keepingCapacity: .max)
                    for view in [page, statement] {
                        writer.begin()
                        writer.append(Int64(1))
                        writer.append(cells: first..<end, of: view)
                        writer.appendNull()
                        try writer.finish(into: copies, rowid: 1)
                    }
                    #expect(unsafe copies.record(at: 0).elementsEqual(copies.record(at: 1)))
                    let made = RowView(capacity: order.count + 2)
                    try made.load(0, of: copies)
                    #expect(page.isCarried(first..<end, into: made, at: 1))
                    #expect(statement.isCarried(first..<end, into: made, at: 1))
                }
            }
        }
    }

    @Test(
        "a copy that differs in one bit of a type or a value is found",
        arguments: [[0, 1, 3, 4, 5, 6], [4, 0, 6, 3]])
    func differences(order: [Int]) throws {
        let row: [CellValue] = [.text("name"), .integer(5), .null, .blob(Array(0..<20)), .integer(300)]
        let map = try Self.map(order)
        let cells = Self.statement(row, order, key: 3)
        let pages = try Self.batch([(3, row)])
        let statements = try Self.batch([(3, cells)])
        let (page, statement) = (RowView(map), RowView(capacity: order.count))
        try page.load(0, of: pages)
        try statement.load(0, of: statements)
        let made = RowView(capacity: order.count)
        var record = unsafe Array(statements.record(at: 0))
        var read = 0
        for byte in 1..<record.count {
            for bit in 0..<8 {
                record[byte] ^= 1 << UInt8(bit)
                // A header that isn't valid any more is refused when it is read.
                unsafe record.withUnsafeBytes { bytes in
                    do {
                        try unsafe made.load(bytes, rowid: 3)
                    } catch { return }
                    guard made.count == order.count else { return }
                    read += 1
                    #expect(!page.isCarried(order.indices, into: made, at: 0), "byte \(byte), bit \(bit)")
                    #expect(!statement.isCarried(order.indices, into: made, at: 0), "byte \(byte), bit \(bit)")
                }
                record[byte] ^= 1 << UInt8(bit)
            }
        }
        #expect(read > 200)
    }

    @Test("a record with more cells than the table has columns is refused")
    func tooManyCells() throws {
        let batch = try Self.batch([(1, Self.defaults + [.null])])
        let view = RowView(try Self.map([0]))
        #expect(throws: RecordError.self) { try view.load(0, of: batch) }
    }
}
