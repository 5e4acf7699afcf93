/// Pages of one file, one bit a page.
package struct PageSet: Hashable, Sendable {
    private var words: [UInt64]
    /// Pages that are in it.
    package private(set) var count = 0

    /// - Parameter pageCount: pages of the file; it can hold no others.
    package init(pageCount: Int) {
        precondition(pageCount >= 0)
        words = [UInt64](repeating: 0, count: pageCount / 64 + 1)
    }

    init(words: [UInt64]) {
        self.words = words
        count = words.reduce(0) { $0 + $1.nonzeroBitCount }
    }

    private var end: Int { words.count * 64 }

    package func contains(_ page: Int) -> Bool {
        guard page >= 0, page < end else { return false }
        return words[page >> 6] & (1 << UInt64(page & 63)) != 0
    }

    /// - Returns: false where the page is in it already.
    @discardableResult
    mutating func insert(_ page: Int) -> Bool {
        precondition(page >= 0 && page < end, "no such page")
        if contains(page) { return false }
        words[page >> 6] |= 1 << UInt64(page & 63)
        count += 1
        return true
    }

    mutating func remove(_ page: Int) {
        guard contains(page) else { return }
        words[page >> 6] &= ~(1 << UInt64(page & 63))
        count -= 1
    }

    /// The first page from `page` on that is in it.
    func first(from page: Int) -> Int? {
        guard page < end else { return nil }
        var index = Swift.max(0, page) >> 6
        var word = words[index] & (UInt64.max << UInt64(Swift.max(0, page) & 63))
        while word == 0 {
            index += 1
            if index == words.count { return nil }
            word = words[index]
        }
        return index << 6 + word.trailingZeroBitCount
    }

    /// The first page after `page`, which is in it, that isn't; no further than `limit`.
    func endOfRun(from page: Int, limit: Int) -> Int {
        var next = page + 1
        while next < limit, contains(next) {
            // Whole words at once.
            if next & 63 == 0, words[next >> 6] == .max { next += 64 } else { next += 1 }
        }
        return Swift.min(next, limit)
    }

    /// The page that is the n-th, from 1, ascending; 0 where there are fewer.
    func first(_ n: Int) -> Int {
        var rest = n
        for (index, word) in words.enumerated() {
            if rest > word.nonzeroBitCount {
                rest -= word.nonzeroBitCount
                continue
            }
            var word = word
            while rest > 1 {
                word &= word - 1
                rest -= 1
            }
            return rest == 1 ? index << 6 + word.trailingZeroBitCount : 0
        }
        return 0
    }

    /// The page that is the n-th from the end, from 1; 0 where there are fewer.
    func last(_ n: Int) -> Int {
        n <= count ? first(count - n + 1) : 0
    }

    mutating func removeAll(below page: Int) {
        keep { index in
            index < page >> 6 ? 0 : index == page >> 6 ? .max << UInt64(page & 63) : .max
        }
    }

    mutating func removeAll(from page: Int) {
        keep { index in
            index < page >> 6 ? .max : index == page >> 6 ? ~(.max << UInt64(page & 63)) : 0
        }
    }

    /// Keeps the pages whose bits a mask of their word has.
    private mutating func keep(_ mask: (Int) -> UInt64) {
        count = 0
        for index in words.indices {
            words[index] &= mask(index)
            count += words[index].nonzeroBitCount
        }
    }
}

extension PageSet: Sequence {
    /// The pages, ascending.
    package struct Iterator: IteratorProtocol {
        let set: PageSet
        var page = 0

        package mutating func next() -> Int? {
            guard let next = set.first(from: page) else { return nil }
            page = next + 1
            return next
        }
    }

    package func makeIterator() -> Iterator {
        Iterator(set: self)
    }

}
