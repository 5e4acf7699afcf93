import Synchronization

/// Which pages of a file were already read as part of a tree: one bit a page.
///
/// Shared by all readers that go through a file once, so that a page which two trees use, or one tree twice, is an
/// error; a loop of pages then ends too. A second pass over the same tree needs new claims.
///
/// Sendable: the words are atomic and the pointer never changes.
@safe
package final class PageClaims: @unchecked Sendable {
    private let words: UnsafeMutablePointer<Atomic<UInt64>>
    private let count: Int
    /// Whether readers compare the pages with the file's pointer map, if it has one.
    let checksPointerMap: Bool

    package init(pageCount: Int, checksPointerMap: Bool = false) {
        precondition(pageCount >= 0)
        self.checksPointerMap = checksPointerMap
        count = pageCount / 64 + 1
        unsafe words = .allocate(capacity: count)
        for index in 0..<count { unsafe (words + index).initialize(to: Atomic(0)) }
    }

    deinit {
        unsafe words.deinitialize(count: count)
        unsafe words.deallocate()
    }

    /// - Returns: false where the page was claimed before.
    func claim(_ page: Int) -> Bool {
        precondition(page >= 0 && page >> 6 < count, "no such page")
        let bit: UInt64 = 1 << UInt64(page & 63)
        return unsafe words[page >> 6].bitwiseOr(bit, ordering: .relaxed).oldValue & bit == 0
    }

    /// How many pages are claimed now; nobody claims at the same time.
    package var pageCount: Int {
        (0..<count).reduce(0) { unsafe $0 + words[$1].load(ordering: .relaxed).nonzeroBitCount }
    }

    /// What is claimed now; nobody claims at the same time.
    var pages: PageSet {
        PageSet(words: (0..<count).map { unsafe words[$0].load(ordering: .relaxed) })
    }
}
