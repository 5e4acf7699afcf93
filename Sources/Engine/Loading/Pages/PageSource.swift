import CausewayPlatform
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

extension EngineError {
    /// Pages of the source that can't be read.
    init(reading error: PageReadError, during title: String) {
        if let cause = error.cause {
            self.init(.inputOutput, "\(title): \(cause.message)")
        } else {
            self.init(.sourceData, "\(title): \(error.description)")
        }
    }
}
