/// What a cell with a payload has on its page (https://www.sqlite.org/fileformat2.html#b_tree_pages).
struct CellExtent {
    /// Why bytes can't be a cell's.
    enum Fault: Error {
        /// They end before it does.
        case cut
        /// Its payload is over SQLite's limit of 2³¹−1 bytes.
        case tooLong
    }

    /// 0 in an index.
    let rowid: Int64
    /// Bytes of the whole payload.
    let payloadLength: Int
    /// Byte at which the payload begins.
    let payloadStart: Int
    /// Bytes of the payload on the page.
    let localLength: Int

    /// Whether the rest of the payload is in overflow pages.
    @inline(__always) var overflows: Bool { localLength < payloadLength }
    /// Bytes from the cell's start to the end of what is on the page, without SQLite's padding to four bytes.
    @inline(__always) var length: Int { payloadStart &+ localLength &+ (overflows ? 4 : 0) }
    /// Byte of the number of the first overflow page; nil where the payload is whole.
    var overflowPointer: Int? { overflows ? payloadStart + localLength : nil }

    /// - Parameters:
    ///   - cell: from its payload's length on; an interior page's child comes before that.
    ///   - end: of the page, or of what there is of it.
    ///   - kind: a cell of a table's leaf has a rowid after the length.
    ///   - spill: of the same kind.
    /// - Throws: where the bytes aren't those of a whole cell.
    @unsafe @inline(__always) init(
        _ cell: UnsafeRawPointer, before end: UnsafeRawPointer, kind: TreeKind, _ spill: PayloadSpill
    ) throws(Fault) {
        let (payload, lengthOfLength) = unsafe Varint.read(cell, before: end)
        if lengthOfLength == 0 { throw .cut }
        var header = lengthOfLength
        if kind == .table {
            let (key, lengthOfKey) = unsafe Varint.read(cell + header, before: end)
            if lengthOfKey == 0 { throw .cut }
            rowid = Int64(bitPattern: key)
            header &+= lengthOfKey
        } else {
            rowid = 0
        }
        if payload > UInt64(Int32.max) { throw .tooLong }
        payloadLength = Int(truncatingIfNeeded: payload)
        payloadStart = header
        localLength = spill.localLength(payloadLength)
        if unsafe length > end - cell { throw .cut }
    }
}
