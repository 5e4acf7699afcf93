/// SQLite's variable-length integer: 1 to 9 bytes, seven bits a byte from the high end, all eight of the ninth
/// (https://www.sqlite.org/fileformat2.html#varint).
@usableFromInline package enum Varint {
    package static let maximumLength = 9

    /// Bytes that `write` takes.
    @inlinable package static func length(of value: UInt64) -> Int {
        if value < 0x80 { return 1 }
        if value >> 56 != 0 { return 9 }
        return (64 - value.leadingZeroBitCount + 6) / 7
    }

    /// Writes the shortest form; there must be room for it.
    /// - Returns: the number of bytes.
    @unsafe @inlinable @discardableResult
    package static func write(_ value: UInt64, to target: UnsafeMutableRawPointer) -> Int {
        if value < 0x80 {
            unsafe target.storeBytes(of: UInt8(truncatingIfNeeded: value), as: UInt8.self)
            return 1
        }
        let count = length(of: value)
        var rest = value
        var index = count - 1
        if count == 9 {
            unsafe target.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: 8, as: UInt8.self)
            rest >>= 8
            index = 7
        }
        let last = count == 9 ? -1 : index
        while index >= 0 {
            let more: UInt8 = index == last ? 0 : 0x80
            unsafe target.storeBytes(
                of: UInt8(truncatingIfNeeded: rest) & 0x7f | more, toByteOffset: index, as: UInt8.self)
            rest >>= 7
            index -= 1
        }
        return count
    }

    /// Reads a varint that starts at `source` and must end before `end`.
    /// - Returns: the value and its length; length 0 when the bytes end inside it.
    @unsafe @inlinable package static func read(
        _ source: UnsafeRawPointer, before end: UnsafeRawPointer
    ) -> (value: UInt64, length: Int) {
        let available = unsafe end - source
        if available <= 0 { return (0, 0) }
        let first = unsafe source.load(as: UInt8.self)
        if first < 0x80 { return (UInt64(first), 1) }
        var value = UInt64(first & 0x7f)
        var index = 1
        while index < 8 {
            if index >= available { return (0, 0) }
            let byte = unsafe source.load(fromByteOffset: index, as: UInt8.self)
            value = value << 7 | UInt64(byte & 0x7f)
            index += 1
            if byte < 0x80 { return (value, index) }
        }
        if available < 9 { return (0, 0) }
        return (value << 8 | UInt64(unsafe source.load(fromByteOffset: 8, as: UInt8.self)), 9)
    }
}
