/// Leaves that lie behind each other in the file, read into a batch with one call.
struct LeafRun {
    private var first = 0
    private var count = 0
    /// Where the first begins in the batch.
    private var offset = 0

    /// Bytes of one read: more makes it no faster.
    private static let maximumLength = 1 << 20

    /// Reads the path's current leaf, unless it lies in the run; then also up to `wanted` leaves that follow it.
    ///
    /// - Returns: where the leaf begins in the batch.
    mutating func read(
        _ path: borrowing TreePath, wanted: Int, into batch: RowBatch
    ) throws(PageReadError) -> Int {
        let pageSize = path.file.layout.pageSize
        let leaf = path.leaf
        if leaf < first || leaf >= first + count {
            let limit = max(1, min(wanted, Self.maximumLength / pageSize))
            count = try path.adjacentLeaves(limit: limit)
            first = leaf
            offset = batch.takeSpace(count * pageSize)
            try unsafe path.file.read(leaf, count: count, into: batch.space(at: offset))
        }
        return offset + (leaf - first) * pageSize
    }
}

extension TreePath {
    /// The current leaf's page, which was read into `bytes`.
    ///
    /// - Throws: `.badKind`, `.badHeader`, `.unequalDepth`, `.empty`.
    @unsafe func leafPage(_ bytes: UnsafeRawPointer) throws(PageReadError) -> TreePage {
        let page = try unsafe TreePage(bytes, number: leaf, usable: file.layout.usableSize)
        guard page.kind.tree == kind else {
            throw PageReadError(.badKind, page: leaf, value: Int64(page.kind.rawValue))
        }
        guard page.kind.isLeaf else { throw PageReadError(.unequalDepth, page: leaf) }
        guard page.cellCount > 0 || depth == 0 else { throw PageReadError(.empty, page: leaf) }
        return page
    }
}

/// When a batch is full, and what can be read ahead for it.
///
/// Counts leaves whole, when all their rows are in the batch, and payloads where they are assembled from overflow
/// pages. So where a batch ends follows from its first row, the limits and the tree alone, and its memory is bounded
/// even where leaves are almost empty.
struct BatchRoom {
    private let rows: Int
    private let bytes: Int
    private var used = 0

    init(rows: Int, bytes: Int) {
        self.rows = max(1, rows)
        // What follows, a row of 2 GiB at worst, must still have an offset of 32 bits.
        self.bytes = max(1, min(bytes, 1 << 30))
    }

    @inline(__always) func isFull(_ batch: RowBatch) -> Bool {
        batch.count >= rows || used >= bytes
    }

    mutating func add(_ length: Int) {
        used += length
    }

    /// Leaves that there may be room for, if they are like the last.
    func leaves(like last: LeafFigures, in batch: RowBatch) -> Int {
        max(1, min((bytes - used - 1) / last.bytes, (rows - batch.count - 1) / last.rows) + 1)
    }
}

/// What a leaf came to, as a guess for the next.
struct LeafFigures {
    var rows = 1
    /// Its own and those of payloads that were assembled.
    var bytes: Int
}
