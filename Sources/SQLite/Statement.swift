// Public, because the bodies below are inlined in other modules; no declaration shows a type of C.
public import CausewayCSQLite

/// A compiled statement, and its current row.
///
/// Changing it (bind, step, reset) needs the statement itself; a loop lends it to its body as `borrowing`, which allows
/// only reads. Every call is one C call that is inlined in other modules: no allocation per row or cell.
///
/// It may outlive its connection, which then closes with it. Like the connection, it belongs to one thread at a time.
@safe
@usableFromInline package struct Statement: ~Copyable {
    @usableFromInline let handle: OpaquePointer

    init(_ handle: OpaquePointer) {
        unsafe self.handle = handle
    }

    deinit {
        // Repeats the error of the last step, which was thrown already.
        _ = unsafe sqlite3_finalize(handle)
    }

    /// Goes to the next row.
    /// - Returns: false after the last one; the next call then starts again.
    @inlinable package mutating func step() throws(SQLiteError) -> Bool {
        let result = unsafe sqlite3_step(handle)
        if result == SQLITE_ROW { return true }
        if result == SQLITE_DONE { return false }
        throw failure(result)
    }

    /// Runs a statement that gives no rows, or whose rows don't matter, and makes it ready to run again.
    @inlinable package mutating func run() throws(SQLiteError) {
        while try step() {}
        reset()
    }

    /// What `row` makes of every row, without nil; ready to run again.
    @inlinable package mutating func rows<Row>(
        _ row: (borrowing Statement) throws(SQLiteError) -> Row?
    ) throws(SQLiteError) -> [Row] {
        var result: [Row] = []
        while try step() {
            if let made = try row(self) { result.append(made) }
        }
        reset()
        return result
    }

    /// Back before the first row; bindings stay. Its result repeats the last step's error and isn't a new one.
    @inlinable package mutating func reset() {
        _ = unsafe sqlite3_reset(handle)
    }

    /// The error of this statement's last call.
    @inline(never) @usableFromInline func failure(_ result: Int32) -> SQLiteError {
        unsafe SQLiteError.last(of: sqlite3_db_handle(handle), result: result, sql: sql)
    }

    /// The text that it was compiled from.
    package var sql: String {
        guard let text = unsafe sqlite3_sql(handle) else { return "" }
        return unsafe String(cString: text)
    }

    /// SQLite's own judgement: it changes no database file directly.
    package var isReadOnly: Bool { unsafe sqlite3_stmt_readonly(handle) != 0 }

    /// Columns of the result; 0 for a statement that gives no rows.
    package var columnCount: Int { Int(unsafe sqlite3_column_count(handle)) }

    /// Empty when there is no such column.
    package func columnName(at index: Int) -> String {
        guard let index = Int32(exactly: index), let name = unsafe sqlite3_column_name(handle, index) else { return "" }
        return unsafe String(cString: name)
    }
}
