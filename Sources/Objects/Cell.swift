/// A cell of a row that isn't written yet, or that was read for changing.
package enum Cell {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
    /// The cell with this place in the row's source record, bytes unchanged: it is never decoded.
    case carried(Int32)
    /// The key of a row that has none yet: its table, and its place among the rows of its context.
    case temporary(table: Int32, index: Int32)
    /// The place after the last one in an ordered relationship; numbered when the row is written. The table keeps the
    /// order of appending.
    case appended
}

/// The other end of a link: a key, or a row that has none yet.
enum RowReference: Hashable {
    case key(Int64)
    case temporary(table: Int32, index: Int32)

    var cell: Cell {
        switch self {
        case .key(let key): .integer(key)
        case .temporary(let table, let index): .temporary(table: table, index: index)
        }
    }
}
