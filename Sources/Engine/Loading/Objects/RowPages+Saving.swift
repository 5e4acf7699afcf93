import CausewayCheckpoint
import CausewaySQLiteFile

/// The rows that wait, in the step's progress.
extension RowPages {
    private static let maximumTables = 1_000_000
    private static let maximumRows = 1 << 30

    func save(_ writer: inout FieldWriter) {
        inspection.save(&writer)
        let begun = tables.indices.filter { tables[$0].last != nil || tables[$0].lastLate != nil }
        writer.write(count: begun.count)
        for table in begun {
            let content = tables[table]
            writer.write(table)
            for (last, rows) in [(content.last, content.waiting), (content.lastLate, content.late)] {
                writer.write(last != nil)
                writer.write(last ?? 0)
                Self.save(rows, &writer)
            }
            for (_, place) in content.largestPlaces.sorted(by: { $0.key < $1.key }) { writer.write(place) }
        }
    }

    static func save(_ rows: RowBatch, _ writer: inout FieldWriter) {
        writer.write(count: rows.count)
        for row in 0..<rows.count {
            writer.write(rows.rowid(at: row))
            writer.write(bytes: unsafe Array(rows.record(at: row)))
        }
    }

    func restore(_ reader: inout FieldReader) throws(CheckpointError) {
        try inspection.restore(&reader)
        for _ in 0..<(try reader.count(limit: Self.maximumTables)) {
            let table = try reader.int()
            guard tables.indices.contains(table) else {
                throw CheckpointError(.foreignPlan, "rows of a table that the plan hasn't")
            }
            tables[table].last = try Self.key(&reader)
            try Self.restore(tables[table].waiting, &reader)
            tables[table].lastLate = try Self.key(&reader)
            try Self.restore(tables[table].late, &reader)
            waitingBytes += tables[table].waiting.byteCount + tables[table].late.byteCount
            for column in tables[table].largestPlaces.keys.sorted() {
                tables[table].largestPlaces[column] = try reader.signed()
            }
        }
    }

    private static func key(_ reader: inout FieldReader) throws(CheckpointError) -> Int64? {
        let isThere = try reader.bool()
        let key = try reader.signed()
        return isThere ? key : nil
    }

    static func restore(_ rows: RowBatch, _ reader: inout FieldReader) throws(CheckpointError) {
        for _ in 0..<(try reader.count(limit: maximumRows)) {
            let key = try reader.signed()
            let record = try reader.bytes()
            do throws(RecordError) {
                try unsafe record.span.bytes.withUnsafeBytes { (bytes) throws(RecordError) in
                    try unsafe rows.append(rowid: key, record: bytes)
                }
            } catch {
                throw CheckpointError(.malformed, "a row that waits is too long")
            }
        }
    }
}
