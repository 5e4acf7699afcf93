/// Reads an index's b-tree from its root page, or that of a WITHOUT ROWID table: entries in the order of the tree.
///
/// Entries of interior pages stand between their children's, where they belong. The pages are checked as `TableReader`
/// checks a table's; that the keys ascend isn't, as that takes the columns' collations and directions.
///
/// Used by one thread at a time.
package struct IndexReader: ~Copyable {
    private var path: TreePath
    private let overflow: OverflowReader
    /// The next entry: a cell of the current leaf, or the one between it and the next leaf.
    private var cell = 0
    private var isBetweenLeaves = false
    private var hasBegun = false
    private var isFinished = false
    private var failure: PageReadError?
    private var figures: LeafFigures

    /// - Parameters:
    ///   - file: the database.
    ///   - root: the root page, as the schema says.
    ///   - claims: shared by the readers of one pass over the file.
    package init(_ file: PageFile, root: Int, claims: PageClaims) {
        path = TreePath(file, root: root, .index, claims: claims)
        overflow = OverflowReader(file, claims: claims)
        figures = LeafFigures(bytes: file.layout.pageSize)
    }

    /// Appends entries as records, with rowid 0, until a limit is reached; limits are as those of `TableReader.fill`.
    ///
    /// - Returns: false when there are no more entries; the batch may still hold the last ones.
    /// - Throws: what is damaged. The batch's rows must then not be used; all further calls throw the same.
    package mutating func fill(_ batch: RowBatch, rows: Int, bytes: Int) throws(PageReadError) -> Bool {
        if let failure { throw failure }
        if isFinished { return false }
        do throws(PageReadError) {
            isFinished = try !read(into: batch, BatchRoom(rows: rows, bytes: bytes))
            return !isFinished
        } catch {
            failure = error
            throw error
        }
    }

    private mutating func read(into batch: RowBatch, _ limits: BatchRoom) throws(PageReadError) -> Bool {
        if !hasBegun { try path.begin() }
        hasBegun = true
        var room = limits
        var run = LeafRun()
        while !room.isFull(batch) {
            if isBetweenLeaves {
                try takeEntryBetweenLeaves(into: batch, &room)
                continue
            }
            let wanted = room.leaves(like: figures, in: batch)
            let offset = try run.read(path, wanted: wanted, into: batch)
            guard try takeEntries(ofLeafAt: offset, into: batch, &room) else { return true }
            guard path.leaveFinished() else { return false }
            isBetweenLeaves = true
        }
        return true
    }

    /// The interior page may give way to another before the batch is used: its entry is copied.
    private mutating func takeEntryBetweenLeaves(into batch: RowBatch, _ room: inout BatchRoom) throws(PageReadError) {
        let page = path.bottom.page
        let entry = try PayloadCell(page, at: path.bottom.index, path.spill)
        let start = try unsafe overflow.assemble(entry, of: page.number, into: batch) {
            unsafe page.start + entry.localStart
        }
        batch.appendRow(rowid: 0, at: start, length: entry.length)
        room.add(entry.length)
        try path.moveRight()
        isBetweenLeaves = false
        cell = 0
    }

    /// Checks the whole leaf, and takes its entries from `cell` on.
    /// - Returns: false where the batch is full before its end.
    private mutating func takeEntries(
        ofLeafAt offset: Int, into batch: RowBatch, _ room: inout BatchRoom
    ) throws(PageReadError) -> Bool {
        var page = try unsafe path.leafPage(batch.space(at: offset))
        let coverage = path.coverage
        coverage.begin()
        let spill = path.spill
        var assembled = 0
        var index = 0
        while index < page.cellCount {
            let entry = try PayloadCell(page, at: index, spill)
            guard coverage.mark(entry.start, length: entry.size) else {
                throw PageReadError(.overlap, page: page.number)
            }
            defer { index &+= 1 }
            if index != cell || room.isFull(batch) { continue }
            cell &+= 1
            if !entry.overflows {
                batch.appendRow(rowid: 0, at: offset &+ entry.localStart, length: entry.length)
                continue
            }
            let start = try unsafe overflow.assemble(entry, of: page.number, into: batch) {
                unsafe UnsafeRawPointer(batch.space(at: offset) + entry.localStart)
            }
            unsafe page.start = UnsafeRawPointer(batch.space(at: offset))
            batch.appendRow(rowid: 0, at: start, length: entry.length)
            room.add(entry.length)
            assembled += entry.length
        }
        try coverage.finish(page)
        guard cell == page.cellCount else { return false }
        room.add(path.file.layout.pageSize)
        figures = LeafFigures(rows: max(1, page.cellCount), bytes: path.file.layout.pageSize + assembled)
        return true
    }
}
