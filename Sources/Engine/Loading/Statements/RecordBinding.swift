import CausewaySQLite
import CausewaySQLiteFile

extension Statement {
    /// The cell of a record, storage class and bytes unchanged. SQLite reads texts and blobs where they are: the record
    /// stays until the parameter is bound again or the bindings are cleared.
    mutating func bind(cell: Int, of reader: RecordReader, at position: Int) throws(SQLiteError) {
        let type = reader.serialType(at: cell)
        if type.isNull {
            try bindNull(at: position)
        } else if let integer = reader.integer(at: cell) {
            try bind(integer, at: position)
        } else if let real = reader.real(at: cell) {
            try bind(real, at: position)
        } else if type.isText {
            try unsafe bindText(borrowing: reader.unsafeBytes(at: cell), at: position)
        } else {
            try unsafe bindBlob(borrowing: reader.unsafeBytes(at: cell), at: position)
        }
    }
}
