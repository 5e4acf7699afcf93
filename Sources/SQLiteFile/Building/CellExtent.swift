/// Where a cell with a payload ends on its page, and where it keeps the number of its first overflow page.
struct CellExtent: Hashable, Sendable {
    /// Bytes from the cell's start to the end of what is on the page, without SQLite's padding to four bytes.
    let length: Int
    /// Byte of the number in the cell; nil where the payload is whole.
    let overflowPointer: Int?

    /// Nil where the cell goes over the end of its page.
    ///
    /// - Parameters:
    ///   - cell: from its payload's length on (an interior page's child comes before that) to the end of the page.
    ///   - kind: a cell of a table's leaf has a rowid after the length.
    ///   - spill: of the same kind.
    @unsafe init?(_ cell: UnsafeRawBufferPointer, kind: TreeKind, spill: PayloadSpill) {
        guard let start = cell.baseAddress else { return nil }
        let end = unsafe start + cell.count
        let (payload, payloadLength) = unsafe Varint.read(start, before: end)
        guard payloadLength > 0, payload <= UInt64(Int32.max) else { return nil }
        var header = payloadLength
        if kind == .table {
            let (_, rowidLength) = unsafe Varint.read(start + header, before: end)
            guard rowidLength > 0 else { return nil }
            header += rowidLength
        }
        let local = spill.localLength(Int(payload))
        overflowPointer = local < Int(payload) ? header + local : nil
        length = header + local + (overflowPointer == nil ? 0 : 4)
        guard length <= cell.count else { return nil }
    }
}
