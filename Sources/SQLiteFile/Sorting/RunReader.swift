/// Reads a sorted run, entry by entry, with one block in memory.
@unsafe struct RunReader {
    private let run: SortedRun
    /// Of the next block in the scratch file.
    private var position: Int64
    /// Room for the run's longest block.
    private let block: UnsafeMutableRawPointer
    private var next: UnsafeRawPointer
    private var end: UnsafeRawPointer
    private let mask: UInt64

    /// The entry at which it is; nil at the run's end.
    private(set) var entry: UnsafeRawBufferPointer?
    /// Of the entry's first column.
    private(set) var prefix: UInt64 = 0

    /// `mask`: all bits for a first column that descends.
    init(_ run: SortedRun, mask: UInt64) {
        unsafe self.run = run
        unsafe self.mask = mask
        unsafe position = run.bytes.lowerBound
        unsafe block = .allocate(byteCount: max(1, run.longestBlock), alignment: 16)
        unsafe next = UnsafeRawPointer(block)
        unsafe end = UnsafeRawPointer(block)
    }

    func deallocate() {
        unsafe block.deallocate()
    }

    /// Goes to the next entry, at first to the first. The bytes of the one before are lost.
    @inline(__always) mutating func advance(_ scratch: borrowing SortScratch) throws(IndexSortError) {
        if unsafe next == end, try unsafe !readBlock(scratch) { return }
        let (length, header) = unsafe Varint.read(next, before: end)
        unsafe next += header
        guard header > 0, length > 0, length <= UInt64(unsafe end - next) else {
            throw IndexSortError(.scratchDamaged)
        }
        let bytes = unsafe UnsafeRawBufferPointer(start: next, count: Int(length))
        unsafe next += Int(length)
        unsafe entry = bytes
        var cursor = unsafe KeyCursor(bytes)
        unsafe prefix = KeyPrefix.of(cursor.next()) ^ mask
    }

    /// - Returns: false at the run's end.
    @inline(never) private mutating func readBlock(_ scratch: borrowing SortScratch) throws(IndexSortError) -> Bool {
        guard unsafe position < run.bytes.upperBound else {
            unsafe entry = nil
            return false
        }
        let lengths = try unsafe scratch.lengths(at: position, of: run)
        let target = unsafe UnsafeMutableRawBufferPointer(start: block, count: lengths.block)
        try unsafe scratch.read(target, frame: lengths.frame, at: position)
        unsafe position += Int64(SortScratch.blockHeaderLength + lengths.frame)
        unsafe next = UnsafeRawPointer(block)
        unsafe end = unsafe next + lengths.block
        return true
    }
}
