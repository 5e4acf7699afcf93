/// Packs rows into dense leaf pages of a table, page by page full, with their overflow pages.
///
/// One packer per worker, for the whole pass: it allocates nothing per row. The pages follow from the rows alone:
/// any number of packers makes the same ones.
///
/// Use: `begin`, `append` in ascending order of rowids, `finish`; or `pack`, which is all three. After a throw, begin
/// anew.
@safe
package final class LeafPacker {
    private let pageSize: Int
    private let spill: PayloadSpill
    /// Mutable state is behind one pointer: properties of a class can cost a runtime exclusivity check for each access.
    private let state: UnsafeMutablePointer<State>
    private var leaves: PackedLeaves?

    @unsafe private struct State {
        var leaf: OpenLeaf?
        var lastRowid: Int64 = .min
        var rowCount = 0
    }

    /// - Parameter pageSize: bytes, as the buffers'.
    package init(pageSize: Int) {
        self.pageSize = pageSize
        spill = .table(pageSize: pageSize)
        unsafe state = .allocate(capacity: 1)
        unsafe state.initialize(to: State())
    }

    deinit {
        unsafe state.deallocate()
    }

    /// Packs the rows of a batch.
    /// - Parameters:
    ///   - rows: in ascending order of rowids.
    ///   - leaves: is emptied first.
    /// - Throws: as `append`.
    package func pack(_ rows: RowBatch, into leaves: PackedLeaves) throws(PageBuildError) {
        begin(leaves)
        try append(rows)
        finish()
    }

    /// Starts to fill a buffer, which is emptied.
    package func begin(_ leaves: PackedLeaves) {
        precondition(leaves.pageSize == pageSize, "the packer is made for pages of another size")
        leaves.removeAll()
        self.leaves = leaves
        unsafe state.pointee = State()
    }

    /// Adds all rows of a batch.
    /// - Throws: `.outOfOrder` for a rowid that isn't greater than the one before it.
    package func append(_ rows: RowBatch) throws(PageBuildError) {
        for index in 0..<rows.count {
            unsafe try append(rowid: rows.rowid(at: index), record: rows.record(at: index))
        }
    }

    /// Adds a row.
    /// - Throws: `.outOfOrder` for a rowid that isn't greater than the one before it; `.tooLong` for a record over
    ///   2³¹−1 bytes.
    package func append(rowid: Int64, record: UnsafeRawBufferPointer) throws(PageBuildError) {
        if record.count > Int(Int32.max) { throw .payloadTooLong }
        let local = spill.localLength(record.count)
        let isWhole = local == record.count
        let cell = try open(rowid: rowid, length: record.count, onPage: isWhole ? local : local + 4)
        guard let page = unsafe state.pointee.leaf?.page else { preconditionFailure("append before begin") }
        if let source = record.baseAddress { unsafe (page + cell).copyMemory(from: source, byteCount: local) }
        if !isWhole { unsafe addChain(UnsafeRawBufferPointer(rebasing: record[local...]), pointer: cell + local) }
    }

    /// Adds a row whose record the caller writes, before the next row is added.
    ///
    /// - Parameters:
    ///   - rowid: greater than the one before it.
    ///   - length: bytes of the record.
    /// - Returns: where they go; nil where they don't fit on one page, and nothing was added.
    /// - Throws: `.outOfOrder` for a rowid that isn't greater than the one before it.
    @unsafe @inline(__always) func place(rowid: Int64, length: Int) throws(PageBuildError) -> UnsafeMutableRawPointer? {
        if length > spill.maximumLocal { return nil }
        let cell = try open(rowid: rowid, length: length, onPage: length)
        return unsafe state.pointee.leaf.map { unsafe $0.page + cell }
    }

    /// Makes room for a cell with a payload of `length` bytes, and writes what comes before it; `onPage` are the bytes
    /// that follow there. Gives where the payload begins in the page.
    @inline(__always) private func open(rowid: Int64, length: Int, onPage: Int) throws(PageBuildError) -> Int {
        if unsafe state.pointee.rowCount > 0, unsafe rowid <= state.pointee.lastRowid { throw outOfOrder(rowid) }
        let key = UInt64(bitPattern: rowid)
        let payload = UInt64(length)
        let header = Varint.length(of: payload) + Varint.length(of: key)
        let room = max(LeafLayout.minimumCellLength, header + onPage)
        let start = unsafe state.pointee.leaf?.add(length: room) ?? startOnNewLeaf(length: room, rowid)
        guard let page = unsafe state.pointee.leaf?.page else { preconditionFailure("append before begin") }
        let cell = unsafe page + start
        unsafe Varint.write(payload, to: cell)
        unsafe Varint.write(key, to: cell + header - Varint.length(of: key))
        if room > header + onPage { unsafe (cell + header + onPage).zero(room - header - onPage) }
        unsafe state.pointee.lastRowid = rowid
        unsafe state.pointee.rowCount += 1
        return start + header
    }

    /// Closes the last leaf; the buffer can then be handed over.
    package func finish() {
        closeLeaf()
        unsafe leaves?.rowCount = state.pointee.rowCount
        leaves = nil
    }

    private func startOnNewLeaf(length: Int, _ rowid: Int64) -> Int {
        closeLeaf()
        guard let leaves else { preconditionFailure("append before begin") }
        if leaves.isEmpty { leaves.firstRowid = rowid }
        unsafe state.pointee.leaf = OpenLeaf(in: leaves)
        guard let start = unsafe state.pointee.leaf?.add(length: length) else {
            preconditionFailure("every cell fits on an empty page")
        }
        return start
    }

    private func closeLeaf() {
        guard let leaves, let leaf = unsafe state.pointee.leaf else { return }
        unsafe leaf.close(type: TreeKind.table.leafType)
        unsafe leaves.leaves.append(.init(place: leaf.place, rowid: state.pointee.lastRowid, divider: 0..<0))
        unsafe state.pointee.leaf = nil
    }

    @unsafe private func addChain(_ rest: UnsafeRawBufferPointer, pointer: Int) {
        guard let leaves, let place = unsafe state.pointee.leaf?.place else { return }
        unsafe leaves.addChain(rest, holder: .leaf(place: place), pointer: pointer)
        unsafe state.pointee.leaf?.page = leaves.page(at: place)
    }

    @inline(never) private func outOfOrder(_ rowid: Int64) -> PageBuildError {
        PageBuildError(
            code: .outOfOrder,
            message: unsafe "rowid \(rowid) comes after \(state.pointee.lastRowid): \(PageBuildError.repair)")
    }
}
