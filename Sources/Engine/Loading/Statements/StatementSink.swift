import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStores

/// Writes rows with INSERT statements of many rows each: the statement's own cost is what limits a row-by-row writer
/// (InsideSpeed §2.1).
struct StatementSink: RowSink, ~Copyable {
    let packing = NoPacking()

    /// Rows in one INSERT: 32 gives almost all of the gain (0.49 of the time, against 0.45 at 128), and the rest of a
    /// batch costs little.
    private static let rowsPerStatement = 32
    /// Parameters in one INSERT, a bound for tables of very many columns; SQLite's own default limit is 32,766.
    private static let parametersPerStatement = 4_096

    private var many: Statement
    private var one: Statement
    private let rowsInMany: Int
    private let columns: Int
    private let view: RowView
    private let title: String

    /// A sink for rows with these columns, in this order.
    static func into(
        _ table: String, columns: [String], staging: StagingConnection, title: String
    ) throws(EngineError) -> StatementSink {
        let rows = max(1, min(rowsPerStatement, parametersPerStatement / max(1, columns.count)))
        let many = try insert(rows, into: table, columns, staging, title)
        let one = try insert(1, into: table, columns, staging, title)
        return StatementSink(
            many: many, one: one, rowsInMany: rows, columns: columns.count, view: RowView(capacity: columns.count),
            title: title)
    }

    private static func insert(
        _ rows: Int, into table: String, _ columns: [String], _ staging: StagingConnection, _ title: String
    ) throws(EngineError) -> Statement {
        try EngineError.writing(title) {
            let names = try columns.map { (name: String) throws(SQLiteError) in try SQLIdentifier(name).quoted }
            let row = "(" + Array(repeating: "?", count: columns.count).joined(separator: ", ") + ")"
            return try staging.connection.prepare(
                "INSERT INTO \(try SQLIdentifier(table)) (\(names.joined(separator: ", "))) VALUES "
                    + Array(repeating: row, count: rows).joined(separator: ", "), persistent: true)
        }
    }

    mutating func write(_ batch: RowBatch, _ packed: Void) throws(EngineError) {
        do {
            defer { KillPoint.reach(.batchWritten) }
            var index = 0
            while index + rowsInMany <= batch.count {
                try Self.bind(batch, index..<index + rowsInMany, view, columns, to: &many)
                try many.run()
                index += rowsInMany
            }
            while index < batch.count {
                try Self.bind(batch, index..<index + 1, view, columns, to: &one)
                try one.run()
                index += 1
            }
        } catch let error as SQLiteError {
            throw EngineError(writing: error, during: title)
        } catch let error as RecordError {
            throw EngineError(.verification, "\(title): a record made by this run can't be read back: \(error.message)")
        } catch {
            throw EngineError(.verification, "\(title): \(error)")
        }
    }

    mutating func finish() {
        // The statements hold pointers into the last batch until they are bound again.
        many.clearBindings()
        one.clearBindings()
    }

    private static func bind(
        _ batch: RowBatch, _ rows: Range<Int>, _ view: RowView, _ columns: Int, to statement: inout Statement
    ) throws {
        var position = 1
        for row in rows {
            try view.load(row, of: batch)
            guard view.count == columns else { throw RecordError(code: .badHeader, offset: 0) }
            var cell = 0
            while cell < columns {
                try statement.bind(cell: cell, of: view, at: position)
                cell &+= 1
                position &+= 1
            }
        }
    }
}
