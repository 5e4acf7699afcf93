/// The pages of trees that a copy doesn't keep, and those that are free already: all become free in the copy, but for
/// the trees' roots, which become roots of empty trees.
///
/// Finding them costs what these trees cost; the others aren't read.
package struct FreedPages: Sendable {
    /// Roots of the freed trees, ascending by page.
    package let roots: [TreeRoot]
    /// Pages of freed trees without the roots.
    package let treePageCount: Int
    /// All pages that are free in the copy.
    let list: NewFreelist

    /// Pages that are free in the copy.
    package var pages: PageSet { list.pages }

    /// - Parameters:
    ///   - file: the source.
    ///   - trees: those that aren't kept.
    ///   - claims: nothing is claimed yet; then the free pages and all pages of these trees are.
    /// - Throws: what is damaged: as the readers; in the list of free pages; `.badMapEntry` where a pointer map says
    ///   otherwise.
    init(of file: PageFile, _ trees: [TreeRoot], claims: PageClaims) throws(PageReadError) {
        let layout = file.layout
        let old = try Freelist(of: file)
        for page in old.pages where !claims.claim(page) { throw PageReadError(.usedTwice, page: page) }
        let walk = TreePages(file, claims: claims)
        for tree in trees { try walk.claim(tree) }
        var pages = claims.pages
        roots = trees.sorted { $0.page < $1.page }
        for root in roots { pages.remove(root.page) }
        treePageCount = pages.count - old.count
        list = NewFreelist(pages, pageSize: layout.pageSize)
        try check(old, against: file)
    }

    /// Compares the kinds of pages with the pointer map, which has one entry a page: a page that is free here and is
    /// part of a kept tree shows.
    private func check(_ old: Freelist, against file: PageFile) throws(PageReadError) {
        let numbering = file.layout.numbering
        guard numbering.isAutoVacuum else { return }
        let pageSize = file.layout.pageSize
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: pageSize, alignment: 16)
        defer { unsafe bytes.deallocate() }
        guard let start = bytes.baseAddress else { return }
        var current = 0
        for page in pages {
            let map = numbering.mapPage(of: page)
            if map != current { try unsafe file.read(map, into: start) }
            current = map
            let type = unsafe bytes[PageNumbering.mapEntryLength * (page - map - 1)]
            let isAsExpected =
                old.contains(page)
                ? type == PointerMap.Entry.free.rawValue
                : type >= PointerMap.Entry.firstOverflow.rawValue && type <= PointerMap.Entry.child.rawValue
            guard isAsExpected else { throw PageReadError(.badMapEntry, page: page, value: Int64(type)) }
        }
    }
}

extension Freelist {
    /// The list of an audited file.
    init(of file: PageFile) throws(PageReadError) {
        let layout = file.layout
        let bounds = FreelistBounds(numbering: layout.numbering, pageCount: layout.pageCount)
        try self.init(first: layout.header.firstFreelistTrunk, count: layout.header.freelistCount, bounds) {
            number throws(PageReadError) in
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: layout.pageSize, alignment: 16)
            defer { unsafe buffer.deallocate() }
            guard let start = buffer.baseAddress else { return [] }
            try unsafe file.read(number, into: start)
            return unsafe Array(buffer)
        }
    }

    var count: Int { trunks.count + leaves.count }

    func contains(_ page: Int) -> Bool {
        trunks.contains(page) || leaves.contains(page)
    }

    /// All free pages.
    var pages: PageSet {
        var pages = leaves
        for trunk in trunks { pages.insert(trunk) }
        return pages
    }
}
