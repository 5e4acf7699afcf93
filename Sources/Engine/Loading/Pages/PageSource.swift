import CausewaySQLiteFile
import CausewayStores

/// Rows of a table out of the pages of its file.
struct PageSource: RowSource, ~Copyable {
    private var reader: TableReader
    private let title: String

    init(_ reader: consuming TableReader, title: String) {
        self.reader = reader
        self.title = title
    }

    mutating func fill(_ batch: RowBatch, limits: BatchLimits) throws(EngineError) -> Bool {
        do throws(PageReadError) {
            return try reader.fill(batch, rows: limits.rows, bytes: limits.bytes)
        } catch {
            throw EngineError(reading: error, during: title)
        }
    }
}
