/// What becomes of each page of a database in a copy of it: kept at its own number, patched, or free.
///
/// Made from the source alone, so that a run that goes on makes the same one again.
package struct CopyPlan: Sendable {
    package let freed: FreedPages
    /// Of the trees that are patched, then of those that are only read.
    package let patches: [TreePatch]
    /// The first of `patches` that changes nothing.
    let firstRead: Int
    /// Pages of trees that stay or are patched, without the schema's first.
    package let stayingPageCount: Int
    let patched: PatchedPages
    let program: PatchProgram

    /// Walks the freed trees, the list of free pages, and the interior pages of the patched trees.
    ///
    /// A b-tree page that a freed tree shares with a kept one is an error: it would be empty in the copy. Overflow
    /// pages of kept trees aren't known; one that a freed tree has too shows only where the file has a pointer map.
    ///
    /// - Parameters:
    ///   - file: the source, audited.
    ///   - kept: trees whose pages stay as they are; the schema table, on page 1, needn't be named. Their interior
    ///     pages are read.
    ///   - patches: of trees whose integers change.
    ///   - read: of trees that stay too, but whose records are read as they are copied: every value of a map becomes
    ///     itself. A copy that shares its extents with the source doesn't read them.
    ///   - freed: trees of which only an empty root stays.
    /// - Throws: what is damaged; `.usedTwice` also where a tree is named twice.
    package init(
        of file: PageFile, keeping kept: [TreeRoot], patching patches: [TreePatch] = [], reading read: [TreePatch] = [],
        freeing freed: [TreeRoot] = []
    ) throws(PageReadError) {
        let claims = PageClaims(pageCount: file.layout.pageCount)
        for tree in freed where tree.page < 2 { throw PageReadError(.badPageNumber, page: 1, value: Int64(tree.page)) }
        self.freed = try FreedPages(of: file, freed, claims: claims)
        for tree in [TreeRoot(1, .table)] + kept.filter({ $0.page != 1 }) {
            var path = TreePath(file, root: tree.page, tree.kind, claims: claims)
            try path.begin()
            while path.leaveFinished() { try path.moveRight() }
        }
        self.patches = patches + read
        firstRead = patches.count
        patched = try PatchedPages(of: file, self.patches, claims: claims)
        let (count, free) = (file.layout.pageCount, self.freed.pages.count + self.freed.roots.count)
        stayingPageCount = max(0, count - 1 - free - file.layout.numbering.mapPageCount(ofFirst: count))
        program = PatchProgram(self.patches)
    }

    /// B-tree pages of trees whose integers change.
    package var changedPageCount: Int { firstRead == 0 ? 0 : patched.pages.count { changes($0) } }

    /// Whether a page's bytes may change, and must be made.
    func changes(_ page: Int) -> Bool {
        guard let owner = patched[page] else { return false }
        return owner.tree < firstRead
    }
}
