/// How far a tree is built: what a log writes down to go on from here. Everything before it is in the file.
///
/// Holds as much as the tree is deep, not as it is long: a page for each level.
package struct TreeState: Hashable, Sendable {
    /// A page and the cell between it and the next page of its level.
    package struct Child: Hashable, Sendable {
        package var page: Int
        /// The cell's bytes without the child: of a table the largest rowid below the page, of an index an entry; empty
        /// for an index's last page.
        package var divider: [UInt8]

        package init(page: Int, divider: [UInt8]) {
            self.page = page
            self.divider = divider
        }
    }

    /// The last page of a level, not yet in the file.
    package struct Level: Hashable, Sendable {
        /// The page so far, as it would be in the file.
        package var page: [UInt8]
        /// One or two children after those on the page. Which of them gets a cell, and which is the last of its page,
        /// isn't known before more of them come: no page may end up without a cell.
        package var pending: [Child]
        /// Whether pages of the level are in the file already; then the level can't be the root.
        package var hasPages: Bool

        package init(page: [UInt8], pending: [Child], hasPages: Bool) {
            self.page = page
            self.pending = pending
            self.hasPages = hasPages
        }
    }

    package var kind: TreeKind
    /// Number of the root page, which exists.
    package var root: Int
    /// The largest so far; nil before the first row, and for indexes.
    package var largestRowid: Int64?
    /// The only leaf so far, which is the root if no more come; else empty.
    package var heldLeaf: [UInt8] = []
    /// Whether an index's last leaf came.
    package var hasLastLeaf = false
    /// Levels of interior pages, the one above the leaves first.
    package var levels: [Level] = []

    package init(kind: TreeKind, root: Int) {
        self.kind = kind
        self.root = root
    }
}
