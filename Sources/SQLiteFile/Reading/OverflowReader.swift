/// Reads overflow chains (https://www.sqlite.org/fileformat2.html#cell_payload_overflow_pages).
///
/// Pages of a chain mostly lie behind each other: a few are read ahead with one call, as many as lay so before.
@safe
final class OverflowReader {
    private let file: PageFile
    private let claims: PageClaims
    private let pointerMap: PointerMapCheck?
    private let pages: UnsafeMutableRawPointer
    /// Pages that there is room for, and how many of them are worth reading at once.
    private let capacity: Int
    private var ahead = 1

    private static let readLength = 64 << 10

    init(_ file: PageFile, claims: PageClaims) {
        self.file = file
        self.claims = claims
        pointerMap = claims.checksPointerMap && file.layout.hasPointerMaps ? PointerMapCheck(file) : nil
        capacity = max(1, Self.readLength / file.layout.pageSize)
        unsafe pages = .allocate(byteCount: capacity * file.layout.pageSize, alignment: 16)
    }

    deinit {
        unsafe pages.deallocate()
    }

    /// Assembles an overflowing payload in the batch.
    ///
    /// - Parameters:
    ///   - cell: of `page`.
    ///   - page: number of the cell's page.
    ///   - batch: takes the payload; it may move in memory.
    ///   - local: gives the cell's local bytes; asked once the batch has grown, as they may lie in it.
    /// - Returns: where the payload begins.
    /// - Throws: `.badPageNumber`, `.usedTwice`, `.chainTooShort`, `.chainTooLong`, `.tooLong`, `.missing`,
    ///   `.unreadable`.
    func assemble(
        _ cell: PayloadCell, of page: Int, into batch: RowBatch, local: () -> UnsafeRawPointer
    ) throws(PageReadError) -> Int {
        // Before memory is taken: a damaged length must not take 2 GiB of it.
        guard (cell.length - cell.localLength) / file.layout.pageSize < file.layout.pageCount else {
            throw PageReadError(.tooLong, page: page)
        }
        let offset = batch.takeSpace(cell.length)
        let target = unsafe batch.space(at: offset)
        let bytes = unsafe local()
        unsafe target.copyMemory(from: bytes, byteCount: cell.localLength)
        guard cell.overflows else { return offset }
        let number = unsafe Self.word(bytes + cell.localLength)
        let rest = cell.length - cell.localLength
        try unsafe read(number, namedBy: page, length: rest, to: target + cell.localLength)
        return offset
    }

    /// Claims the pages of a chain, whose content doesn't matter.
    ///
    /// - Parameters:
    ///   - first: the chain's first page.
    ///   - cell: number of the page with the cell that names it.
    ///   - length: bytes of payload in the chain.
    /// - Throws: as `assemble`.
    func claim(chainFrom first: Int, namedBy cell: Int, length: Int) throws(PageReadError) {
        guard length / file.layout.pageSize < file.layout.pageCount else {
            throw PageReadError(.tooLong, page: cell)
        }
        try unsafe read(first, namedBy: cell, length: length, to: nil)
    }

    /// `target` takes the payload; nil where only the pages matter.
    @unsafe private func read(
        _ first: Int, namedBy cell: Int, length: Int, to target: UnsafeMutableRawPointer?
    ) throws(PageReadError) {
        let layout = file.layout
        let content = PayloadSpill.overflowCapacity(pageSize: layout.usableSize)
        var (next, holder, done) = (first, cell, 0)
        while done < length {
            if next == 0 { throw PageReadError(.chainTooShort, page: holder) }
            guard layout.mayHoldContent(next) else {
                throw PageReadError(.badPageNumber, page: holder, value: Int64(next))
            }
            let left = (length - done + content - 1) / content
            let count = min(ahead, left, layout.pageCount - next + 1)
            try unsafe file.read(next, count: count, into: pages)
            var index = 0
            repeat {
                guard claims.claim(next) else { throw PageReadError(.usedTwice, page: next) }
                try pointerMap?.require(next, holder == cell ? .firstOverflow : .laterOverflow, parent: holder)
                let page = unsafe pages + index * layout.pageSize
                let part = min(content, length - done)
                if let target = unsafe target { unsafe (target + done).copyMemory(from: page + 4, byteCount: part) }
                done += part
                holder = next
                next = unsafe Self.word(page)
                index += 1
            } while index < count && next == holder + 1 && layout.mayHoldContent(next)
            ahead = index < count ? index : min(capacity, max(ahead, count * 2))
        }
        if next != 0 { throw PageReadError(.chainTooLong, page: holder) }
    }

    private static func word(_ bytes: UnsafeRawPointer) -> Int {
        unsafe Int(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
    }
}
