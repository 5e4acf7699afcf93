/// A list of free pages as we write it: the same for the same pages, ascending, the lowest pages its trunks.
///
/// The trunks come first so that the end of the file can be cut off while the list stays.
struct NewFreelist: Sendable {
    let pageSize: Int
    /// Trunk pages and their leaves.
    let pages: PageSet
    /// Trunk pages, ascending, and the first leaf of each; 0 where a trunk has none.
    private let trunks: [(page: Int, firstLeaf: Int)]

    /// Leaves of a full trunk. The last six places stay empty, as SQLite leaves them
    /// (https://www.sqlite.org/fileformat2.html#the_freelist).
    static func leavesPerTrunk(pageSize: Int) -> Int { pageSize / 4 - 8 }

    init(_ pages: PageSet, pageSize: Int) {
        self.init(pages, pageSize: pageSize, trunksIn: pages)
    }

    /// - Parameters:
    ///   - pages: all free pages.
    ///   - pageSize: bytes.
    ///   - candidates: those of them that may become trunks, enough for all.
    init(_ pages: PageSet, pageSize: Int, trunksIn candidates: PageSet) {
        self.pageSize = pageSize
        self.pages = pages
        let perTrunk = Self.leavesPerTrunk(pageSize: pageSize)
        let count = (pages.count + perTrunk) / (perTrunk + 1)
        var numbers: [Int] = []
        numbers.reserveCapacity(count)
        var next = 0
        while numbers.count < count, let page = candidates.first(from: next) {
            numbers.append(page)
            next = page + 1
        }
        precondition(numbers.count == count, "there are enough pages for the list")
        trunks = Self.divide(pages, among: numbers, perTrunk)
    }

    private static func divide(
        _ pages: PageSet, among trunks: [Int], _ perTrunk: Int
    ) -> [(page: Int, firstLeaf: Int)] {
        var result = trunks.map { (page: $0, firstLeaf: 0) }
        var (next, place, trunk) = (pages.first(from: 0), 0, 0)
        while let page = next {
            if trunk < trunks.count, trunks[trunk] == page {
                trunk += 1
            } else {
                if place % perTrunk == 0 { result[place / perTrunk].firstLeaf = page }
                place += 1
            }
            next = pages.first(from: page + 1)
        }
        return result
    }

    /// The first trunk page; 0 for an empty list.
    var first: Int { trunks.first?.page ?? 0 }
    /// All free pages.
    var count: Int { pages.count }
    var trunkPages: [Int] { trunks.map(\.page) }

    func isTrunk(_ page: Int) -> Bool { index(of: page) != nil }

    private func index(of page: Int) -> Int? {
        var (low, high) = (0, trunks.count)
        while low < high {
            let middle = (low + high) / 2
            if trunks[middle].page < page { low = middle + 1 } else { high = middle }
        }
        return low < trunks.count && trunks[low].page == page ? low : nil
    }

    /// Writes a trunk page's content.
    /// - Parameters:
    ///   - page: one of `trunkPages`.
    ///   - target: room for the page.
    @unsafe func write(trunk page: Int, to target: UnsafeMutableRawPointer) {
        guard let trunk = index(of: page) else { preconditionFailure("no trunk of this list") }
        unsafe target.zero(pageSize)
        let next = trunk + 1 < trunks.count ? trunks[trunk + 1].page : 0
        unsafe target.storeBig(UInt32(truncatingIfNeeded: next), at: 0)
        let most = Self.leavesPerTrunk(pageSize: pageSize)
        var (count, leaf) = (0, trunks[trunk].firstLeaf)
        while leaf != 0, count < most {
            if !isTrunk(leaf) {
                unsafe target.storeBig(UInt32(truncatingIfNeeded: leaf), at: 8 + 4 * count)
                count += 1
            }
            leaf = pages.first(from: leaf + 1) ?? 0
        }
        unsafe target.storeBig(UInt32(truncatingIfNeeded: count), at: 4)
    }
}
