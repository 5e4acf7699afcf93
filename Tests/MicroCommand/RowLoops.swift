import CausewayEngine
import CausewaySQLiteFile

/// One batch of made-up rows, and the loops over it. Each allocates nothing per row, as in a migration.
struct RowLoops {
    struct Loop: Sendable {
        let name: String
        let run: @Sendable (RowLoops) throws -> UInt64
    }

    static let all = [
        Loop(name: "record decode") { try $0.decode() },
        Loop(name: "record splice") { try $0.splice() },
        Loop(name: "leaf build") { try $0.buildLeaves() },
        // Here each call crosses a module and isn't inlined: a migration's is a little faster.
        Loop(name: "cell digest") { try $0.digest() },
    ]

    private static let pageSize = 4_096
    private static let columns = 12
    private static let textLength = 400

    private let batch: RowBatch
    private let reader = RecordReader(capacity: columns)
    private let writer = RecordWriter(capacity: columns)
    private let spliced: RowBatch
    private let packer = LeafPacker(pageSize: pageSize)
    private let leaves = PackedLeaves(pageSize: pageSize)
    private let added: EncodedCells

    /// Bytes of all records.
    var byteCount: Int { batch.byteCount }

    /// As Core Data's rows: NULL for the key, small integers, dates, a text.
    init(rows: Int) throws {
        batch = RowBatch(rows: rows, bytes: rows * (Self.textLength + 60))
        spliced = RowBatch(rows: rows, bytes: rows * (Self.textLength + 60))
        added = try EncodedCells([.integer(7)])
        let text = (0..<Self.textLength).map { UInt8(97 + $0 % 26) }
        for row in 0..<rows {
            writer.begin()
            writer.appendNull()
            for value in [2, 1, row % 2, row % 100, row, row * 7 % 1_000] { writer.append(Int64(value)) }
            for value in [0.25, 1.5] { writer.append(Double(row) + value) }
            try unsafe text.withUnsafeBytes { try unsafe writer.appendText($0) }
            writer.appendNull()
            writer.append(Int64(row) << 20)
            try writer.finish(into: batch, rowid: Int64(row + 1))
        }
    }

    /// Finds the cells of every record and looks at their types.
    private func decode() throws -> UInt64 {
        var sum: UInt64 = 0
        for row in 0..<batch.count {
            try unsafe reader.load(batch.record(at: row))
            for cell in 0..<reader.count { sum &+= UInt64(reader.serialType(at: cell).rawValue) }
        }
        return sum
    }

    /// Drops one cell and adds one, the others carried as two runs.
    private func splice() throws -> UInt64 {
        spliced.removeAll()
        for row in 0..<batch.count {
            try unsafe reader.load(batch.record(at: row))
            writer.begin()
            writer.append(cells: 0..<4, of: reader)
            writer.append(added)
            writer.append(cells: 5..<Self.columns, of: reader)
            try writer.finish(into: spliced, rowid: batch.rowid(at: row))
        }
        return UInt64(spliced.byteCount)
    }

    /// Packs records into dense pages.
    private func buildLeaves() throws -> UInt64 {
        try packer.pack(batch, into: leaves)
        return UInt64(leaves.pageCount)
    }

    /// Hashes the cells of every record, as the digests of a pass do.
    private func digest() throws -> UInt64 {
        var sum: UInt64 = 0
        for row in 0..<batch.count {
            try unsafe reader.load(batch.record(at: row))
            let place = CellHash.row(key: batch.rowid(at: row))
            for cell in 0..<reader.count {
                if reader.isNull(at: cell) { continue }
                let content =
                    unsafe reader.integer(at: cell).map { CellHash.integer($0) }
                    ?? CellHash.text(reader.unsafeBytes(at: cell))
                sum &+= CellHash.lanes(of: content, in: place).first
            }
        }
        return sum
    }
}
