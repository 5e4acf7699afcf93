import CausewaySQLite
import CausewaySQLiteFile

extension Statement {
    /// The cell of a row, storage class and bytes unchanged. SQLite reads texts and blobs in place: the record must
    /// live until the parameter is bound again or the bindings are cleared.
    mutating func bind(cell: Int, of row: RowView, at position: Int) throws(SQLiteError) {
        let type = row.serialType(at: cell)
        if type.isNull {
            try bindNull(at: position)
        } else if let integer = row.integer(at: cell) {
            try bind(integer, at: position)
        } else if let real = row.real(at: cell) {
            try bind(real, at: position)
        } else if type.isText {
            try unsafe bindText(borrowing: row.unsafeBytes(at: cell), at: position)
        } else {
            try unsafe bindBlob(borrowing: row.unsafeBytes(at: cell), at: position)
        }
    }
}
