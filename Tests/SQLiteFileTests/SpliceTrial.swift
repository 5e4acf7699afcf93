import CausewaySQLiteFile
import Foundation

/// A random table and program: its rows spliced as far as that is possible, and the same rows made cell by cell.
struct SpliceTrial {
    private var random: SeededNumbers
    private let pageSize: Int
    /// REAL columns of the source's table.
    private let reals: [Bool]
    private let hasNaN: Bool
    private let columns: [SpliceProgram.Column]
    /// What the cells of a row are made of, and how they are stored: for making rows cell by cell.
    private let map: RowMap
    private let form: RecordForm
    private var batches: [RowBatch] = []
    private(set) var spliced = 0
    private(set) var left = 0

    init(seed: UInt64) throws {
        hasNaN = seed % 10 == 3
        var random = SeededNumbers(seed)
        pageSize = [512, 1_024, 4_096].randomElement(using: &random) ?? 512
        // Over 126 columns the header's length takes two bytes.
        let width = seed % 7 == 0 ? Int.random(in: 120...140, using: &random) : Int.random(in: 1...12, using: &random)
        let reals = (0..<width).map { _ in Int.random(in: 0..<4, using: &random) == 0 }
        self.reals = reals
        var next = 0
        columns = (0..<Int.random(in: 1...width + 4, using: &random)).map { _ in
            let form: RecordForm.Numbers = [.asMade, .numeric, .real].randomElement(using: &random) ?? .asMade
            let column = Bool.random(using: &random) ? next : Int.random(in: 0..<width, using: &random)
            next = (column + 1) % width
            switch Int.random(in: 0..<10, using: &random) {
            case 0: return .constant(random.cell(longest: 40), form)
            case 1 where !reals[column]: return .renumbered(column, [0: 300, 1: 0, 7: 1])
            default: return .carried(column, isReal: reals[column], form)
            }
        }
        map = try RowMap(
            reals.enumerated().map { .column($0, isReal: $1) }, defaults: reals.map { _ in .null })
        form = RecordForm(
            columns.enumerated().map { cell, column in
                switch column {
                case .carried(_, _, let form), .constant(_, let form): .cell(cell, form)
                case .renumbered: .cell(cell)
                }
            }, cells: columns.count)
        self.random = random
        makeBatches()
    }

    // MARK: - Rows

