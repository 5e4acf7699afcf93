/// Which page numbers b-trees and overflow chains may have, and which are taken by the file's own pages
/// (https://www.sqlite.org/fileformat2.html#pages).
struct PageNumbering: Hashable, Sendable {
    /// Bytes.
    let pageSize: Int
    /// Whether the file has pointer-map pages.
    let isAutoVacuum: Bool

    /// The largest number that SQLite gives (https://www.sqlite.org/limits.html, maximum number of pages).
    static let largest = 4_294_967_294

    /// The page with the byte 2³⁰, at which SQLite locks: it is never used.
    var pendingBytePage: Int { 0x4000_0000 / pageSize + 1 }

    /// A pointer-map page and the pages it describes: 5 bytes each.
    private var pagesPerMap: Int { pageSize / 5 + 1 }

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
