/// Keys of rows, a bit each, in pages: keys that Core Data gives are dense.
struct KeySet {
    /// Keys of a page: 4 KB.
    private static let pageKeys = 32_768
    private static let pageWords = pageKeys / 64
    /// Most pages that there can be, with gaps: keys beyond them aren't held.
    private static let pageLimit = 65_536

    /// Where each page begins in `bits`, from key 0 on; −1 where it has no key.
    private var starts: [Int32] = []
    private var bits: [UInt64] = []

    var isEmpty: Bool { bits.isEmpty }

    /// Adds a key.
    ///
    /// - Parameters:
    ///   - key: from 0 on.
    ///   - bytesLeft: memory that may still be taken; lowered.
    /// - Returns: false where the key can't be held.
    mutating func insert(_ key: Int64, _ bytesLeft: inout Int) -> Bool {
        guard key >= 0 else { return false }
        let page = Int(key) / Self.pageKeys
        if page >= starts.count || starts[page] < 0 {
            guard page < Self.pageLimit, bytesLeft >= Self.pageKeys / 8 else { return false }
            bytesLeft -= Self.pageKeys / 8
            if page >= starts.count {
                bytesLeft -= 4 * (page + 1 - starts.count)
                starts += repeatElement(-1, count: page + 1 - starts.count)
            }
            starts[page] = Int32(bits.count)
            bits += repeatElement(0, count: Self.pageWords)
        }
        let place = Int(key) % Self.pageKeys
        bits[Int(starts[page]) + place / 64] |= 1 << UInt64(place % 64)
        return true
    }

    /// Whether each of its keys is in one of some other sets.
    func isCovered(by others: ArraySlice<KeySet>) -> Bool {
        for (page, start) in starts.enumerated() where start >= 0 {
            for word in 0..<Self.pageWords {
                var missing = bits[Int(start) + word]
                for other in others where missing != 0 {
                    if let found = other.word(word, ofPage: page) { missing &= ~found }
                }
                if missing != 0 { return false }
            }
        }
        return true
    }

    private func word(_ word: Int, ofPage page: Int) -> UInt64? {
        guard page < starts.count, starts[page] >= 0 else { return nil }
        return bits[Int(starts[page]) + word]
    }
}
