extension PageFile {
    /// Reads a tree's pages, whose rows don't matter, and claims them.
    ///
    /// - Throws: what is damaged; `.usedTwice`.
    package func claim(_ tree: TreeRoot, _ claims: PageClaims) throws(PageReadError) {
        try TreePages(self, claims: claims).claim(tree)
    }

    /// Claims the pages of the list of free pages.
    ///
    /// - Throws: what is damaged; `.usedTwice`.
    package func claimFreePages(_ claims: PageClaims) throws(PageReadError) {
        for page in try Freelist(of: self).pages where !claims.claim(page) {
            throw PageReadError(.usedTwice, page: page)
        }
    }

    /// Checks that every page belongs to one tree, to the list of free pages or to the pointer map, and to none twice.
    ///
    /// - Parameter claims: pages of all trees but the schema's; raised.
    /// - Throws: what is damaged; `.usedTwice`, `.unowned` for the first page.
    package func checkOwnership(_ claims: PageClaims) throws(PageReadError) {
        try claimFreePages(claims)
        try claim(TreeRoot(1, .table), claims)
        let owned = claims.pages
        for page in 1...layout.pageCount where !owned.contains(page) && layout.mayHoldContent(page) {
            throw PageReadError(.unowned, page: page)
        }
    }
}
