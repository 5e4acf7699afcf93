import CausewaySQLiteFile
import Testing

@Suite("Row batches", .timeLimit(.minutes(60))) struct RowBatchTests {
    @Test("keep rows in order while they grow far beyond their first size")
    func grows() throws {
        let batch = RowBatch()
        for row in 0..<5_000 {
            let bytes = Array(repeating: UInt8(truncatingIfNeeded: row), count: row % 97)
            try unsafe bytes.withUnsafeBytes { try unsafe batch.append(rowid: Int64(row) - 10, record: $0) }
        }
        #expect(batch.count == 5_000)
        #expect(batch.byteCount == (0..<5_000).reduce(0) { $0 + $1 % 97 })
        for row in 0..<5_000 {
            #expect(batch.rowid(at: row) == Int64(row) - 10)
            let record = unsafe Array(batch.record(at: row))
            #expect(record == Array(repeating: UInt8(truncatingIfNeeded: row), count: row % 97))
        }
    }

    @Test("keep their memory when emptied, up to a limit")
    func recycles() throws {
        let batch = RowBatch(rows: 10, bytes: 1 << 20)
        let footprint = batch.footprint
        let writer = RecordWriter(capacity: 1)
        writer.append(Int64(5))
        try writer.finish(into: batch, rowid: 1)
        batch.removeAll()
        #expect(batch.isEmpty)
        #expect(batch.byteCount == 0)
        #expect(batch.footprint == footprint)
        batch.removeAll(keepingCapacity: 4_096)
        #expect(batch.footprint < 8_192)
    }

    @Test("large ones have a quarter to spare at most", arguments: [30, 700, 9_000])
    func spare(length: Int) throws {
        let batch = RowBatch()
        let record = [UInt8](repeating: 7, count: length)
        while batch.byteCount < 1 << 20 {
            try unsafe record.withUnsafeBytes { try unsafe batch.append(rowid: 1, record: $0) }
        }
        // A row's place takes 16 bytes.
        #expect(batch.footprint <= (batch.byteCount + batch.count * 16) * 5 / 4 + 64)
    }

    @Test("rows that fit in reserved memory need no more")
    func reserves() throws {
        let batch = RowBatch()
        batch.reserve(rows: 1_000, bytes: 3_000)
        let footprint = batch.footprint
        let writer = RecordWriter(capacity: 1)
        for row in 0..<1_000 {
            writer.append(Int64(77))
            try writer.finish(into: batch, rowid: Int64(row))
        }
        #expect(batch.byteCount == 3_000)
        #expect(batch.footprint == footprint)
    }

    @Test("remove the last row")
    func removesLast() throws {
        let batch = RowBatch()
        let writer = RecordWriter(capacity: 1)
        for value: Int64 in [1, 300, 70_000] {
            writer.append(value)
            try writer.finish(into: batch, rowid: value)
        }
        batch.removeLast()
        #expect(batch.count == 2)
        #expect(batch.byteCount == 2 + 4)
        writer.append(Int64(2))
        try writer.finish(into: batch, rowid: 9)
        let records = (0..<3).map { unsafe Array(batch.record(at: $0)) }
        #expect(records == [[2, 9], [2, 2, 1, 44], [2, 1, 2]])
        #expect(batch.rowid(at: 2) == 9)
    }

    @Test("a writer that is started over forgets what was appended")
    func beginsAnew() throws {
        let bytes = try record { writer in
            writer.append(Int64(1))
            writer.begin()
            writer.appendNull()
        }
        #expect(bytes == [2, 0])
    }
}
