/// Segments: rows of integers, written column by column as differences from the row before.
///
/// Rows that were made in the order of their keys have small and mostly equal differences, so a column becomes runs of
/// one-byte varints, which zstd compresses to almost nothing. The coding is described in the article
/// `CheckpointFormat`.
package enum DeltaColumns {
    /// Columns that a segment may have: more than any table of integers here needs. One that announces more is refused.
    package static let maximumColumns = 256

    /// The columns' values; all columns have the same number of rows.
    ///
    /// Columns of different lengths are an error of the caller and end the process.
    package static func encode(_ columns: [[Int64]]) -> [UInt8] {
        let rows = columns.first?.count ?? 0
        precondition(columns.allSatisfy { $0.count == rows }, "the columns of a segment have different lengths")
        var writer = FieldWriter()
        writer.write(UInt64(columns.count))
        writer.write(UInt64(rows))
        for column in columns {
            var previous: Int64 = 0
            for value in column {
                // Wraps around: the reader's addition does so too.
                writer.write(value &- previous)
                previous = value
            }
        }
        return writer.bytes
    }

    /// The columns of a segment that fills `bytes`: exactly `columns` of them, of at most `limit` rows.
    package static func decode(
        _ bytes: [UInt8], columns: Int, limit: Int
    ) throws(CheckpointError) -> [[Int64]] {
        var reader = FieldReader(bytes)
        let found = try reader.unsigned()
        guard found == UInt64(exactly: columns), columns <= maximumColumns else {
            throw CheckpointError(
                .malformed,
                "The segment has \(found) columns where \(columns) are expected; it is damaged or of another "
                    + "release. Discard it.")
        }
        // Without columns a row has no bytes, and only this limits their number.
        let rows = try columns == 0 ? reader.count(limit: 0) : reader.count(limit: limit)
        // Every value has at least one byte: memory is allocated only for possible values.
        guard columns == 0 || rows <= reader.remaining / columns else {
            throw CheckpointError(
                .truncated,
                "The segment announces \(rows) rows of \(columns) columns and has \(reader.remaining) bytes for "
                    + "them; its end is missing. Discard it.")
        }
        var result: [[Int64]] = []
        result.reserveCapacity(columns)
        for _ in 0..<columns {
            var column: [Int64] = []
            column.reserveCapacity(rows)
            var previous: Int64 = 0
            for _ in 0..<rows {
                previous &+= try reader.signed()
                column.append(previous)
            }
            result.append(column)
        }
        try reader.requireEnd()
        return result
    }
}
