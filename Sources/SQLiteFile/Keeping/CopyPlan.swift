/// What becomes of each page of a database in a copy of it: kept at its own number, patched, or free.
///
/// Made from the source alone, so that a run that goes on makes the same one again.
package struct CopyPlan: Sendable {
    package let freed: FreedPages
    package let patches: [TreePatch]
    /// Pages of trees that stay or are patched, without the schema's first.
    package let stayingPageCount: Int
    let patched: PatchedPages
    let program: PatchProgram

    /// Walks the freed trees, the list of free pages, and the interior pages of the patched trees.
    ///
    /// A b-tree page that a freed tree shares with a kept one is an error: it would be empty in the copy. Overflow pages
    /// of kept trees aren't known; one that a freed tree has too shows only where the file has a pointer map.
    ///
    /// - Parameters:
    ///   - file: the source, audited.
    ///   - kept: trees whose pages stay as they are; the schema table, on page 1, needn't be named. Their interior pages
    ///     are read.
    ///   - patches: of trees whose integers change.
    ///   - freed: trees of which only an empty root stays.
    /// - Throws: what is damaged; `.usedTwice` also where a tree is named twice.
    package init(
        of file: PageFile, keeping kept: [TreeRoot], patching patches: [TreePatch] = [], freeing freed: [TreeRoot] = []
    ) throws(PageReadError) {
        let claims = PageClaims(pageCount: file.layout.pageCount)
        for tree in freed where tree.page < 2 { throw PageReadError(.badPageNumber, page: 1, value: Int64(tree.page)) }
        self.freed = try FreedPages(of: file, freed, claims: claims)
        for tree in [TreeRoot(1, .table)] + kept.filter({ $0.page != 1 }) {
            var path = TreePath(file, root: tree.page, tree.kind, claims: claims)
            try path.begin()
            while path.leaveFinished() { try path.moveRight() }
        }
        patched = try PatchedPages(of: file, patches, claims: claims)
        self.patches = patches
        let (count, free) = (file.layout.pageCount, self.freed.pages.count + self.freed.roots.count)
        stayingPageCount = max(0, count - 1 - free - file.layout.numbering.mapPageCount(ofFirst: count))
        program = PatchProgram(patches)
    }
}
