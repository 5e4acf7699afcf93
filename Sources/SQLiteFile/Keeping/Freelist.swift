/// The list of a database's free pages (https://www.sqlite.org/fileformat2.html#the_freelist): trunk pages, each with
/// the number of the next one and the numbers of free pages, its leaves.
struct Freelist {
    /// Pages that hold the list.
    private(set) var trunks: PageSet
    /// Other free pages. What they hold means nothing.
    private(set) var leaves: PageSet

    /// Reads the whole list.
    ///
    /// - Parameters:
    ///   - first: the first trunk page, as the header says; 0 for none.
    ///   - count: free pages, as the header says.
    ///   - layout: of the file.
    ///   - read: gives a page's bytes.
    /// - Throws: `.badPageNumber`, `.usedTwice` also for a list that runs in a circle, `.badFreeTrunk`,
    ///   `.badFreeCount`.
    init(
        first: Int, count: Int, _ layout: FreelistBounds, read: (Int) throws(PageReadError) -> [UInt8]
    ) throws(PageReadError) {
        trunks = PageSet(pageCount: layout.pageCount)
        leaves = PageSet(pageCount: layout.pageCount)
        var (trunk, holder) = (first, 1)
        while trunk != 0 {
            try add(trunk, to: \.trunks, namedBy: holder, layout)
            let page = try read(trunk)
            func word(_ index: Int) -> Int { page[4 * index..<4 * index + 4].reduce(0) { $0 << 8 | Int($1) } }
            let leafCount = word(1)
            guard leafCount <= layout.numbering.pageSize / 4 - 2 else {
                throw PageReadError(.badFreeTrunk, page: trunk, value: Int64(leafCount))
            }
            for leaf in 0..<leafCount { try add(word(leaf + 2), to: \.leaves, namedBy: trunk, layout) }
            // The list can't be longer: no page is in it twice.
            (trunk, holder) = (word(0), trunk)
        }
        guard trunks.count + leaves.count == count else {
            throw PageReadError(.badFreeCount, page: 1, value: Int64(count))
        }
    }

    private mutating func add(
        _ page: Int, to set: WritableKeyPath<Freelist, PageSet>, namedBy holder: Int, _ layout: FreelistBounds
    ) throws(PageReadError) {
        guard layout.mayBeFree(page) else {
            throw PageReadError(.badPageNumber, page: holder, value: Int64(page))
        }
        guard !trunks.contains(page), !leaves.contains(page) else { throw PageReadError(.usedTwice, page: page) }
        self[keyPath: set].insert(page)
    }
}

/// Which pages of a file may be free.
struct FreelistBounds {
    let numbering: PageNumbering
    /// Pages of the file.
    let pageCount: Int

    func mayBeFree(_ page: Int) -> Bool {
        page >= 2 && page <= pageCount && !numbering.isOwn(page)
    }
}
