package import CausewayPlatform

/// A new database file that is filled page by page: gives out page numbers in sequence, those of free pages first, then
/// those behind the last; writes pages, keeps the pointer map, and sets the header's numbers at the end.
///
/// Stock SQLite makes the file, with its schema and empty trees, and closes it; no connection to it is open while a
/// writer is. Numbers skip the pages that are the file's own: pointer-map pages and the pending-byte page. The header
/// keeps its first page count, and the first list of free pages, until `finish`: before that, SQLite sees the file as
/// it made it.
///
/// After a throw the file isn't usable: build it anew, or go on from the last state.
package struct DatabaseWriter: ~Copyable {
    private let file: OpenFile
    private let numbering: PageNumbering
    private let changeCounter: UInt32
    /// The number after the last page given out.
    private var nextPage: Int
    private var pointerMap: PointerMap?
    /// The list of free pages, as SQLite left it: the first page and the number of free pages.
    private let freelist: (first: Int, count: Int)
    private var freePages: FreePageSupply

    /// What a log writes down to go on from here.
    package struct State: Hashable, Sendable {
        /// Bytes.
        package var pageSize: Int
        package var isAutoVacuum: Bool
        /// The number after the last page given out.
        package var nextPage: Int
        /// As SQLite left it.
        package var changeCounter: UInt32
        /// As SQLite left it: the first page of the list of free pages, 0 for none. The list stays in the file.
        package var firstFreelistTrunk: Int
        /// As SQLite left it: free pages.
        package var freelistCount: Int
        /// Free pages before this one aren't given any more.
        package var nextFreePage: Int

        package init(
            pageSize: Int, isAutoVacuum: Bool, nextPage: Int, changeCounter: UInt32, firstFreelistTrunk: Int = 0,
            freelistCount: Int = 0, nextFreePage: Int = 0
        ) {
            self.pageSize = pageSize
            self.isAutoVacuum = isAutoVacuum
            self.nextPage = nextPage
            self.changeCounter = changeCounter
            self.firstFreelistTrunk = firstFreelistTrunk
            self.freelistCount = freelistCount
            self.nextFreePage = nextFreePage
        }
    }

    /// Starts on a file as SQLite made it.
    ///
    /// - Parameter file: open for reading and writing.
    /// - Throws: `.unsuitable` for a file that isn't a database, is in WAL mode, has bytes reserved at the end of
    ///   pages, another length than its header says, or a broken list of free pages.
    package init(_ file: consuming OpenFile) throws(PageBuildError) {
        let header = try NewFileHeader(of: file)
        try self.init(file, header.startingState(fileSize: Self.size(of: file)), isResumed: false)
    }

    /// Goes on from a state, also after `finish`, as long as SQLite hasn't changed the file; its pages from `nextPage`
    /// on, and free pages from `nextFreePage` on, don't count and are written again.
    ///
    /// - Throws: `.badState` where the file has another page size or auto-vacuum mode, another list of free pages, or
    ///   lacks other pages than free ones.
    package init(_ file: consuming OpenFile, resuming state: State) throws(PageBuildError) {
        let header = try NewFileHeader(of: file)
        try header.check(state)
        try self.init(file, state, isResumed: true)
    }

    private init(_ file: consuming OpenFile, _ state: State, isResumed: Bool) throws(PageBuildError) {
        let numbering = PageNumbering(pageSize: state.pageSize, isAutoVacuum: state.isAutoVacuum)
        let list = try Freelist(of: file, state, numbering, isResumed: isResumed)
        let freePages = FreePageSupply(list, next: state.nextFreePage, pageSize: state.pageSize)
        if isResumed { try file.restoreEnd(of: state, freePages, numbering) }
        var map = state.isAutoVacuum ? PointerMap(numbering) : nil
        try map?.clear(from: state.nextPage, on: file)
        if isResumed, map != nil {
            // The earlier run may have given them after it noted the state.
            for page in freePages.unused { try map?.set(page, .free, parent: 0, on: file) }
        }
        self.numbering = numbering
        self.freePages = freePages
        pointerMap = map
        changeCounter = state.changeCounter
        nextPage = state.nextPage
        freelist = (state.firstFreelistTrunk, state.freelistCount)
        self.file = file
    }

    static func size(of file: borrowing OpenFile) throws(PageBuildError) -> Int64 {
        do throws(FileError) {
            return try file.status().size
        } catch {
            throw PageBuildError(error)
        }
    }

    /// Bytes.
    package var pageSize: Int { numbering.pageSize }
    /// Pages so far, free ones and the file's own included.
    package var pageCount: Int { nextPage - 1 }

    /// Gives the next numbers to the pages of some places.
    /// - Throws: `.full` where the file would have more pages than SQLite allows.
    mutating func numbers(for places: Range<Int>) throws(PageBuildError) -> PageNumbers {
        var numbers = PageNumbers()
        var place = places.lowerBound
        while place < places.upperBound {
            if let run = freePages.take(places.upperBound - place) {
                numbers.append(places: place..<place + run.count, from: run.lowerBound)
                place += run.count
                continue
            }
            try skipOwnPages()
            let end = min(numbering.end(ofRunFrom: nextPage), nextPage + places.upperBound - place)
            guard end - 1 <= PageNumbering.largest else {
                throw PageBuildError(
                    code: .full,
                    message: "the new file would have more than \(PageNumbering.largest) pages, SQLite's limit: "
                        + "use a larger page size")
            }
            numbers.append(places: place..<place + end - nextPage, from: nextPage)
            place += end - nextPage
            nextPage = end
        }
        return numbers
    }

    /// Gives the next number.
    mutating func number() throws(PageBuildError) -> Int {
        let numbers = try numbers(for: 0..<1)
        guard let number = numbers[0] else { preconditionFailure("a number was asked for") }
        return number
    }

    private mutating func skipOwnPages() throws(PageBuildError) {
        while true {
            if nextPage == numbering.pendingBytePage {
                nextPage += 1
            } else if numbering.isMapPage(nextPage) {
                try pointerMap?.start(nextPage, on: file)
                nextPage += 1
            } else {
                return
            }
        }
    }

    /// Writes pages under their numbers, adjacent ones with one call.
    func write(_ pages: PackedLeaves, as numbers: PageNumbers) throws(PageBuildError) {
        for run in numbers.runs {
            try unsafe file.write(pages.pages(run.places), page: run.number, pageSize: pageSize)
            guard run.places.count >= Self.pagesWorthACall else { continue }
            let start = Int64(run.number - 1) * Int64(pageSize)
            file.startWriting(start..<start + Int64(run.places.count) * Int64(pageSize))
        }
    }

    /// Adjacent pages that the system is asked to write at once; fewer wait for it, or for the next `sync`.
    private static let pagesWorthACall = 32

    /// Writes one page.
    func write(_ bytes: [UInt8], page: Int) throws(PageBuildError) {
        precondition(bytes.count == pageSize, "a page has one length")
        try file.write(bytes, 0..<pageSize, page: page, pageSize: pageSize)
    }

    /// Makes a root that an earlier run may have filled empty again.
    package func empty(_ root: Int, _ kind: TreeKind) throws(PageBuildError) {
        var page = [UInt8](repeating: 0, count: pageSize)
        unsafe page.withUnsafeMutableBytes { bytes in
            if let start = bytes.baseAddress { unsafe LeafLayout.writeEmpty(kind, pageSize: bytes.count, to: start) }
        }
        try write(page, page: root)
    }

    /// Reads one page.
    func read(page: Int) throws(PageBuildError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: pageSize)
        let count = try file.read(into: &bytes, 0..<pageSize, page: page, pageSize: pageSize)
        if count != pageSize {
            throw PageBuildError(
                code: .unsuitable, page: page, message: "the new file ends before a page: remove it and build it anew")
        }
        return bytes
    }

    /// Says in the pointer map what points at a page; without auto-vacuum there is none.
    /// - Throws: `.badState` where no such page was given out: the number is from a damaged state.
    mutating func setPointer(to page: Int, _ entry: PointerMap.Entry, from parent: Int) throws(PageBuildError) {
        guard page >= 2, page < nextPage else { throw PageBuildError.badState(page: page) }
        try pointerMap?.set(page, entry, parent: parent, on: file)
    }

    /// What is needed to go on from here, after all that was given a number is in the file. Call `sync` before a log
    /// relies on it.
    package mutating func checkpoint() throws(PageBuildError) -> State {
        try pointerMap?.flush(on: file)
        return State(
            pageSize: pageSize, isAutoVacuum: numbering.isAutoVacuum, nextPage: nextPage, changeCounter: changeCounter,
            firstFreelistTrunk: freelist.first, freelistCount: freelist.count, nextFreePage: freePages.next)
    }

    /// Returns when what was written is on the medium.
    package func sync() throws(PageBuildError) {
        do throws(FileError) {
            try file.sync()
        } catch {
            throw PageBuildError(error)
        }
    }

    /// Makes the file a whole database again: pointer map, list of free pages, length, header. Closes it. Free pages at
    /// the file's end are cut off.
    ///
    /// - Parameter syncs: whether to return only when the file is on the medium.
    /// - Throws: `.file` where writing failed.
    package consuming func finish(syncs: Bool = true) throws(PageBuildError) {
        let rest = freePages.rest(of: pageCount, numbering)
        let count = rest?.pageCount ?? pageCount
        if count < pageCount { try pointerMap?.clear(from: count + 1, on: file) }
        try pointerMap?.flush(on: file)
        if let rest { try write(rest.list) }
        do throws(FileError) {
            try file.truncate(to: Int64(count) * Int64(pageSize))
        } catch {
            throw PageBuildError(error)
        }
        var header = try NewFileHeader(of: file)
        header.set(pageCount: count, changeCounter: changeCounter &+ 1)
        header.setFreelist(first: rest?.list.first ?? freelist.first, count: rest?.list.count ?? freelist.count)
        try file.write(header.bytes, 0..<DatabaseHeader.length, page: 1, pageSize: pageSize)
        if syncs { try sync() }
    }

    private func write(_ list: NewFreelist) throws(PageBuildError) {
        var bytes = [UInt8](repeating: 0, count: pageSize)
        for page in list.trunkPages {
            unsafe bytes.withUnsafeMutableBytes { target in
                if let start = target.baseAddress { unsafe list.write(trunk: page, to: start) }
            }
            try write(bytes, page: page)
        }
    }
}
