/// Which page numbers b-trees and overflow chains may have, and which are taken by the file's own pages
/// (https://www.sqlite.org/fileformat2.html#pages).
package struct PageNumbering: Hashable, Sendable {
    /// Bytes.
    let pageSize: Int
    /// Whether the file has pointer-map pages.
    let isAutoVacuum: Bool

    /// The largest number that SQLite gives (https://www.sqlite.org/limits.html, maximum number of pages).
    static let largest = 4_294_967_294

    /// Of a file whose header says so; bytes reserved at the end of pages are 0 in the files that are read and built.
    init(_ header: DatabaseHeader) {
        self.init(pageSize: header.pageSize, isAutoVacuum: header.autoVacuum != .none)
    }

    package init(pageSize: Int, isAutoVacuum: Bool) {
        self.pageSize = pageSize
        self.isAutoVacuum = isAutoVacuum
    }

    /// The page with the byte 2³⁰, at which SQLite locks: it is never used
    /// (https://www.sqlite.org/fileformat2.html#the_lock_byte_page).
    var pendingBytePage: Int { (1 << 30) / pageSize + 1 }

    /// A pointer-map page and the pages it describes
    /// (https://www.sqlite.org/fileformat2.html#pointer_map_or_ptrmap_pages).
    private var pagesPerMap: Int { pageSize / Self.mapEntryLength + 1 }

    /// Bytes of an entry of the pointer map.
    static let mapEntryLength = 5

    /// The pointer-map page that describes a page, which is 2 or greater; a pointer-map page itself gives itself.
    ///
    /// One that would be the pending-byte page comes right after it (SQLite: btree.c, ptrmapPageno).
    func mapPage(of page: Int) -> Int {
        let map = (page - 2) / pagesPerMap * pagesPerMap + 2
        return map == pendingBytePage ? map + 1 : map
    }

    func isMapPage(_ page: Int) -> Bool {
        isAutoVacuum && page >= 2 && mapPage(of: page) == page
    }

    /// How many of the first pages of a file are pointer-map pages.
    package func mapPageCount(ofFirst pages: Int) -> Int {
        isAutoVacuum && pages >= 2 ? (pages - 2) / pagesPerMap + 1 : 0
    }

    /// Whether a page is the file's own: neither a tree nor the list of free pages may have it.
    func isOwn(_ page: Int) -> Bool {
        page == pendingBytePage || isMapPage(page)
    }

    /// The first number after `page`, an ordinary one, that may not be ordinary.
    func end(ofRunFrom page: Int) -> Int {
        var end = isAutoVacuum ? (page - 2) / pagesPerMap * pagesPerMap + 2 + pagesPerMap : Int.max
        if page < pendingBytePage { end = min(end, pendingBytePage) }
        return end
    }
}

/// The numbers that pages in adjacent places of a buffer got: ascending, in runs of adjacent ones.
struct PageNumbers: Sendable {
    struct Run: Hashable, Sendable {
        let places: Range<Int>
        /// Number of the run's first page.
        let number: Int
    }

    private(set) var runs: [Run] = []

    mutating func append(places: Range<Int>, from number: Int) {
        runs.append(Run(places: places, number: number))
    }

    /// The number of the page at a place; nil where it got none.
    subscript(place: Int) -> Int? {
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].places.upperBound <= place { low = middle + 1 } else { high = middle }
        }
        guard low < runs.count, runs[low].places.contains(place) else { return nil }
        return runs[low].number + place - runs[low].places.lowerBound
    }
}
