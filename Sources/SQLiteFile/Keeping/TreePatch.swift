/// How the integers of one column of a tree change.
package struct ColumnPatch: Hashable, Sendable {
    /// Rows for which it applies: those whose other column holds one of some integers, before any change.
    package struct Condition: Hashable, Sendable {
        /// Position in the record, from 0.
        package var column: Int
        package var values: Set<Int64>

        package init(column: Int, values: Set<Int64>) {
            self.column = column
            self.values = values
        }
    }

    /// Position in the record, from 0: of a table's row the column's, of an index's entry the key's.
    package var column: Int
    package var map: IntegerMap
    /// nil: all rows.
    package var condition: Condition?
    /// Whether NULL is an error like a value that the map refuses, and so is a record that is too short to have the
    /// column.
    package var refusesNull: Bool

    package init(column: Int, map: IntegerMap, where condition: Condition? = nil, refusesNull: Bool = false) {
        self.column = column
        self.map = map
        self.condition = condition
        self.refusesNull = refusesNull
    }
}

/// What is overwritten in a tree's records.
package struct TreePatch: Hashable, Sendable {
    package let tree: TreeRoot
    package let columns: [ColumnPatch]

    /// - Parameters:
    ///   - tree: an index, a table, or a table WITHOUT ROWID, which counts as an index here.
    ///   - columns: several of one column only where no row meets the conditions of two.
    /// - Throws: what makes it no patch. Of an index, all columns must keep the order whatever the rows hold: every
    ///   value is named and gets a value that is greater than the one before, for every row.
    package init(_ tree: TreeRoot, _ columns: [ColumnPatch]) throws(PatchRefusal) {
        self.tree = tree
        self.columns = columns
        for (index, patch) in columns.enumerated() {
            for other in columns[..<index] where other.column == patch.column {
                guard let one = patch.condition, let two = other.condition, one.column == two.column,
                    one.values.isDisjoint(with: two.values)
                else { throw .ambiguous(column: patch.column) }
            }
            guard tree.kind == .index else { continue }
            if patch.condition != nil { throw .conditionInIndex(column: patch.column) }
            if patch.map.others == .stay { throw .openMapOfIndex(column: patch.column) }
            if let (old, next) = patch.map.firstDisorder { throw .changesOrder(old: old, next: next) }
        }
    }

    /// Columns of a record that must be found to patch it.
    var width: Int {
        columns.reduce(0) { max($0, $1.column + 1, ($1.condition?.column ?? -1) + 1) }
    }
}
