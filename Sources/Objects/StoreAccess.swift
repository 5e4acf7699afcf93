import CausewayEvaluation
package import CausewaySQLite

/// How a context reads from its store, whose connection it doesn't own.
///
/// A closure, because a connection is neither copied nor lent through an existential; a context only uses prepared
/// statements.
package struct StoreAccess {
    package let prepare: (String) throws(SQLiteError) -> Statement

    /// - Parameter prepare: compiles a statement on the connection; called on the context's own thread only.
    package init(prepare: @escaping (String) throws(SQLiteError) -> Statement) {
        self.prepare = prepare
    }
}

/// A statement in a class, since a dictionary needs copyable values.
package final class StatementBox {
    package var statement: Statement

    package init(_ statement: consuming Statement) {
        self.statement = statement
    }

    /// The number in the first row; nil without a row.
    func number() throws(SQLiteError) -> Int64? {
        defer { statement.reset() }
        return try statement.step() ? statement.int64(at: 0) : nil
    }
}

extension Statement {
    /// The object whose Z_ENT and Z_PK are in these columns.
    func object(_ side: ObjectID.Side, entity: Int, key: Int) -> ObjectID {
        ObjectID(side: side, entity: Int32(truncatingIfNeeded: int64(at: entity)), key: int64(at: key))
    }

    /// A cell of a stored row; any other is NULL.
    mutating func bind(_ cell: Cell, at position: Int) throws(SQLiteError) {
        switch cell {
        case .integer(let value): try bind(value, at: position)
        case .real(let value): try bind(value, at: position)
        case .text(let value): try bind(value, at: position)
        case .blob(let value): try bind(value, at: position)
        case .null, .carried, .temporary, .appended: try bindNull(at: position)
        }
    }
}

/// The statements of one context, each compiled once. There is one for each table and set of changed columns.
final class StatementCache {
    private let access: StoreAccess
    private var boxes: [String: StatementBox] = [:]

    init(_ access: StoreAccess) {
        self.access = access
    }

    /// The statement, reset and with the bindings of its last use.
    func statement(_ sql: String) throws(SQLiteError) -> StatementBox {
        if let box = boxes[sql] {
            box.statement.reset()
            return box
        }
        let box = StatementBox(try access.prepare(sql))
        boxes[sql] = box
        return box
    }

    /// The same, with its first parameters.
    func statement(
        _ sql: String, _ first: Int64, _ second: Int64? = nil, _ third: Int64? = nil
    ) throws(SQLiteError) -> StatementBox {
        let box = try statement(sql)
        try box.statement.bind(first, at: 1)
        if let second { try box.statement.bind(second, at: 2) }
        if let third { try box.statement.bind(third, at: 3) }
        return box
    }

    /// A statement that isn't shared: for a loop whose body may run others of the same text.
    func fresh(_ sql: String) throws(SQLiteError) -> Statement {
        try access.prepare(sql)
    }

    /// Ends every statement, so that the connection can close.
    func removeAll() {
        boxes.removeAll()
    }
}

extension ObjectError {
    /// SQLite's own words, which hold no row content.
    package init(_ error: SQLiteError, during place: String) {
        self.init(.store, "\(place): \(error.message)", cause: error)
    }

    /// Asks the store; what SQLite says is told with its place.
    @discardableResult
    static func at<Value>(
        _ place: @autoclosure () -> String, _ body: () throws -> Value
    ) throws(ObjectError) -> Value {
        do {
            return try body()
        } catch let error as ObjectError {
            throw error
        } catch let error as SQLiteError {
            throw ObjectError(error, during: place())
        } catch {
            throw ObjectError(.store, "\(place()): \(error)")
        }
    }
}
