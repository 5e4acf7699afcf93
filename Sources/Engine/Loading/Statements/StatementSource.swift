import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

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

    /// Skips rows that an earlier run has moved.
    mutating func skip(_ rows: Int) throws(EngineError) {
        do {
            for _ in 0..<rows {
                guard try statement.step() else {
                    throw EngineError(
                        .undecided, "\(title): the source has fewer rows than an earlier run read",
                        remedy: "run again with --restart")
                }
                count &+= 1
            }
        } catch {
            throw EngineError(error, during: title)
        }
    }

    /// Appends rows to an empty batch until it is full.
    ///
    /// - Returns: false when there are no more rows; the batch may still hold the last ones.
    mutating func fill(_ batch: RowBatch, limits: BatchLimits) throws(EngineError) -> Bool {
        do {
            while batch.count < limits.rows, batch.byteCount < limits.bytes {
                guard try statement.step() else { return false }
                try appendRow(to: batch)
            }
            return true
        } catch let error as RecordError {
            throw EngineError(.sourceData, "\(title): a row is too large: \(error.message)")
        } catch {
            throw EngineError(error, during: title)
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

extension StatementSource {
    /// The rows of a statement from a cursor on (nil: from the first): by a condition if the statement allows it, else
    /// by skipping. `key` is the result column that becomes the batch's rowid; nil: rows are numbered from 1.
    static func rows(
        of shape: RowShape, key: Int?, after cursor: StepLedger.Cursor?, in connection: borrowing Connection,
        isUTF8: Bool, title: String
    ) throws(EngineError) -> StatementSource {
        let isSought = cursor.map { $0.rows > 0 } == true && key != nil && shape.isSeekable
        let statement = try prepared(shape, isSought ? cursor : nil, in: connection, title)
        var source = StatementSource(statement, key: key, isUTF8: isUTF8, title: title)
        if let cursor, !isSought { try source.skip(cursor.rows) }
        return source
    }

    private static func prepared(
        _ shape: RowShape, _ cursor: StepLedger.Cursor?, in connection: borrowing Connection, _ title: String
    ) throws(EngineError) -> Statement {
        try EngineError.reading(title) {
            guard let cursor else { return try connection.prepare(shape.sql, persistent: true) }
            var statement = try connection.prepare(shape.sqlAfterKey, persistent: true)
            try statement.bind(Mutant.isOn(.cursorTooEarly) ? cursor.key - 1 : cursor.key, at: 1)
            return statement
        }
    }
}
