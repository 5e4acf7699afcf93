/// A cell with a payload: of a table's leaf, and of any page of an index.
struct PayloadCell {
    let start: Int
    /// Bytes in the page.
    let size: Int
    /// Where the local part of the payload begins in the page.
    let localStart: Int
    private let extent: CellExtent

    /// 0 in an index.
    @inline(__always) var rowid: Int64 { extent.rowid }
    /// Bytes of the whole payload.
    @inline(__always) var length: Int { extent.payloadLength }
    /// Bytes of it in the page.
    @inline(__always) var localLength: Int { extent.localLength }
    @inline(__always) var overflows: Bool { extent.overflows }

    /// - Parameters:
    ///   - page: of a table's leaf or of an index.
    ///   - index: the cell's.
    ///   - spill: of the page's tree.
    /// - Throws: `.badCell`, `.tooLong`.
    @inline(__always) init(_ page: TreePage, at index: Int, _ spill: PayloadSpill) throws(PageReadError) {
        start = try page.cellStart(index)
        // An interior page's cell begins with the number of its child.
        let content = page.kind.isLeaf ? start : start &+ 4
        do throws(CellExtent.Fault) {
            extent = try unsafe CellExtent(
                page.start + content, before: page.start + page.usable, kind: page.kind.tree, spill)
        } catch {
            switch error {
            case .cut: throw PageReadError(.badCell, page: page.number, value: Int64(index))
            case .tooLong: throw PageReadError(.tooLong, page: page.number)
            }
        }
        localStart = content &+ extent.payloadStart
        // `cellStart` has left room for the smallest.
        size = max(LeafLayout.minimumCellLength, content &- start &+ extent.length)
    }
}
