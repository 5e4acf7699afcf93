/// Writes a sorted run, block by block. In a block each entry comes after its length, a varint.
@safe
struct RunWriter: ~Copyable {
    private let blockLength: Int
    private var block: UnsafeMutableRawPointer
    private var capacity: Int
    private var used = 0
    private var run: SortedRun

    /// - Parameters:
    ///   - blockLength: bytes after which a block ends; a longer entry is a block by itself.
    ///   - start: where the run will begin in the scratch file.
    init(blockLength: Int, at start: Int64) {
        self.blockLength = blockLength
        capacity = blockLength
        unsafe block = .allocate(byteCount: capacity, alignment: 16)
        run = SortedRun(bytes: start..<start, longestBlock: 0, count: 0)
    }

    deinit {
        unsafe block.deallocate()
    }

    @unsafe mutating func append(_ entry: UnsafeRawBufferPointer, to scratch: inout SortScratch) throws(IndexSortError)
    {
        guard let source = entry.baseAddress else { return }
        let needed = Varint.length(of: UInt64(entry.count)) + entry.count
        if used + needed > blockLength { try flush(to: &scratch) }
        if needed > capacity {
            unsafe block.deallocate()
            capacity = needed
            unsafe block = .allocate(byteCount: capacity, alignment: 16)
        }
        let start = unsafe block + used
        let header = unsafe Varint.write(UInt64(entry.count), to: start)
        unsafe (start + header).copyMemory(from: source, byteCount: entry.count)
        used += needed
        run.count += 1
    }

    private mutating func flush(to scratch: inout SortScratch) throws(IndexSortError) {
        guard used > 0 else { return }
        try unsafe scratch.append(UnsafeRawBufferPointer(start: block, count: used))
        run.longestBlock = max(run.longestBlock, used)
        used = 0
        guard capacity > blockLength else { return }
        unsafe block.deallocate()
        capacity = blockLength
        unsafe block = .allocate(byteCount: capacity, alignment: 16)
        scratch.codec.shrink(to: BlockCodec.largestFrame(blockLength))
    }

    /// Ends the run.
    consuming func finish(to scratch: inout SortScratch) throws(IndexSortError) -> SortedRun {
        try flush(to: &scratch)
        return SortedRun(
            bytes: run.bytes.lowerBound..<scratch.end, longestBlock: run.longestBlock, count: run.count)
    }
}
