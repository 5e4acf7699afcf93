import CausewaySQLite
package import CausewaySQLiteFile

/// Where a pass's rows come from: fills batches with records, in the source's order.
package protocol RowSource: ~Copyable {
    /// Appends rows to an empty batch until it is full.
    ///
    /// - Returns: false when there are no more rows; the batch may hold the last ones all the same.
    mutating func fill(_ batch: RowBatch, limits: BatchLimits) throws(EngineError) -> Bool
}

/// When a batch is closed: whichever comes first.
package struct BatchLimits: Hashable, Sendable {
    /// At least 1.
    package var rows: Int
    /// The row that passes this many bytes is the batch's last: a single row may be larger.
    package var bytes: Int

    package init(rows: Int, bytes: Int) {
        self.rows = max(1, rows)
        self.bytes = max(1, bytes)
    }
}

/// Rows of a SELECT as records, cell by cell in the storage class in which SQLite gives them.
struct StatementSource: RowSource, ~Copyable {
    private var statement: Statement
    private let writer: RecordWriter
    private let columns: Int
    /// The result column that becomes the batch's rowid; nil: rows are numbered from 1.
    private let key: Int?
    private var count: Int64 = 0
    private let isUTF8: Bool
    private let title: String

    /// `isUTF8` is the database's encoding; texts of others are converted.
    init(_ statement: consuming Statement, key: Int?, isUTF8: Bool, title: String) {
        columns = statement.columnCount
        writer = RecordWriter(capacity: columns)
        self.statement = statement
        self.key = key
        self.isUTF8 = isUTF8
        self.title = title
    }

    mutating func fill(_ batch: RowBatch, limits: BatchLimits) throws(EngineError) -> Bool {
        do {
            while batch.count < limits.rows, batch.byteCount < limits.bytes {
                guard try statement.step() else { return false }
                try appendRow(to: batch)
            }
            return true
        } catch let error as SQLiteError {
            throw EngineError(reading: error, during: title)
        } catch let error as RecordError {
            throw EngineError(.sourceData, "\(title): a row is too large: \(error.message)")
        } catch {
            throw EngineError(.verification, "\(title): \(error)")
        }
    }

    private mutating func appendRow(to batch: RowBatch) throws {
        writer.begin()
        var index = 0
        while index < columns {
            switch statement.type(at: index) {
            case .integer: writer.append(statement.int64(at: index))
            case .real: writer.append(statement.double(at: index))
            case .text:
                try unsafe writer.appendText(
                    isUTF8 ? statement.unsafeBytes(at: index) : statement.unsafeText(at: index))
            case .blob: try unsafe writer.appendBlob(statement.unsafeBytes(at: index))
            case .null: writer.appendNull()
            }
            index &+= 1
        }
        count &+= 1
        try writer.finish(into: batch, rowid: key.map { statement.int64(at: $0) } ?? count)
    }
}
