/// A cell as a `RowTable` keeps it: 16 bytes that own nothing, so that rows are added and forgotten as plain memory.
package enum StoredCell {
    case null
    case integer(Int64)
    case real(Double)
    /// UTF-8 among the table's `texts`.
    case text(TextPlace)
    /// A text that is too long to be copied, or a blob: its place among the table's `values`.
    case value(Int32)
    /// As in `Cell`.
    case carried(Int32)
    case temporary(table: Int32, index: Int32)
    case appended
}

/// Where a text is among the bytes of its table.
package struct TextPlace {
    package let offset: UInt32
    package let length: UInt32

    /// The same as a range.
    package var range: Range<Int> { Int(offset)..<Int(offset) + Int(length) }
}
