/// Packs index entries into dense leaf pages, with their overflow pages. Between two leaves stands one entry that is on
/// neither: it goes up into the interior page that divides them (https://www.sqlite.org/fileformat2.html#b_tree_pages).
///
/// Leaves run on over batches: where a batch ends follows from the entries and the limit alone, and doesn't change what
/// is on the leaves. No leaf is empty: if the last entry would be a divider, it gets a leaf and the one before it goes
/// up.
///
/// Use: `begin`, `append` in the index's order; where that gives false, hand the buffer over, `begin` the next and
/// append the same entry again; after the last entry, `finish`. After a throw, a new packer is needed.
@safe
package final class IndexPacker {
    private let pageSize: Int
    private let pagesPerBatch: Int
    private let spill: PayloadSpill
    /// Mutable state is behind one pointer: properties of a class can cost a runtime exclusivity check for each access.
    private let state: UnsafeMutablePointer<State>
    private var leaves: PackedLeaves?

    @unsafe private struct State {
        var leaf: OpenLeaf?
        /// The entry that didn't fit on the open leaf: bytes in `dividers`. It stays a divider if another entry
        /// follows.
        var divider: Range<Int>?
        var rowCount = 0
    }

    /// Pages after which a batch ends with the open leaf: 1 MiB, at least 16.
    package static func pagesPerBatch(pageSize: Int) -> Int {
        max(16, (1 << 20) / pageSize)
    }

    /// - Parameters:
    ///   - pageSize: bytes, as the buffers'.
    ///   - pagesPerBatch: pages after which a batch ends with the open leaf.
    package init(pageSize: Int, pagesPerBatch: Int? = nil) {
        self.pageSize = pageSize
        self.pagesPerBatch = pagesPerBatch ?? Self.pagesPerBatch(pageSize: pageSize)
        spill = .index(pageSize: pageSize)
        unsafe state = .allocate(capacity: 1)
        unsafe state.initialize(to: State())
    }

    deinit {
        unsafe state.deallocate()
    }

    /// Starts to fill a buffer, which is emptied.
    package func begin(_ leaves: PackedLeaves) {
        precondition(leaves.pageSize == pageSize, "the packer is made for pages of another size")
        precondition(self.leaves == nil, "the buffer before isn't full")
        leaves.removeAll()
        self.leaves = leaves
        unsafe state.pointee = State()
    }

    /// Adds an entry: a record of the indexed values and the rowid.
    ///
    /// - Returns: false where the buffer is full: it is ready, and the entry isn't in it.
    /// - Throws: `.tooLong` for a record over 2³¹−1 bytes.
    package func append(_ record: UnsafeRawBufferPointer) throws(PageBuildError) -> Bool {
        if record.count > Int(Int32.max) { throw .payloadTooLong }
        if unsafe state.pointee.leaf == nil || state.pointee.divider != nil, !openLeaf() { return false }
        let header = Varint.length(of: UInt64(record.count))
        let local = spill.localLength(record.count)
        let length = header + local + (local < record.count ? 4 : 0)
        let room = max(LeafLayout.minimumCellLength, length)
        let start: Int
        if let place = unsafe state.pointee.leaf?.add(length: room), let page = unsafe state.pointee.leaf?.page {
            start = place
            unsafe write(record, local: local, to: page + start)
            if room > length { unsafe (page + start + length).zero(room - length) }
        } else {
            start = unsafe addDivider(record, local: local, length: length)
        }
        if local < record.count {
            unsafe addChain(UnsafeRawBufferPointer(rebasing: record[local...]), pointer: start + header + local)
        }
        unsafe state.pointee.rowCount += 1
        return true
    }

    /// Starts a leaf. The one before it is full, and the divider after it stays one.
    /// - Returns: false where the buffer is full instead.
    private func openLeaf() -> Bool {
        guard let leaves else { preconditionFailure("append before begin") }
        if let divider = unsafe state.pointee.divider {
            closeLeaf(divider)
            if leaves.pageCount >= pagesPerBatch {
                end()
                return false
            }
        }
        unsafe state.pointee.leaf = OpenLeaf(in: leaves)
        return true
    }

    /// - Returns: where the entry's cell starts in `dividers`.
    @unsafe private func addDivider(_ record: UnsafeRawBufferPointer, local: Int, length: Int) -> Int {
        guard let leaves else { preconditionFailure("append before begin") }
        let start = leaves.dividers.count
        leaves.dividers.append(contentsOf: repeatElement(0, count: length))
        unsafe leaves.dividers.withUnsafeMutableBytes { bytes in
            guard let target = bytes.baseAddress else { return }
            unsafe write(record, local: local, to: target + start)
        }
        unsafe state.pointee.divider = start..<start + length
        return start
    }

    /// Closes the last leaf: the buffer is ready, and the index's last.
    package func finish() {
        precondition(leaves != nil, "an entry that didn't fit in the buffer before is missing")
        if let divider = unsafe state.pointee.divider { splitLastLeaf(divider) }
        if unsafe state.pointee.leaf != nil { closeLeaf(0..<0) }
        end()
    }

    private func end() {
        unsafe leaves?.rowCount = state.pointee.rowCount
        leaves = nil
    }

    @unsafe private func write(_ record: UnsafeRawBufferPointer, local: Int, to target: UnsafeMutableRawPointer) {
        let header = unsafe Varint.write(UInt64(record.count), to: target)
        if let source = record.baseAddress { unsafe (target + header).copyMemory(from: source, byteCount: local) }
    }

    /// - Parameters:
    ///   - rest: what of the entry isn't in its cell.
    ///   - pointer: where the first page's number is: on the open leaf, or in the divider if there is one.
    @unsafe private func addChain(_ rest: UnsafeRawBufferPointer, pointer: Int) {
        guard let leaves, let place = unsafe state.pointee.leaf?.place else { return }
        let isDivider = unsafe state.pointee.divider != nil
        unsafe leaves.addChain(rest, holder: isDivider ? .divider : .leaf(place: place), pointer: pointer)
        unsafe state.pointee.leaf?.page = leaves.page(at: place)
    }

    private func closeLeaf(_ divider: Range<Int>) {
        guard let leaves, let leaf = unsafe state.pointee.leaf else { return }
        unsafe leaf.close(type: TreeKind.index.leafType)
        unsafe leaves.leaves.append(.init(place: leaf.place, rowid: 0, divider: divider))
        unsafe state.pointee.leaf = nil
        unsafe state.pointee.divider = nil
    }

    /// No entry follows the divider: the leaf's last entry takes its place, and it gets a leaf of its own.
    private func splitLastLeaf(_ divider: Range<Int>) {
        guard let leaves, let leaf = unsafe state.pointee.leaf else { return }
        let start = unsafe leaf.lastCell
        let cell = unsafe UnsafeRawPointer(leaf.page + start)
        guard let extent = try? unsafe CellExtent(cell, before: leaf.page + pageSize, kind: .index, spill) else {
            preconditionFailure("the packer's own cells are whole")
        }
        let raised = leaves.dividers.count
        unsafe leaves.dividers.append(contentsOf: UnsafeRawBufferPointer(start: cell, count: extent.length))
        let length = max(LeafLayout.minimumCellLength, extent.length)
        unsafe moveChain(.leaf(place: leaf.place), from: start..<start + length, to: .divider, at: raised)
        unsafe state.pointee.leaf?.removeLast(length: length)
        closeLeaf(raised..<raised + extent.length)

        var last = unsafe OpenLeaf(in: leaves)
        let room = max(LeafLayout.minimumCellLength, divider.count)
        guard let target = unsafe last.add(length: room) else {
            preconditionFailure("every cell fits on an empty page")
        }
        unsafe (last.page + target).zero(room)
        unsafe leaves.dividers.withUnsafeBytes { bytes in
            unsafe UnsafeMutableRawBufferPointer(start: last.page + target, count: room)
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[divider]))
        }
        unsafe moveChain(.divider, from: divider, to: .leaf(place: last.place), at: target)
        unsafe state.pointee.leaf = last
    }

    /// The cell whose bytes were in `from` begins at another place now, with its pointer.
    private func moveChain(
        _ holder: PackedLeaves.Chain.Holder, from: Range<Int>, to newHolder: PackedLeaves.Chain.Holder, at start: Int
    ) {
        guard let leaves else { return }
        // One of the last two: chains are added in the order of entries.
        for index in leaves.chains.indices.suffix(2) {
            let chain = leaves.chains[index]
            guard chain.holder == holder, from.contains(chain.pointer) else { continue }
            leaves.chains[index].holder = newHolder
            leaves.chains[index].pointer = start + chain.pointer - from.lowerBound
        }
    }
}
