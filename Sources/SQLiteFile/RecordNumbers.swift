/// Makes NaN in records what SQLite reads it as: NULL. SQLite itself writes none
/// (https://www.sqlite.org/floatingpoint.html).
package final class RecordNumbers {
    private let reader: RecordReader
    private let writer: RecordWriter
    private let made = RowBatch()

    /// - Parameter columns: most cells that a record may have.
    package init(columns: Int) {
        reader = RecordReader(capacity: columns)
        writer = RecordWriter(capacity: columns)
    }

    /// Rows with NULL for NaN.
    ///
    /// - Parameters:
    ///   - rows: the source's.
    ///   - range: which of them.
    /// - Returns: these rows, until the next call; nil where none has a NaN.
    /// - Throws: for a record that breaks the file format.
    package func plain(_ rows: RowBatch, _ range: Range<Int>) throws(RecordError) -> RowBatch? {
        guard try hasNaN(rows, range) else { return nil }
        made.removeAll()
        for row in range {
            try unsafe reader.load(rows.record(at: row))
            writer.begin()
            for cell in 0..<reader.count {
                if reader.real(at: cell)?.isNaN == true {
                    writer.appendNull()
                } else {
                    writer.append(cell: cell, of: reader)
                }
            }
            try writer.finish(into: made, rowid: rows.rowid(at: row))
        }
        return made
    }

    private func hasNaN(_ rows: RowBatch, _ range: Range<Int>) throws(RecordError) -> Bool {
        for row in range {
            try unsafe reader.load(rows.record(at: row))
            for cell in 0..<reader.count where reader.real(at: cell)?.isNaN == true { return true }
        }
        return false
    }
}
