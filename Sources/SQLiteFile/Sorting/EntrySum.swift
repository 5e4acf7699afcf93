/// How many entries an index has, or rows a table, and a digest of them that doesn't depend on their order: the sum of
/// a 128-bit hash of each entry's bytes, or of each rowid and record.
///
/// Sums of parts merge in any grouping. The mixing is wyhash's, as in the digests of rows: it finds what bugs, crashes
/// and failing hardware change, and doesn't protect against a deliberate collision.
package struct EntrySum: Hashable, Sendable {
    package private(set) var count = 0
    package private(set) var first: UInt64 = 0
    package private(set) var second: UInt64 = 0

    /// The sum of no entries.
    package init() {}

    /// What was saved.
    package init(count: Int, first: UInt64, second: UInt64) {
        (self.count, self.first, self.second) = (count, first, second)
    }

    /// Adds the entries of another part.
    package mutating func add(_ other: EntrySum) {
        count += other.count
        first &+= other.first
        second &+= other.second
    }

    private static var word0: UInt64 { 0xA076_1D64_78BD_642F }
    private static var word1: UInt64 { 0xE703_7ED1_A0B4_28DB }
    private static var word2: UInt64 { 0x8EBC_6AF0_9C88_C6E3 }
    private static var word3: UInt64 { 0x5899_65CC_7537_4CC3 }

    /// Adds one entry.
    @unsafe @inline(__always) mutating func add(_ entry: UnsafeRawBufferPointer) {
        unsafe add(entry, from: (Self.word0, Self.word1))
    }

    /// Adds a record of a table with its rowid.
    @unsafe @inline(__always) mutating func add(_ record: UnsafeRawBufferPointer, rowid: Int64) {
        let key = UInt64(bitPattern: rowid)
        unsafe add(record, from: (Self.fold(key ^ Self.word2, Self.word1), Self.fold(key ^ Self.word3, Self.word0)))
    }

    /// Adds the records of a batch.
    package mutating func add(_ rows: RowBatch) {
        for index in 0..<rows.count { unsafe add(rows.record(at: index), rowid: rows.rowid(at: index)) }
    }

    /// Adds the entries of a batch, as `IndexReader` gives them.
    package mutating func add(entries: RowBatch) {
        for index in 0..<entries.count { unsafe add(entries.record(at: index)) }
    }

    @unsafe @inline(__always) private mutating func add(
        _ entry: UnsafeRawBufferPointer, from start: (UInt64, UInt64)
    ) {
        let length = UInt64(truncatingIfNeeded: entry.count)
        var (one, other) = (start.0 ^ length, start.1 &+ length)
        var (left, right): (UInt64, UInt64) = (0, 0)
        if let base = entry.baseAddress {
            let count = entry.count
            if count > 16 {
                var offset = 0
                while offset &+ 16 < count {
                    unsafe (left, right) = (Self.word(base + offset), Self.word(base + offset + 8))
                    (one, other) = (
                        Self.fold(left ^ Self.word2, right ^ one), Self.fold(left ^ other, right ^ Self.word3)
                    )
                    offset &+= 16
                }
                // The last 16 bytes, some of them again: the length is part of the start.
                unsafe (left, right) = (Self.word(base + count - 16), Self.word(base + count - 8))
            } else if count >= 8 {
                unsafe (left, right) = (Self.word(base), Self.word(base + count - 8))
            } else if count >= 4 {
                unsafe (left, right) = (Self.half(base), Self.half(base + count - 4))
            } else if count > 0 {
                left = unsafe UInt64(entry[0]) << 16 | UInt64(entry[count >> 1]) << 8 | UInt64(entry[count - 1])
            }
        }
        (one, other) = (Self.fold(left ^ Self.word2, right ^ one), Self.fold(left ^ other, right ^ Self.word3))
        // Once more, so that no difference of two words' products stays linear in the sum.
        first &+= Self.fold(one ^ Self.word1, other ^ Self.word0)
        second &+= Self.fold(other ^ Self.word3, one ^ Self.word2) ^ other
        count &+= 1
    }

    @inline(__always) private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }

    @unsafe @inline(__always) private static func word(_ address: UnsafeRawPointer) -> UInt64 {
        UInt64(littleEndian: unsafe address.loadUnaligned(as: UInt64.self))
    }

    @unsafe @inline(__always) private static func half(_ address: UnsafeRawPointer) -> UInt64 {
        UInt64(UInt32(littleEndian: unsafe address.loadUnaligned(as: UInt32.self)))
    }
}
