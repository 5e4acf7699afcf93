import CausewaySQLiteFile

extension KeptTable {
    /// Integers of one column that become others.
    package struct Renumbering: Hashable, Sendable {
        /// Place of the column in the records.
        package var place: Int
        /// The new number by the old one.
        package var numbers: [Int64: Int64]
    }
}

extension KeptTable.Renumbering {
    /// - Parameter kind: of the tree whose records have the numbers.
    /// - Throws: why they can't be overwritten: of an index also where the order of its entries would change.
    func check(in kind: TreeKind) throws(PatchRefusal) {
        let map = try IntegerMap(numbers, others: .refuse)
        // The root doesn't matter.
        _ = try TreePatch(TreeRoot(1, kind), [ColumnPatch(column: place, map: map)])
    }
}
