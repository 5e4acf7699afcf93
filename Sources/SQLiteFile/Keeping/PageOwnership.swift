extension PageFile {
    /// Checks that every page belongs to one tree, to the list of free pages or to the pointer map, and to none twice.
    ///
    /// - Parameters:
    ///   - claims: pages of trees that were read before, whole; raised.
    ///   - trees: all other trees, but for the schema's; they are read.
    /// - Throws: what is damaged; `.usedTwice`, `.unowned` for the first page.
    package func checkOwnership(_ claims: PageClaims, andOf trees: [TreeRoot]) throws(PageReadError) {
        for page in try Freelist(of: self).pages where !claims.claim(page) {
            throw PageReadError(.usedTwice, page: page)
        }
        let walk = TreePages(self, claims: claims)
        for tree in [TreeRoot(1, .table)] + trees { try walk.claim(tree) }
        let owned = claims.pages
        for page in 1...layout.pageCount where !owned.contains(page) && layout.mayHoldContent(page) {
            throw PageReadError(.unowned, page: page)
        }
    }
}
