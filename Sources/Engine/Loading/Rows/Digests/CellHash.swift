/// Two independent 64-bit hashes: together, what one cell or row adds to a digest.
package struct HashLanes: Hashable, Sendable {
    package var first: UInt64
    package var second: UInt64
}

/// A value as hashing needs it: its storage class and two words made of its bytes.
package struct CellContent: Hashable, Sendable {
    /// Distinguishes the storage classes.
    let salt: UInt64
    let first: UInt64
    let second: UInt64
}

/// Hashes cells together with their row's key, so that a plain sum of the hashes finds changed, swapped, lost and
/// duplicated cells in any order of rows.
///
/// The mixing is wyhash's: words are folded by a 64 × 64 → 128-bit multiplication whose halves are XORed, two
/// independent chains over 16 bytes a step. Assumed, as of any hash that isn't cryptographic: differences that bugs,
/// crashes and failing hardware make are unrelated to the constants, so that two different sets of cells have equal
/// sums with a probability of about 2⁻¹²⁸ (2⁻⁶⁴ for a value whose bytes happen to cancel one of the two chains). It
/// doesn't protect against a deliberate collision; an attacker could also write another store.
///
/// The result depends on the values alone, not on the machine: digests are kept in checkpoints.
package enum CellHash {
    /// Odd constants with half of their bits set, as wyhash chooses them: multiplications by them spread every bit.
    private static var word0: UInt64 { 0xA076_1D64_78BD_642F }
    private static var word1: UInt64 { 0xE703_7ED1_A0B4_28DB }
    private static var word2: UInt64 { 0x8EBC_6AF0_9C88_C6E3 }
    private static var word3: UInt64 { 0x5899_65CC_7537_4CC3 }
    private static var integerSalt: UInt64 { 0x1D8E_4E27_C47D_124F }
    private static var realSalt: UInt64 { 0xEB44_ACCA_B455_D165 }
    private static var textSalt: UInt64 { 0x2D35_8DCC_AA6C_78A5 }
    private static var blobSalt: UInt64 { 0x8BB8_4B93_962E_ACC9 }
    private static var nullSalt: UInt64 { 0x4B33_A62E_D433_D4A3 }

    /// The start for a row without a key.
    static var start: HashLanes { HashLanes(first: word2, second: word3) }
    static var null: CellContent { CellContent(salt: nullSalt, first: 0, second: 0) }

    @inline(__always) package static func integer(_ value: Int64) -> CellContent {
        CellContent(salt: integerSalt, first: UInt64(bitPattern: value), second: 0)
    }

    /// Bit for bit: −0.0 isn't 0.0.
    @inline(__always) static func real(_ value: Double) -> CellContent {
        CellContent(salt: realSalt, first: value.bitPattern, second: 0)
    }

    @unsafe @inline(__always) package static func text(_ bytes: UnsafeRawBufferPointer) -> CellContent {
        unsafe content(bytes, salt: textSalt)
    }

    @unsafe @inline(__always) static func blob(_ bytes: UnsafeRawBufferPointer) -> CellContent {
        unsafe content(bytes, salt: blobSalt)
    }

    /// The start for the cells of a row.
    @inline(__always) package static func row(key: Int64) -> HashLanes {
        lanes(of: integer(key), in: start)
    }

    /// One cell of a row.
    @inline(__always) package static func lanes(of content: CellContent, in row: HashLanes) -> HashLanes {
        let product = (content.first ^ row.first).multipliedFullWidth(by: (content.second ^ row.second) | 1)
        return HashLanes(
            first: fold(product.low ^ word0 ^ content.salt, product.high ^ word1),
            second: fold(product.high ^ word2 ^ content.salt, product.low ^ word3))
    }

    @inline(__always) private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }

    @unsafe @inline(__always) private static func content(
        _ bytes: UnsafeRawBufferPointer, salt: UInt64
    ) -> CellContent {
        let count = bytes.count
        var first = word0 ^ UInt64(truncatingIfNeeded: count)
        var second = word1 &+ UInt64(truncatingIfNeeded: count)
        guard let base = bytes.baseAddress, count > 0 else {
            return CellContent(salt: salt, first: first, second: second)
        }
        var (left, right): (UInt64, UInt64) = (0, 0)
        if count > 16 {
            var offset = 0
            while offset &+ 16 < count {
                unsafe (left, right) = (word(base + offset), word(base + offset + 8))
                (first, second) = (fold(left ^ word2, right ^ first), fold(left ^ second, right ^ word3))
                offset &+= 16
            }
            // The last 16 bytes, some of them again: the length is part of the start.
            unsafe (left, right) = (word(base + count - 16), word(base + count - 8))
        } else if count >= 8 {
            unsafe (left, right) = (word(base), word(base + count - 8))
        } else if count >= 4 {
            unsafe (left, right) = (half(base), half(base + count - 4))
        } else {
            let ends = unsafe (UInt64(bytes[0]), UInt64(bytes[count >> 1]), UInt64(bytes[count - 1]))
            left = ends.0 << 16 | ends.1 << 8 | ends.2
        }
        return CellContent(
            salt: salt, first: fold(left ^ word2, right ^ first), second: fold(left ^ second, right ^ word3))
    }

    @unsafe @inline(__always) private static func word(_ address: UnsafeRawPointer) -> UInt64 {
        UInt64(littleEndian: unsafe address.loadUnaligned(as: UInt64.self))
    }

    @unsafe @inline(__always) private static func half(_ address: UnsafeRawPointer) -> UInt64 {
        UInt64(UInt32(littleEndian: unsafe address.loadUnaligned(as: UInt32.self)))
    }
}
