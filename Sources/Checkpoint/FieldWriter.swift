/// Writes a payload's fields, one after the other, without names or types: reader and writer agree on the order.
///
/// The coding is described in the article `CheckpointFormat`; `FieldReader` reads it.
package struct FieldWriter: Sendable {
    /// Everything written so far.
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// A varint: seven bits a byte, lowest first, the high bit set on all but the last.
    package mutating func write(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// A zigzag varint: as an unsigned one, small magnitudes first (0, -1, 1, -2, …).
    package mutating func write(_ value: Int64) {
        write(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    /// As an `Int64`.
    package mutating func write(_ value: Int) { write(Int64(value)) }

    /// How many elements follow, for `FieldReader.count`: an unsigned varint.
    package mutating func write(count: Int) {
        write(UInt64(clamping: count))
    }

    /// One byte, 0 or 1.
    package mutating func write(_ value: Bool) {
        bytes.append(value ? 1 : 0)
    }

    /// The length in bytes as a varint, then UTF-8.
    package mutating func write(_ text: String) {
        write(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// The length as a varint, then the bytes.
    package mutating func write(bytes value: [UInt8]) {
        write(UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    /// Eight bytes, little endian: for values whose varints wouldn't be shorter.
    package mutating func write(fixed value: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}
