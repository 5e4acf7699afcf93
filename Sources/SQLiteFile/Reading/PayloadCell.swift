/// How much of a payload lies in its cell, and how much in overflow pages
/// (https://www.sqlite.org/fileformat2.html#b_tree_pages, "cell payload overflow pages").
struct PayloadSplit {
    /// Bytes of a page that hold content.
    let usable: Int
    private let leastLocal: Int
    private let mostLocalOfTable: Int
    private let mostLocalOfIndex: Int

    /// Bytes of payload in an overflow page: all but the next one's number.
    var chainedBytes: Int { usable - 4 }

    init(usable: Int) {
        self.usable = usable
        leastLocal = (usable - 12) * 32 / 255 - 23
        mostLocalOfTable = usable - 35
        mostLocalOfIndex = (usable - 12) * 64 / 255 - 23
    }

    @inline(__always) func localLength(of payload: Int, isTable: Bool) -> Int {
        let most = isTable ? mostLocalOfTable : mostLocalOfIndex
        if payload <= most { return payload }
        let surplus = leastLocal + (payload - leastLocal) % chainedBytes
        return surplus <= most ? surplus : leastLocal
    }
}

/// A cell with a payload: of a table's leaf, and of any page of an index.
struct PayloadCell {
    let start: Int
    /// Bytes in the page.
    let size: Int
    /// 0 in an index.
    let rowid: Int64
    /// Bytes of the whole payload.
    let length: Int
    /// Where the local part begins in the page, and its bytes.
    let localStart: Int
    let localLength: Int

    @inline(__always) var overflows: Bool { localLength < length }

    /// - Throws: `.badCell`, `.tooLong`.
    @inline(__always) init(_ page: TreePage, at index: Int, _ split: PayloadSplit) throws(PageReadError) {
        start = try page.cellStart(index)
        let end = unsafe page.start + page.usable
        var cursor = page.kind.isLeaf ? start : start &+ 4
        let (payload, lengthOfLength) = unsafe Varint.read(page.start + cursor, before: end)
        cursor &+= lengthOfLength
        if page.kind.isTable {
            let (key, lengthOfKey) = unsafe Varint.read(page.start + cursor, before: end)
            if lengthOfKey == 0 { throw PageReadError(.badCell, page: page.number, value: Int64(index)) }
            rowid = Int64(bitPattern: key)
            cursor &+= lengthOfKey
        } else {
            rowid = 0
        }
        if lengthOfLength == 0 { throw PageReadError(.badCell, page: page.number, value: Int64(index)) }
        if payload > UInt64(Int32.max) { throw PageReadError(.tooLong, page: page.number) }
        length = Int(truncatingIfNeeded: payload)
        localLength = split.localLength(of: length, isTable: page.kind.isTable)
        localStart = cursor
        let bytes = cursor &- start &+ localLength &+ (localLength < length ? 4 : 0)
        size = max(4, bytes)
        if start &+ size > page.usable { throw PageReadError(.badCell, page: page.number, value: Int64(index)) }
    }
}