    private mutating func makeBatches() {
        var rowid = Int64.min
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let batch = RowBatch()
            for _ in 0..<Int.random(in: 0...80, using: &random) {
                let record = record()
                do {
                    try unsafe record.withUnsafeBytes { try unsafe batch.append(rowid: rowid, record: $0) }
                } catch {
                    preconditionFailure("short records fit: \(error)")
                }
                rowid += rowid == .min ? .max : Int64.random(in: 1...1_000_000, using: &random)
            }
            batches.append(batch)
        }
        let last = RowBatch()
        let record = record()
        try? unsafe record.withUnsafeBytes { try unsafe last.append(rowid: .max, record: $0) }
        batches.append(last)
    }

    /// Sometimes short, with integers in a longer form, or damaged.
    private mutating func record() -> [UInt8] {
        var (types, body): ([UInt8], [UInt8]) = ([], [])
        var count = reals.count
        if Int.random(in: 0..<6, using: &random) == 0 { count = Int.random(in: 0...count, using: &random) }
        let longest = Int.random(in: 0..<10, using: &random) == 0 ? pageSize * 3 : 60
        for _ in 0..<count {
            let (type, bytes) = cell(longest: longest)
            types += Self.varint(type)
            body += bytes
        }
        var length = types.count + 1
        if length > 127 { length += 1 }
        var record = Self.varint(UInt64(length)) + types + body
        if Int.random(in: 0..<40, using: &random) == 0 {
            record[Int.random(in: 0..<record.count, using: &random)] = UInt8(truncatingIfNeeded: random.next())
        }
        return record
    }

    private mutating func cell(longest: Int) -> (UInt64, [UInt8]) {
        switch Int.random(in: 0..<10, using: &random) {
        case 0:
            let value = Int64(bitPattern: random.next()) >> Int64.random(in: 0..<64, using: &random)
            return (6, Self.bytes(UInt64(bitPattern: value), 8))
        case 1:
            let value = [0, 1, 7, -1, 40_000].randomElement(using: &random) ?? 0
            return (4, Self.bytes(UInt64(bitPattern: Int64(value)), 4))
        case 2:
            // A record with NaN isn't spliced: not in every trial.
            let odd = hasNaN ? Double.nan : 1e-300
            let value = [Double(random.next() % 9), -0.0, odd, .infinity, 1e300, 9e15].randomElement(using: &random)
            return (7, Self.bytes((value ?? 0).bitPattern, 8))
        default: break
        }
        switch random.cell(longest: longest) {
        case .null: return (0, [])
        case .integer(0): return (8, [])
        case .integer(1): return (9, [])
        case .integer(let value):
            let magnitude = value < 0 ? ~value : value
            let sizes: [(Int, UInt64)] = [(8, 1), (16, 2), (24, 3), (32, 4), (48, 5), (64, 6)]
            let (bits, type) = sizes.first { magnitude >> Int64($0.0 - 1) == 0 } ?? (64, 6)
            return (type, Self.bytes(UInt64(bitPattern: value), bits / 8))
        case .real(let value): return (7, Self.bytes(value.bitPattern, 8))
        case .text(let text): return (UInt64(text.utf8.count * 2 + 13), Array(text.utf8))
        case .blob(let bytes): return (UInt64(bytes.count * 2 + 12), bytes)
        }
    }

    private static func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> UInt64($0 * 8)) }
    }

    private static func varint(_ value: UInt64) -> [UInt8] {
        var result = [UInt8(value & 0x7f)]
        var rest = value >> 7
        while rest > 0 {
            result.insert(UInt8(rest & 0x7f) | 0x80, at: 0)
            rest >>= 7
        }
        return result
    }

    // MARK: - Making

    /// Whether both ways make the same file.
    mutating func run() throws -> Bool {
        let empty = try NewStore(pageSize: pageSize, autoVacuum: 1, "CREATE TABLE t(a)")
        guard let program = try SpliceProgram(columns) else { return false }
        let splicer = RecordSplicer([program], choice: .first, columns: reals.count, takesSums: true)
        var records = EntrySum()
        let one = try file(NewStore(copying: empty)) { rows, packer in
            var index = 0
            while index < rows.count {
                let next = try splicer.splice(rows, from: index, into: packer)
                spliced += next - index
                index = next + 1
                guard next < rows.count else { break }
                left += 1
                let made = RowBatch()
                guard try make(next, of: rows, into: made) else { continue }
                try packer.append(made)
                splicer.note(made)
            }
            records.add(splicer.takeTally().records)
        }
        var expected = EntrySum()
        let other = try file(NewStore(copying: empty)) { rows, packer in
            let made = RowBatch()
            for index in 0..<rows.count { _ = try make(index, of: rows, into: made) }
            try packer.append(made)
            expected.add(made)
        }
        return one == other && records == expected
    }

    private func file(_ store: NewStore, _ pack: (RowBatch, LeafPacker) throws -> Void) throws -> Data {
        let root = try store.root("t")
        let (packer, leaves) = (LeafPacker(pageSize: pageSize), PackedLeaves(pageSize: pageSize))
        var writer = try DatabaseWriter(store.file())
        var tree = try TreeBuilder(.table, root: root, on: writer)
        for rows in batches {
            packer.begin(leaves)
            try pack(rows, packer)
            packer.finish()
            try tree.add(leaves, to: &writer)
        }
        try tree.finish(with: &writer)
        try writer.finish(syncs: false)
        return try store.bytes
    }

    /// Makes a row cell by cell.
    /// - Returns: false for a damaged record.
    private func make(_ index: Int, of rows: RowBatch, into made: RowBatch) throws -> Bool {
        let (view, writer, row) = (RowView(map), RecordWriter(capacity: columns.count), RowBatch())
        do {
            try view.load(index, of: rows)
        } catch {
            return false
        }
        var kept: [EncodedCells] = []
        for column in columns {
            switch column {
            case .carried(let cell, _, _): writer.append(cell: cell, of: view)
            case .constant(let value, _):
                kept.append(try EncodedCells([value]))
                if let cells = kept.last { writer.append(cells) }
            case .renumbered(let cell, let numbers):
                if let number = view.integer(at: cell).flatMap({ numbers[Int($0)] }) {
                    writer.append(Int64(number))
                } else {
                    writer.appendNull()
                }
            }
        }
        try writer.finish(into: row, rowid: rows.rowid(at: index))
        try RecordFormer(form).form(row, into: made)
        return true
    }
}
