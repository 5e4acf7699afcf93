/// What was found and overwritten in patched trees. Counts of chunks are added up.
package struct PatchCounts: Hashable, Sendable {
    /// Of one column's patch.
    package struct Column: Hashable, Sendable {
        /// Cells with each old value, in the order of the map's pairs.
        package var values: [Int]
        /// Cells with other values, which stayed.
        package var others = 0
        /// Cells with NULL, and records that are too short to have the column.
        package var nulls = 0
        /// Records that the condition leaves out.
        package var leftOut = 0

        package init(values: [Int]) {
            self.values = values
        }
    }

    package struct Tree: Hashable, Sendable {
        /// Rows or entries.
        package var records = 0
        /// Those of them for which overflow pages had to be read: they are patched by `DatabaseCopy.patchOverflow`.
        package var longRecords = 0
        /// In the order of the patch's columns.
        package var columns: [Column]
    }

    /// In the order in which the patches were given.
    package var trees: [Tree]

    package init(_ patches: [TreePatch]) {
        trees = patches.map { patch in
            Tree(columns: patch.columns.map { Column(values: [Int](repeating: 0, count: $0.map.pairs.count)) })
        }
    }

    /// Adds the counts of another chunk of the same copy.
    package mutating func add(_ other: PatchCounts) {
        precondition(trees.count == other.trees.count, "counts of the same patches")
        numbers = zip(numbers, other.numbers).map { $0 + $1 }
    }

    /// All of them, in an order that follows from the patches.
    package var numbers: [Int] {
        get {
            trees.flatMap { tree in
                [tree.records, tree.longRecords]
                    + tree.columns.flatMap { $0.values + [$0.others, $0.nulls, $0.leftOut] }
            }
        }
        set {
            var rest = newValue[...]
            for tree in trees.indices {
                trees[tree].records = rest.removeFirst()
                trees[tree].longRecords = rest.removeFirst()
                for column in trees[tree].columns.indices {
                    let count = trees[tree].columns[column].values.count
                    trees[tree].columns[column].values = Array(rest.prefix(count))
                    rest = rest.dropFirst(count)
                    trees[tree].columns[column].others = rest.removeFirst()
                    trees[tree].columns[column].nulls = rest.removeFirst()
                    trees[tree].columns[column].leftOut = rest.removeFirst()
                }
            }
        }
    }
}
