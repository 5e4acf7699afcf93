/// A page of a b-tree in memory, its header checked (https://www.sqlite.org/fileformat2.html#b_tree_pages).
@safe
struct TreePage {
    enum Kind: UInt8 {
        case indexInterior = 2
        case tableInterior = 5
        case indexLeaf = 10
        case tableLeaf = 13

        var isLeaf: Bool { self == .indexLeaf || self == .tableLeaf }
        /// Of the tree that the page belongs to.
        var tree: TreeKind { self == .tableLeaf || self == .tableInterior ? .table : .index }
    }

    let number: Int
    let kind: Kind
    let cellCount: Int
    /// Where the cell area begins; it goes to `usable`.
    let contentStart: Int
    /// Bytes of a page that hold content.
    let usable: Int
    /// The page's first byte. All reads are below `usable`.
    var start: UnsafeRawPointer
    private let headerStart: Int

    /// - Parameters:
    ///   - start: a whole page, which outlives this view.
    ///   - number: the page's.
    ///   - usable: bytes of it that hold content.
    /// - Throws: `.badKind`, `.badHeader`.
    @unsafe init(_ start: UnsafeRawPointer, number: Int, usable: Int) throws(PageReadError) {
        headerStart = number == 1 ? DatabaseHeader.length : 0
        let byte = unsafe start.load(fromByteOffset: headerStart, as: UInt8.self)
        guard let kind = Kind(rawValue: byte) else { throw PageReadError(.badKind, page: number, value: Int64(byte)) }
        unsafe self.start = start
        self.number = number
        self.usable = usable
        self.kind = kind
        cellCount = unsafe Self.word(start, headerStart + 3)
        let content = unsafe Self.word(start, headerStart + 5)
        contentStart = content == 0 ? 65_536 : content
        let pointersEnd = headerStart + (kind.isLeaf ? 8 : 12) + cellCount * 2
        guard pointersEnd <= contentStart, contentStart <= usable else { throw PageReadError(.badHeader, page: number) }
    }

    /// Where the cell pointers begin.
    var pointersStart: Int { headerStart + (kind.isLeaf ? 8 : 12) }
    /// Bytes in the cell area that are too few for a free block.
    var fragmentedBytes: Int { unsafe Int(start.load(fromByteOffset: headerStart + 7, as: UInt8.self)) }
    /// Where the first free block begins; 0 for none.
    var firstFreeblock: Int { unsafe Self.word(start, headerStart + 1) }
    /// The last child of an interior page.
    var rightChild: Int { word32(headerStart + 8) }

    /// Where a cell begins.
    /// - Throws: `.badCell` where that is outside the cell area. The smallest cell has four bytes.
    @inline(__always) func cellStart(_ index: Int) throws(PageReadError) -> Int {
        let offset = unsafe Self.word(start, pointersStart &+ index &* 2)
        guard offset >= contentStart, offset &+ 4 <= usable else {
            throw PageReadError(.badCell, page: number, value: Int64(index))
        }
        return offset
    }

    /// Two bytes, big-endian.
    func word16(_ offset: Int) -> Int {
        precondition(offset >= 0 && offset + 2 <= usable, "inside the page")
        return unsafe Self.word(start, offset)
    }

    /// Four bytes, big-endian.
    func word32(_ offset: Int) -> Int {
        precondition(offset >= 0 && offset + 4 <= usable, "inside the page")
        return unsafe Int(UInt32(bigEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }

    @inline(__always) private static func word(_ start: UnsafeRawPointer, _ offset: Int) -> Int {
        unsafe Int(UInt16(bigEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    }
}
