import CausewaySQLiteFile

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

    init(_ value: CellValue) {
        switch value {
        case .null: self = .null
        case .integer(let value): self = .integer(value)
        case .real(let value): self = .real(value)
        case .text(let value): self = .text(value)
        case .blob(let value): self = .blob(value)
        }
    }

    /// What a row can be found by; nil for what can't identify one.
    var stored: CellValue? {
        switch self {
        case .integer(let value): .integer(value)
        case .real(let value): .real(value)
        case .text(let value): .text(value)
        case .blob(let value): .blob(value)
        case .null, .carried, .temporary, .appended: nil
        }
    }
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
