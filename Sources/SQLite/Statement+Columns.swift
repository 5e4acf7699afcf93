// Public, because the bodies below are inlined in other modules; no declaration shows a type of C.
public import CausewayCSQLite

/// SQLite's five storage classes; raw values are those of the C library.
@usableFromInline package enum StorageClass: Int32, Hashable, Sendable {
    case integer = 1
    case real = 2
    case text = 3
    case blob = 4
    case null = 5
}

/// Reads of the current row. Indices start at 0; a column that isn't there reads as NULL.
extension Statement {
    /// The storage class of the cell as stored. Ask before reading it as another: that converts it.
    @inlinable package func type(at index: Int) -> StorageClass {
        switch unsafe sqlite3_column_type(handle, Int32(clamping: index)) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    @inlinable package func isNull(at index: Int) -> Bool {
        unsafe sqlite3_column_type(handle, Int32(clamping: index)) == SQLITE_NULL
    }

    /// NULL reads as 0; texts and reals are converted as SQLite's CAST does.
    @inlinable package func int64(at index: Int) -> Int64 {
        unsafe sqlite3_column_int64(handle, Int32(clamping: index))
    }

    /// NULL reads as 0; texts and integers are converted as SQLite's CAST does.
    @inlinable package func double(at index: Int) -> Double {
        unsafe sqlite3_column_double(handle, Int32(clamping: index))
    }

    /// The bytes of a blob or, as stored, of a text; NULL is empty. No copy.
    ///
    /// Valid until the statement is stepped, reset or ended, or the cell is read as another type.
    @unsafe @inlinable package func unsafeBytes(at index: Int) -> UnsafeRawBufferPointer {
        let column = Int32(clamping: index)
        // The pointer first, then its length: the order in which SQLite promises that they fit.
        let start = unsafe sqlite3_column_blob(handle, column)
        return unsafe UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    /// The cell as UTF-8, converted when it is no text or the database is in UTF-16; NULL is empty. Not checked for
    /// validity. No copy; valid as with `unsafeBytes(at:)`.
    @unsafe @inlinable package func unsafeText(at index: Int) -> UnsafeRawBufferPointer {
        let column = Int32(clamping: index)
        let start = unsafe UnsafeRawPointer(sqlite3_column_text(handle, column))
        return unsafe UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    /// Lends the cell as UTF-8, not checked for validity; NULL is empty.
    @inlinable package func withText<Result, Failure: Error>(
        at index: Int, _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(unsafe RawSpan(_unsafeBytes: unsafeText(at: index)))
    }

    /// A copy of the cell as a string; nil for NULL.
    /// - Throws: `.mismatch` when the bytes aren't valid UTF-8, `.outOfMemory` when SQLite had no memory to convert it.
    package func string(at index: Int) throws(SQLiteError) -> String? {
        if isNull(at: index) { return nil }
        let bytes = unsafe unsafeText(at: index)
        // SQLite gives an address for every text, the empty one too.
        if unsafe bytes.baseAddress == nil { throw failure(SQLITE_NOMEM) }
        guard let text = unsafe String(validating: bytes, as: UTF8.self) else {
            throw SQLiteError(
                code: .mismatch,
                message: "column \(columnName(at: index)) holds text that isn't valid UTF-8; repair the row first",
                sql: sql, path: unsafe SQLiteError.path(of: sqlite3_db_handle(handle)))
        }
        return text
    }

    /// A copy of the bytes of a blob or text; nil for NULL.
    package func bytes(at index: Int) -> [UInt8]? {
        if isNull(at: index) { return nil }
        return unsafe Array(unsafeBytes(at: index))
    }
}
