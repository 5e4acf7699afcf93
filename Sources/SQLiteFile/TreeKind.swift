/// A b-tree's kind (https://www.sqlite.org/fileformat2.html#b_tree_pages).
package enum TreeKind: Hashable, Sendable {
    /// Rows by rowid.
    case table
    /// Entries by key; a table WITHOUT ROWID has this form too.
    case index

    /// First byte of a leaf.
    var leafType: UInt8 { (self == .table ? TreePage.Kind.tableLeaf : .indexLeaf).rawValue }
    /// First byte of an interior page.
    var interiorType: UInt8 { (self == .table ? TreePage.Kind.tableInterior : .indexInterior).rawValue }

    func spill(pageSize: Int) -> PayloadSpill {
        self == .table ? .table(pageSize: pageSize) : .index(pageSize: pageSize)
    }
}
