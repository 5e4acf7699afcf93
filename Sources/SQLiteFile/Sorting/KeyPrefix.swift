/// The beginning of a key's column as a number of 64 bits that is in the same order as the values.
///
/// The highest two bits are the storage class. Then of a number: 61 bits of the largest real that isn't greater, and
/// one bit, set where that isn't the whole number. Of a text or blob: 7 bytes, and 6 bits with their count, 8 where
/// more follow. So equal prefixes mean equal values, unless the prefix itself says that it is only the beginning. For
/// DESC all bits are inverted.
enum KeyPrefix {
    /// Bytes of a text or blob that are in a prefix.
    static let byteCount = 7

    /// Of a value; `skipped` are bytes of a text or blob before those to be taken, at most its length.
    @unsafe @inline(__always) static func of(_ cell: KeyCell, after skipped: Int = 0) -> UInt64 {
        let raw = unsafe cell.type.rawValue
        if raw >= 12 {
            let rest = unsafe bytes(cell.start + skipped, count: cell.length - skipped)
            return UInt64(raw & 1 == 1 ? 2 : 3) << 62 | rest
        }
        if raw == 0 || raw >= 10 { return 0 }
        return raw == 7 ? unsafe number(cell.real) : unsafe number(cell.integer)
    }

    /// Whether equal prefixes of this kind mean equal values.
    @inline(__always) static func isWhole(_ prefix: UInt64) -> Bool {
        switch prefix >> 62 {
        case 0: true
        case 1: prefix & 1 == 0
        default: prefix & 63 <= UInt64(byteCount)
        }
    }

    /// Whether a prefix is one of texts or blobs.
    @inline(__always) static func isOfBytes(_ prefix: UInt64) -> Bool { prefix >> 63 == 1 }

    @unsafe @inline(__always) private static func bytes(_ start: UnsafeRawPointer, count: Int) -> UInt64 {
        if count > byteCount {
            return (UInt64(bigEndian: unsafe start.loadUnaligned(as: UInt64.self)) & ~0xff) >> 2 | UInt64(byteCount + 1)
        }
        var word: UInt64 = 0
        for index in 0..<count { word |= UInt64(unsafe start[index]) << UInt64(48 &- 8 &* index) }
        return word << 6 | UInt64(truncatingIfNeeded: count)
    }

    @inline(__always) static func number(_ value: Int64) -> UInt64 {
        var real = Double(value)
        // Below 2⁵³ every integer is a real.
        if value.magnitude < 1 << 53 { return number(real, isFloor: false) }
        if real >= 0x1p63 || Int64(real) > value { real = real.nextDown }
        return number(real, isFloor: Int64(real) != value)
    }

    @inline(__always) static func number(_ value: Double) -> UInt64 {
        value.isNaN ? 0 : number(value, isFloor: false)
    }

    /// `isFloor`: whether the number is greater, and `value` only the nearest real below it.
    @inline(__always) private static func number(_ value: Double, isFloor: Bool) -> UInt64 {
        let bits = value.bitPattern
        let size = bits & ~(1 << 63)
        // Zero is in the middle, that with a sign too.
        let ordered: UInt64 = bits >> 63 == 1 ? (1 << 63) &- size : (1 << 63) &+ size
        return 1 << 62 | (ordered & ~7) >> 2 | (isFloor || ordered & 7 != 0 ? 1 : 0)
    }
}

extension UnsafeRawPointer {
    fileprivate subscript(offset: Int) -> UInt8 { unsafe load(fromByteOffset: offset, as: UInt8.self) }
}
