/// Reads a table's b-tree from its root page: rows in the order of their rowids, as SQLite's SELECT gives them.
///
/// Leaves are read into the batch, and records lie where they were read. Checked, as strictly as `PRAGMA quick_check`:
/// every page's kind, header, cells and free blocks, that rowids ascend within what the pages above say, that all
/// leaves are equally deep, overflow chains, and that no page is used twice. Memory: the interior pages of one path.
///
/// Used by one thread at a time.
package struct TableReader: ~Copyable {
    private var path: TreePath
    private let overflow: OverflowReader
    /// The last row that was given.
    private var last: Int64?
    private var hasBegun = false
    private var isFinished = false
    private var failure: PageReadError?
    private var figures: LeafFigures

    /// - Parameters:
    ///   - file: the database.
    ///   - root: the root page, as the schema says.
    ///   - rowid: reading begins with the row after it, whether it exists or not; nil: with the first.
    ///   - claims: shared by the readers of one pass over the file.
    package init(_ file: PageFile, root: Int, after rowid: Int64? = nil, claims: PageClaims) {
        path = TreePath(file, root: root, .table, claims: claims)
        overflow = OverflowReader(file, claims: claims)
        last = rowid
        figures = LeafFigures(bytes: file.layout.pageSize)
    }

    /// Appends rows, (rowid, record), until a limit is reached.
    ///
    /// A batch may end within a leaf; the next one then begins there. Where batches end follows from the tree, the
    /// first row and the limits alone: a reader that begins after a batch's last row makes the same batches from there
    /// on.
    ///
    /// - Parameters:
    ///   - batch: usually empty.
    ///   - rows: most rows that the batch may hold, at least 1.
    ///   - bytes: of leaves and of payloads assembled from overflow pages. The leaf, or the payload, that reaches it is
    ///     the batch's last.
    /// - Returns: false when there are no more rows; the batch may still hold the last ones.
    /// - Throws: what is damaged. The batch's rows must then not be used; all further calls throw the same.
    package mutating func fill(_ batch: RowBatch, rows: Int, bytes: Int) throws(PageReadError) -> Bool {
        if let failure { throw failure }
        // After the largest rowid there are no rows to look for; a read that has come to it goes on to what may follow.
        if isFinished || !hasBegun && last == .max { return false }
        do throws(PageReadError) {
            isFinished = try !read(into: batch, BatchRoom(rows: rows, bytes: bytes))
            return !isFinished
        } catch {
            failure = error
            throw error
        }
    }

    private mutating func read(into batch: RowBatch, _ limits: BatchRoom) throws(PageReadError) -> Bool {
        if !hasBegun { try path.begin(after: last) }
        hasBegun = true
        var room = limits
        var run = LeafRun()
        while !room.isFull(batch) {
            let wanted = room.leaves(like: figures, in: batch)
            let offset = try run.read(path, wanted: wanted, into: batch)
            guard try takeRows(ofLeafAt: offset, into: batch, &room) else { return true }
            guard path.leaveFinished() else { return false }
            try path.moveRight()
        }
        return true
    }

    /// Checks the whole leaf, and takes its rows after the last one.
    /// - Returns: false where the batch is full before its end.
    private mutating func takeRows(
        ofLeafAt offset: Int, into batch: RowBatch, _ room: inout BatchRoom
    ) throws(PageReadError) -> Bool {
        var page = try unsafe path.leafPage(batch.space(at: offset))
        let coverage = path.coverage
        let bounds = try path.leafBounds()
        coverage.begin()
        let spill = path.spill
        // The last isn't the largest: `fill` doesn't begin after it, and no leaf has bounds after it.
        let first = last.map { $0 + 1 } ?? .min
        var least = bounds.lowerBound
        let count = batch.count
        var assembled = 0
        var isWhole = true
        var index = 0
        while index < page.cellCount {
            let cell = try PayloadCell(page, at: index, spill)
            guard coverage.mark(cell.start, length: cell.size) else { throw PageReadError(.overlap, page: page.number) }
            guard cell.rowid >= least, cell.rowid <= bounds.upperBound else {
                throw PageReadError(.rowidOutOfOrder, page: page.number, value: cell.rowid)
            }
            index &+= 1
            // After the largest there can't be another; the last cell needs no successor.
            if cell.rowid == .max, index < page.cellCount {
                throw PageReadError(.rowidOutOfOrder, page: page.number, value: cell.rowid)
            }
            least = cell.rowid &+ 1
            if cell.rowid < first { continue }
            if !isWhole || room.isFull(batch) {
                isWhole = false
                continue
            }
            last = cell.rowid
            if !cell.overflows {
                batch.appendRow(rowid: cell.rowid, at: offset &+ cell.localStart, length: cell.length)
                continue
            }
            let start = try unsafe overflow.assemble(cell, of: page.number, into: batch) {
                unsafe UnsafeRawPointer(batch.space(at: offset) + cell.localStart)
            }
            unsafe page.start = UnsafeRawPointer(batch.space(at: offset))
            batch.appendRow(rowid: cell.rowid, at: start, length: cell.length)
            room.add(cell.length)
            assembled += cell.length
        }
        try coverage.finish(page)
        guard isWhole else { return false }
        // A leaf all of whose rows came before counts for nothing: without a seek it isn't even visited.
        if batch.count > count { room.add(path.file.layout.pageSize) }
        figures = LeafFigures(rows: max(1, page.cellCount), bytes: path.file.layout.pageSize + assembled)
        return true
    }
}
