/// The number in a record's header that gives a cell's storage class and length
/// (https://www.sqlite.org/fileformat2.html#record_format).
@usableFromInline package struct SerialType: RawRepresentable, Hashable, Sendable {
    @usableFromInline package let rawValue: UInt32

    @inlinable package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    @inlinable package static var null: SerialType { SerialType(rawValue: 0) }
    @inlinable package static var real: SerialType { SerialType(rawValue: 7) }
    /// The integer 0, without a byte in the body.
    @inlinable package static var zero: SerialType { SerialType(rawValue: 8) }
    /// The integer 1, without a byte in the body.
    @inlinable package static var one: SerialType { SerialType(rawValue: 9) }

    /// Bytes. SQLite's largest record is 2³¹−1 bytes; what is left of it for one value makes every serial type fit in
    /// 32 bits.
    @inlinable package static var maximumValueLength: Int { 2_147_483_641 }

    /// A text of `length` bytes, at most `maximumValueLength`.
    @inlinable package static func text(length: Int) -> SerialType {
        SerialType(rawValue: UInt32(truncatingIfNeeded: length) &* 2 &+ 13)
    }

    /// A blob of `length` bytes, at most `maximumValueLength`.
    @inlinable package static func blob(length: Int) -> SerialType {
        SerialType(rawValue: UInt32(truncatingIfNeeded: length) &* 2 &+ 12)
    }

    /// The shortest form of an integer, as SQLite stores it from file format 4 on.
    @inlinable package static func integer(_ value: Int64) -> SerialType {
        if value == 0 { return .zero }
        if value == 1 { return .one }
        // The magnitude without its sign bit decides: -128 has one byte, 128 two.
        let magnitude = value < 0 ? ~value : value
        if magnitude < 0x80 { return SerialType(rawValue: 1) }
        if magnitude < 0x8000 { return SerialType(rawValue: 2) }
        if magnitude < 0x80_0000 { return SerialType(rawValue: 3) }
        if magnitude < 0x8000_0000 { return SerialType(rawValue: 4) }
        if magnitude < 0x8000_0000_0000 { return SerialType(rawValue: 5) }
        return SerialType(rawValue: 6)
    }

    /// Bytes of the cell in the body. The reserved types 10 and 11 have none and are refused when a record is read.
    @inlinable package var length: Int {
        if rawValue >= 12 { return Int((rawValue &- 12) >> 1) }
        switch rawValue {
        case 1, 2, 3, 4: return Int(rawValue)
        case 5: return 6
        case 6, 7: return 8
        default: return 0
        }
    }

    @inlinable package var isNull: Bool { rawValue == 0 }
    @inlinable package var isInteger: Bool { rawValue >= 1 && rawValue <= 6 || rawValue == 8 || rawValue == 9 }
    @inlinable package var isReal: Bool { rawValue == 7 }
    @inlinable package var isText: Bool { rawValue >= 13 && rawValue & 1 == 1 }
    @inlinable package var isBlob: Bool { rawValue >= 12 && rawValue & 1 == 0 }
    @inlinable package var isReserved: Bool { rawValue == 10 || rawValue == 11 }
}

extension SerialType {
    /// The integer that is stored at `source`; nil for another storage class.
    @unsafe @inlinable @inline(__always) func integer(at source: UnsafeRawPointer) -> Int64? {
        switch rawValue {
        case 8: return 0
        case 9: return 1
        case 1: return Int64(unsafe source.load(as: Int8.self))
        case 2: return Int64(Int16(bigEndian: unsafe source.loadUnaligned(as: Int16.self)))
        case 3:
            let high = Int64(unsafe source.load(as: Int8.self))
            let low = unsafe source.loadUnaligned(fromByteOffset: 1, as: UInt16.self)
            return high << 16 | Int64(UInt16(bigEndian: low))
        case 4: return Int64(Int32(bigEndian: unsafe source.loadUnaligned(as: Int32.self)))
        case 5:
            let high = Int64(Int16(bigEndian: unsafe source.loadUnaligned(as: Int16.self)))
            let low = unsafe source.loadUnaligned(fromByteOffset: 2, as: UInt32.self)
            return high << 32 | Int64(UInt32(bigEndian: low))
        case 6: return Int64(bigEndian: unsafe source.loadUnaligned(as: Int64.self))
        default: return nil
        }
    }

    /// Overwrites an integer that is stored in one byte or more; the value fits.
    @unsafe @inline(__always) func overwrite(_ target: UnsafeMutableRawPointer, with value: Int64) {
        var rest = value
        var index = length
        while index > 0 {
            index &-= 1
            unsafe target.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: index, as: UInt8.self)
            rest >>= 8
        }
    }
}
