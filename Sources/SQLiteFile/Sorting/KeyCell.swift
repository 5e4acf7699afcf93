/// A cell of an index entry, as comparing needs it.
@unsafe struct KeyCell {
    let type: SerialType
    /// The value's first byte in the entry.
    let start: UnsafeRawPointer
    /// Bytes.
    let length: Int

    /// The order of the storage classes (https://www.sqlite.org/datatype3.html#comparison_expressions).
    enum Rank: Int {
        case null = 0
        case number = 1
        case text = 2
        case blob = 3
    }

    /// A real that is no number is read as NULL, as SQLite does.
    @inline(__always) var rank: Rank {
        let raw = unsafe type.rawValue
        if raw >= 12 { return raw & 1 == 1 ? .text : .blob }
        if raw == 0 || raw >= 10 { return .null }
        return raw == 7 ? unsafe (real.isNaN ? .null : .number) : .number
    }

    /// Of a cell that holds an integer.
    @inline(__always) var integer: Int64 { unsafe type.integer(at: start) }

    /// Of a cell that holds a real.
    @inline(__always) var real: Double {
        Double(bitPattern: UInt64(bigEndian: unsafe start.loadUnaligned(as: UInt64.self)))
    }

    /// Negative where this value comes before the other, 0 where they are equal, else positive.
    @inline(__always) func compare(_ other: KeyCell) -> Int {
        let (mine, theirs) = unsafe (rank, other.rank)
        if mine != theirs { return mine.rawValue - theirs.rawValue }
        switch mine {
        case .null: return 0
        case .number: return unsafe compareNumber(other)
        case .text, .blob:
            let order = unsafe compareBytes(start, other.start, min(length, other.length))
            return unsafe order != 0 ? order : length - other.length
        }
    }

    private func compareNumber(_ other: KeyCell) -> Int {
        switch unsafe (type.isReal, other.type.isReal) {
        case (false, false): return unsafe Self.order(integer, other.integer)
        case (true, true): return unsafe Self.order(real, other.real)
        case (false, true): return unsafe Self.compare(integer, other.real)
        case (true, false): return unsafe -Self.compare(other.integer, real)
        }
    }

    @inline(__always) private static func order<Number: Comparable>(_ left: Number, _ right: Number) -> Int {
        left < right ? -1 : left == right ? 0 : 1
    }

    /// Exact: above 2⁵³ two integers can be next to the same real (sqlite3IntFloatCompare).
    static func compare(_ integer: Int64, _ real: Double) -> Int {
        if real < -0x1p63 { return 1 }
        if real >= 0x1p63 { return -1 }
        let whole = Int64(real)
        if integer != whole { return integer < whole ? -1 : 1 }
        return unsafe order(Double(whole), real)
    }
}

/// Goes through the cells of an entry.
///
/// For entries that were formed here or that `RecordReader` has taken; from bytes that are neither it reads nothing
/// outside the entry.
@unsafe struct KeyCursor {
    private var type: UnsafeRawPointer
    private let typesEnd: UnsafeRawPointer
    private var body: UnsafeRawPointer
    private let end: UnsafeRawPointer

    /// - Parameter entry: at least one byte.
    @inline(__always) init(_ entry: UnsafeRawBufferPointer) {
        guard let start = entry.baseAddress else { preconditionFailure("an entry has bytes") }
        unsafe end = start + entry.count
        let (length, lengthOfLength) = unsafe Varint.read(start, before: end)
        unsafe type = start + lengthOfLength
        unsafe typesEnd = start + max(lengthOfLength, Int(min(length, UInt64(entry.count))))
        unsafe body = unsafe typesEnd
    }

    /// The next cell; NULL after the last.
    @inline(__always) mutating func next() -> KeyCell {
        let (raw, length) = unsafe Varint.read(type, before: typesEnd)
        unsafe type += length
        let serial = SerialType(rawValue: UInt32(truncatingIfNeeded: raw))
        let size = serial.length
        let start = unsafe body
        guard unsafe end - start >= size else { return unsafe KeyCell(type: .null, start: start, length: 0) }
        unsafe body = start + size
        return unsafe KeyCell(type: serial, start: start, length: size)
    }

    @inline(__always) mutating func skip(_ cells: Int) {
        for _ in 0..<cells { _ = unsafe next() }
    }
}

/// memcmp, without importing the C library: eight bytes at a time, as big-endian numbers.
@unsafe @inline(__always) func compareBytes(
    _ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int
) -> Int {
    var offset = 0
    while offset &+ 8 <= count {
        let one = UInt64(bigEndian: unsafe (left + offset).loadUnaligned(as: UInt64.self))
        let other = UInt64(bigEndian: unsafe (right + offset).loadUnaligned(as: UInt64.self))
        if one != other { return one < other ? -1 : 1 }
        offset &+= 8
    }
    while offset < count {
        let one = unsafe (left + offset).load(as: UInt8.self)
        let other = unsafe (right + offset).load(as: UInt8.self)
        if one != other { return one < other ? -1 : 1 }
        offset &+= 1
    }
    return 0
}

extension SerialType {
    /// The integer that a cell of this type holds; 0 where the type isn't an integer's.
    @unsafe @inline(__always) func integer(at source: UnsafeRawPointer) -> Int64 {
        switch rawValue {
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
        default: return 0
        }
    }
}
