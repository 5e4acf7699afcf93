// Public, because the bodies below are inlined in other modules; no declaration shows a type of C.
public import CausewayCSQLite

/// Values of parameters. Positions start at 1, as in SQL (`?1`). A statement that has been stepped must be reset first,
/// else SQLite answers `.misuse`.
extension Statement {
    @inlinable package mutating func bind(_ value: Int64, at position: Int) throws(SQLiteError) {
        try check(unsafe sqlite3_bind_int64(handle, Int32(clamping: position), value))
    }

    @inlinable package mutating func bind(_ value: Int, at position: Int) throws(SQLiteError) {
        try bind(Int64(value), at: position)
    }

    /// SQLite stores NaN as NULL.
    @inlinable package mutating func bind(_ value: Double, at position: Int) throws(SQLiteError) {
        try check(unsafe sqlite3_bind_double(handle, Int32(clamping: position), value))
    }

    @inlinable package mutating func bindNull(at position: Int) throws(SQLiteError) {
        try check(unsafe sqlite3_bind_null(handle, Int32(clamping: position)))
    }

    /// A text; SQLite takes a copy.
    package mutating func bind(_ value: String, at position: Int) throws(SQLiteError) {
        var text = value
        let result = text.withUTF8 { bytes in
            unsafe causeway_bind_text_copy(
                handle, Int32(clamping: position), bytes.baseAddress, UInt64(bytes.count))
        }
        try check(result)
    }

    /// A blob; SQLite takes a copy.
    package mutating func bind(_ value: [UInt8], at position: Int) throws(SQLiteError) {
        let result = unsafe value.withUnsafeBytes { bytes in
            unsafe causeway_bind_blob_copy(
                handle, Int32(clamping: position), bytes.baseAddress, UInt64(bytes.count))
        }
        try check(result)
    }

    /// UTF-8 that SQLite reads in place: the caller keeps it until the parameter is bound again, the bindings are
    /// cleared or the statement ends.
    @unsafe @inlinable package mutating func bindText(
        borrowing bytes: UnsafeRawBufferPointer, at position: Int
    ) throws(SQLiteError) {
        try check(
            unsafe causeway_bind_text_static(
                handle, Int32(clamping: position), bytes.baseAddress, UInt64(bytes.count)))
    }

    /// A blob that SQLite reads in place; kept by the caller as with `bindText(borrowing:at:)`.
    @unsafe @inlinable package mutating func bindBlob(
        borrowing bytes: UnsafeRawBufferPointer, at position: Int
    ) throws(SQLiteError) {
        try check(
            unsafe causeway_bind_blob_static(
                handle, Int32(clamping: position), bytes.baseAddress, UInt64(bytes.count)))
    }

    /// UTF-8 of which SQLite takes a copy.
    @inlinable package mutating func bindText(
        copying bytes: UnsafeRawBufferPointer, at position: Int
    ) throws(SQLiteError) {
        try check(
            unsafe causeway_bind_text_copy(
                handle, Int32(clamping: position), bytes.baseAddress, UInt64(bytes.count)))
    }

    /// A blob of which SQLite takes a copy.
    @inlinable package mutating func bindBlob(
        copying bytes: UnsafeRawBufferPointer, at position: Int
    ) throws(SQLiteError) {
        try check(
            unsafe causeway_bind_blob_copy(
                handle, Int32(clamping: position), bytes.baseAddress, UInt64(bytes.count)))
    }

    /// The cell of another statement's row, storage class and bytes unchanged; SQLite takes a copy.
    @inlinable package mutating func bind(
        column: Int, of row: borrowing Statement, at position: Int
    ) throws(SQLiteError) {
        let value = unsafe sqlite3_column_value(row.handle, Int32(clamping: column))
        try check(unsafe sqlite3_bind_value(handle, Int32(clamping: position), value))
    }

    /// All parameters become NULL.
    @inlinable package mutating func clearBindings() {
        _ = unsafe sqlite3_clear_bindings(handle)
    }

    @inlinable func check(_ result: Int32) throws(SQLiteError) {
        if result != SQLITE_OK { throw failure(result) }
    }
}
