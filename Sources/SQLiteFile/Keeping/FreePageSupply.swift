/// The free pages of a file under construction: its trees get them first, ascending.
///
/// The pages that hold the list aren't given: so the list can be read again from the file by a run that goes on,
/// whatever was written meanwhile, and a position is all that must be saved. A few others, enough for the list of what
/// is left, are held back. Together that is one page in 500 of pages with 4,096 bytes.
struct FreePageSupply: Sendable {
    private let list: Freelist
    /// Pages held back for the list of what is left.
    private let reserve: Int
    /// No page from here on is given.
    private let end: Int
    /// The first page that wasn't given yet, or one before it.
    private(set) var next: Int

    /// - Parameters:
    ///   - list: as SQLite left it.
    ///   - next: from a state; 0: nothing was given.
    ///   - pageSize: bytes.
    init(_ list: Freelist, next: Int, pageSize: Int) {
        self.list = list
        self.next = next
        let perTrunk = NewFreelist.leavesPerTrunk(pageSize: pageSize)
        reserve = (list.trunks.count + perTrunk - 1) / perTrunk
        end = reserve > 0 && list.leaves.count > reserve ? list.leaves.last(reserve) : 0
    }

    /// Gives adjacent pages.
    ///
    /// - Parameter count: at least 1; the most that are wanted.
    /// - Returns: nil where there are no more.
    mutating func take(_ count: Int) -> Range<Int>? {
        guard next < end, let first = list.leaves.first(from: next), first < end else { return nil }
        next = list.leaves.endOfRun(from: first, limit: min(end, first + count))
        return first..<next
    }

    /// Pages that weren't given, without those that hold the list.
    var unused: PageSet {
        var pages = list.leaves
        pages.removeAll(below: next)
        return pages
    }

    /// Whether it may be given, or that page was: what is there means nothing.
    func isLeaf(_ page: Int) -> Bool { list.leaves.contains(page) }

    /// What is left when the file is complete: free pages at its end are cut off, of all others there is a new list.
    ///
    /// Pages that hold the old list stay in the file as they are, and the new one is elsewhere: until SQLite changes
    /// the file, a run that goes on from an earlier state finds the old list.
    ///
    /// - Parameters:
    ///   - pageCount: pages of the file so far.
    ///   - numbering: of the file.
    /// - Returns: pages of the complete file, and the list; nil where the list stays as it is.
    func rest(of pageCount: Int, _ numbering: PageNumbering) -> (pageCount: Int, list: NewFreelist)? {
        // Too few pages to write another list: then none was given.
        guard end > 0 else { return nil }
        var unused = unused
        var last = pageCount
        while last > 1, unused.contains(last) || numbering.isOwn(last) { last -= 1 }
        if last == pageCount, next == 0 { return nil }
        // The list must have its place, and SQLite lets no file end with one of its own pages.
        let kept = unused.first(reserve)
        last = max(last, kept)
        unused.removeAll(from: last + 1)
        var pages = unused
        for trunk in list.trunks { pages.insert(trunk) }
        return (last, NewFreelist(pages, pageSize: numbering.pageSize, trunksIn: unused))
    }
}
