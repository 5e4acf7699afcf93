/// Checks that a page's cells and free blocks don't overlap, and that with the counted fragments they fill its cell
/// area: what SQLite's `checkTreePage` checks (btree.c), with a bit for each byte instead of a heap.
///
/// One for each reader; used for one page after another, and allocates nothing for them.
@safe
final class PageCoverage {
    private let words: UnsafeMutablePointer<UInt64>
    private let wordCount: Int
    /// Behind a pointer, so that access costs no exclusivity check.
    private let covered: UnsafeMutablePointer<Int>

    init(pageSize: Int) {
        wordCount = pageSize / 64
        unsafe words = .allocate(capacity: wordCount)
        unsafe words.initialize(repeating: 0, count: wordCount)
        unsafe covered = .allocate(capacity: 1)
        unsafe covered.initialize(to: 0)
    }

    deinit {
        unsafe words.deallocate()
        unsafe covered.deallocate()
    }

    func begin() {
        unsafe words.update(repeating: 0, count: wordCount)
        unsafe covered.pointee = 0
    }

    /// Marks bytes as used; `length` is at least 1.
    /// - Returns: false where one of them was used already.
    @inline(__always) func mark(_ start: Int, length: Int) -> Bool {
        let end = start &+ length &- 1
        precondition(start >= 0 && length > 0 && end >> 6 < wordCount, "inside the page")
        unsafe covered.pointee &+= length
        var word = start >> 6
        let last = end >> 6
        var mask = UInt64.max << UInt64(start & 63)
        var taken: UInt64 = 0
        while word < last {
            unsafe taken |= words[word] & mask
            unsafe words[word] |= mask
            mask = .max
            word &+= 1
        }
        mask &= UInt64.max >> UInt64(63 &- (end & 63))
        unsafe taken |= words[last] & mask
        unsafe words[last] |= mask
        return taken == 0
    }

    /// Adds the free blocks to the cells that were marked, and compares.
    ///
    /// - Throws: `.badFreeblock`, `.overlap`, `.unaccounted`.
    func finish(_ page: TreePage) throws(PageReadError) {
        var block = page.firstFreeblock
        while block != 0 {
            // Each block begins with the next one's offset and its own length.
            guard block >= page.contentStart, block + 4 <= page.usable else {
                throw PageReadError(.badFreeblock, page: page.number)
            }
            let next = page.word16(block)
            let length = page.word16(block + 2)
            guard length >= 4, block + length <= page.usable, next == 0 || next > block + length + 3 else {
                throw PageReadError(.badFreeblock, page: page.number)
            }
            guard mark(block, length: length) else { throw PageReadError(.overlap, page: page.number) }
            block = next
        }
        guard unsafe covered.pointee + page.fragmentedBytes == page.usable - page.contentStart else {
            throw PageReadError(.unaccounted, page: page.number)
        }
    }
}
