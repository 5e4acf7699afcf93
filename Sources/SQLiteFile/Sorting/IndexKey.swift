/// What of a table's rows an index holds, and in which order: its columns, without the rowid that ends every entry.
///
/// For indexes on columns with BINARY collation, over all rows. Expressions, other collations and WHERE are the
/// caller's to refuse; so is a DESC in a file of a schema format below 4, where SQLite ignores it.
package struct IndexKey: Hashable, Sendable {
    /// Where a column's value comes from.
    package enum Source: Hashable, Sendable {
        /// The cell of this number in the table's records. Records that are shorter have the default, in the form that
        /// the column's affinity gives it.
        case cell(Int, default: CellValue = .null)
        /// The rowid: the column is another name of it (INTEGER PRIMARY KEY).
        case rowid
    }

    package struct Column: Hashable, Sendable {
        package let source: Source
        package let isDescending: Bool

        package init(_ source: Source, isDescending: Bool = false) {
            self.source = source
            self.isDescending = isDescending
        }
    }

    /// At least one.
    package let columns: [Column]
    /// Whether two rows with equal keys are an error; keys with a NULL never are equal.
    package let isUnique: Bool

    package init(_ columns: [Column], isUnique: Bool = false) {
        precondition(!columns.isEmpty, "an index has a column")
        self.columns = columns
        self.isUnique = isUnique
    }
}
