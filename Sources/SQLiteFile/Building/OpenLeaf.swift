/// A leaf page that is being filled: cells from the page's end downwards, their pointers upwards
/// (https://www.sqlite.org/fileformat2.html#b_tree_pages).
@unsafe struct OpenLeaf {
    /// Moves when pages are added to the buffer.
    var page: UnsafeMutableRawPointer
    let place: Int
    private let pageSize: Int
    private(set) var cellCount = 0
    private var contentStart: Int

    init(in leaves: PackedLeaves) {
        unsafe pageSize = leaves.pageSize
        unsafe contentStart = leaves.pageSize
        unsafe place = leaves.addPages()
        unsafe page = leaves.page(at: place)
    }

    /// Makes room for a cell; the caller writes all its bytes.
    /// - Returns: where it starts in the page; nil if it doesn't fit.
    @inline(__always) mutating func add(length: Int) -> Int? {
        let pointerEnd = unsafe LeafLayout.headerLength + 2 * cellCount
        let start = unsafe contentStart - length
        guard start >= pointerEnd + 2 else { return nil }
        unsafe page.storeBig(UInt16(truncatingIfNeeded: start), at: pointerEnd)
        unsafe cellCount += 1
        unsafe contentStart = start
        return start
    }

    /// Where the last cell starts in the page.
    var lastCell: Int { unsafe contentStart }

    /// Takes the last cell, of `length` bytes, off the page.
    mutating func removeLast(length: Int) {
        unsafe cellCount -= 1
        unsafe contentStart += length
    }

    /// Writes the page's header, and zeros between pointers and cells.
    func close(type: UInt8) {
        let pointerEnd = unsafe LeafLayout.headerLength + 2 * cellCount
        unsafe page.storeBytes(of: type, as: UInt8.self)
        // No freeblocks.
        unsafe page.storeBig(UInt16(0), at: 1)
        unsafe page.storeBig(UInt16(truncatingIfNeeded: cellCount), at: 3)
        // 65,536 is written as 0.
        unsafe page.storeBig(UInt16(truncatingIfNeeded: contentStart), at: 5)
        // No fragments.
        unsafe page.storeBytes(of: 0, toByteOffset: 7, as: UInt8.self)
        unsafe (page + pointerEnd).zero(contentStart - pointerEnd)
    }
}

enum LeafLayout {
    /// Bytes before the cell pointers.
    static let headerLength = 8
    /// SQLite gives every cell at least four bytes, so that a freed one can become a freeblock.
    static let minimumCellLength = 4

    /// Writes the page of an empty tree's root; `target` has room for it.
    @unsafe static func writeEmpty(_ kind: TreeKind, pageSize: Int, to target: UnsafeMutableRawPointer) {
        unsafe target.zero(pageSize)
        unsafe target.storeBytes(of: kind.leafType, as: UInt8.self)
        // Where the content begins; 65,536 is stored as 0.
        unsafe target.storeBig(UInt16(truncatingIfNeeded: pageSize), at: 5)
    }
}
