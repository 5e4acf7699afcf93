extension PageFile {
    /// The number of leaves of a b-tree, from its interior pages: no leaf but the first is read.
    ///
    /// - Throws: what is damaged.
    package func leafCount(of tree: TreeRoot) throws(PageReadError) -> Int {
        var path = TreePath(
            self, root: tree.page, tree.kind, claims: PageClaims(pageCount: layout.pageCount))
        try path.begin()
        var count = 1
        while path.leaveFinished() {
            try path.moveRight()
            count += 1
        }
        return count
    }
}
