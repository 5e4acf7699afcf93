import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Runs the validation's statements and turns their errors into the engine's.
enum ValidationSQL {
    private static let what = "validation of the new rows"

    static func prepare(
        _ sql: String, _ parameters: [CellValue] = [], on connection: borrowing Connection
    ) throws(EngineError) -> Statement {
        try EngineError.writing(what) {
            var statement = try connection.prepare(sql)
            for (offset, value) in parameters.enumerated() { try bind(value, at: offset + 1, of: &statement) }
            return statement
        }
    }

    static func next(_ statement: inout Statement) throws(EngineError) -> Bool {
        try EngineError.writing(what) { try statement.step() }
    }

    /// Binds integers and runs to the end.
    static func run(_ statement: inout Statement, _ values: Int64...) throws(EngineError) {
        try EngineError.writing(what) {
            for (offset, value) in values.enumerated() { try statement.bind(value, at: offset + 1) }
            try statement.run()
        }
    }

    /// Runs one statement without rows.
    /// - Returns: how many rows it changed.
    @discardableResult
    static func execute(
        _ sql: String, _ parameters: [CellValue] = [], on connection: borrowing Connection
    ) throws(EngineError) -> Int {
        var statement = try prepare(sql, parameters, on: connection)
        while try next(&statement) {}
        return Int(connection.changes)
    }

    static func quoted(_ name: String) throws(EngineError) -> String {
        do {
            return try SQLIdentifier(name).quoted
        } catch {
            throw EngineError(.plan, "\(what): \(error.message)")
        }
    }

    private static func bind(_ value: CellValue, at position: Int, of statement: inout Statement) throws(SQLiteError) {
        switch value {
        case .null: try statement.bindNull(at: position)
        case .integer(let value): try statement.bind(value, at: position)
        case .real(let value): try statement.bind(value, at: position)
        case .text(let value): try statement.bind(value, at: position)
        case .blob(let value): try statement.bind(value, at: position)
        }
    }
}
