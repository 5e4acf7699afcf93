import CBenchmarkSQLite

/// As much of SQLite as hand-written SQL needs.
@safe final class Database {
    private let handle: OpaquePointer

    /// Opens a database, or makes it; the path may be a URI (https://www.sqlite.org/uri.html).
    init(_ path: String) throws {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI
        let code = unsafe sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK, let handle = unsafe handle else {
            unsafe sqlite3_close(handle)
            throw BenchmarkError("\(path): can't be opened (SQLite \(code))")
        }
        unsafe self.handle = handle
    }

    deinit {
        unsafe sqlite3_close_v2(handle)
    }

    /// Runs statements one after the other.
    func execute(_ sql: String) throws {
        guard unsafe sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure(sql) }
    }

    /// The first column of the first row.
    func integer(_ sql: String) throws -> Int {
        var statement: OpaquePointer?
        defer { unsafe sqlite3_finalize(statement) }
        guard unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK,
            unsafe sqlite3_step(statement) == SQLITE_ROW
        else { throw failure(sql) }
        return Int(unsafe sqlite3_column_int64(statement, 0))
    }

    /// The first column of every row, as text; NULL as an empty one.
    func texts(_ sql: String) throws -> [String] {
        var statement: OpaquePointer?
        defer { unsafe sqlite3_finalize(statement) }
        guard unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure(sql) }
        var texts: [String] = []
        while true {
            switch unsafe sqlite3_step(statement) {
            case SQLITE_ROW:
                texts.append(unsafe sqlite3_column_text(statement, 0).map { unsafe String(cString: $0) } ?? "")
            case SQLITE_DONE: return texts
            default: throw failure(sql)
            }
        }
    }

    private func failure(_ sql: String) -> BenchmarkError {
        BenchmarkError("\(unsafe String(cString: sqlite3_errmsg(handle))) in: \(sql.prefix(200))")
    }
}
