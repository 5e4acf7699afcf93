/// An interior page of the path from a tree's root to its current leaf, in memory of its own that is used again for the
/// next page of its level.
@safe
final class PathPage {
    /// The child that the path goes through: 0 to `cellCount`, the last being the right child.
    var index = 0
    private(set) var page: TreePage
    /// Rowids that may lie below this page.
    private(set) var bounds: ClosedRange<Int64> = .min ... .max
    private let memory: UnsafeMutableRawPointer

    var cellCount: Int { page.cellCount }
    var number: Int { page.number }

    /// Reads and checks a page's header, whatever its kind.
    init(_ number: Int, of file: PageFile) throws(PageReadError) {
        unsafe memory = .allocate(byteCount: file.layout.pageSize, alignment: 16)
        do throws(PageReadError) {
            page = try unsafe Self.read(number, of: file, into: memory)
        } catch {
            unsafe memory.deallocate()
            throw error
        }
    }

    deinit {
        unsafe memory.deallocate()
    }

    /// Replaces the page by another, its header checked, whatever its kind.
    func load(_ number: Int, of file: PageFile) throws(PageReadError) {
        page = try unsafe Self.read(number, of: file, into: memory)
        index = 0
    }

    private static func read(
        _ number: Int, of file: PageFile, into memory: UnsafeMutableRawPointer
    ) throws(PageReadError) -> TreePage {
        try unsafe file.read(number, into: memory)
        return try unsafe TreePage(memory, number: number, usable: file.layout.usableSize)
    }

    /// Checks the cells of an interior page.
    ///
    /// - Parameters:
    ///   - bounds: rowids that may lie below it, of a table.
    ///   - coverage: memory for the check.
    ///   - spill: of the tree.
    /// - Throws: `.empty`, `.badCell`, `.overlap`, `.badFreeblock`, `.unaccounted`, `.rowidOutOfOrder`, `.tooLong`.
    func check(within bounds: ClosedRange<Int64>, _ coverage: PageCoverage, _ spill: PayloadSpill) throws(PageReadError)
    {
        // Page 1 has no cells where its only child's don't fit beside the file's header (btree.c, balance_nonroot).
        if cellCount == 0, number != 1 { throw PageReadError(.empty, page: number) }
        self.bounds = bounds
        coverage.begin()
        var previous: Int64?
        for cell in 0..<cellCount {
            let start: Int
            let size: Int
            if page.kind.tree == .table {
                start = try page.cellStart(cell)
                let (key, lengthOfKey) = try self.key(at: cell)
                guard bounds.contains(key), previous.map({ $0 < key }) ?? true else {
                    throw PageReadError(.rowidOutOfOrder, page: number, value: key)
                }
                previous = key
                size = 4 + lengthOfKey
            } else {
                let payload = try PayloadCell(page, at: cell, spill)
                (start, size) = (payload.start, payload.size)
            }
            guard coverage.mark(start, length: size) else { throw PageReadError(.overlap, page: number) }
        }
        try coverage.finish(page)
    }

    /// The rowid of a table's cell: the largest that may lie below the cell's child.
    private func key(at cell: Int) throws(PageReadError) -> (key: Int64, length: Int) {
        let start = try page.cellStart(cell)
        let bytes = unsafe page.start
        let (key, length) = unsafe Varint.read(bytes + start + 4, before: bytes + page.usable)
        if length == 0 { throw PageReadError(.badCell, page: number, value: Int64(cell)) }
        return (Int64(bitPattern: key), length)
    }

    func child(at index: Int) throws(PageReadError) -> Int {
        index == cellCount ? page.rightChild : page.word32(try page.cellStart(index))
    }

    /// The first child below which a rowid over `rowid` may lie.
    func firstChild(after rowid: Int64) throws(PageReadError) -> Int {
        for cell in 0..<cellCount where try key(at: cell).key > rowid { return cell }
        return cellCount
    }

    /// Rowids that may lie below the current child of a table's page.
    func boundsOfChild() throws(PageReadError) -> ClosedRange<Int64> {
        var least = bounds.lowerBound
        if index > 0 {
            let key = try key(at: index - 1).key
            // Nothing is larger than the largest key.
            guard key < bounds.upperBound else { throw PageReadError(.rowidOutOfOrder, page: number, value: key) }
            least = key + 1
        }
        return least...(index == cellCount ? bounds.upperBound : try key(at: index).key)
    }
}
