/// Reads the trailer, the offset table and every object of a `bplist00` file.
///
/// Format: CFBinaryPList.c. Header of 8 bytes, objects, offset table, trailer of 32 bytes; all numbers big-endian.
struct BinaryPropertyListParser {
    typealias Object = BinaryPropertyList.Object
    typealias ReferenceRange = BinaryPropertyList.ReferenceRange

    private static let magic = Array("bplist00".utf8)
    private static let trailerSize = 32

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    /// Where the offset table begins; objects lie before it.
    private let tableStart: Int
    let root: Int

    private(set) var objects: [Object] = []
    private(set) var references: [UInt32] = []
    /// Bytes that the objects may still take. Objects that overlap would let a small file fill any memory.
    private var budget: Int

    init(_ bytes: [UInt8]) throws(PropertyListError) {
        guard bytes.count <= PropertyListLimits.fileSize else {
            throw PropertyListError(
                .limitExceeded,
                "The property list has \(bytes.count) bytes; at most \(PropertyListLimits.fileSize) are read.")
        }
        guard bytes.starts(with: Self.magic), bytes.count >= Self.magic.count + 1 + 1 + Self.trailerSize else {
            throw PropertyListError(
                .notBinaryPropertyList,
                "The bytes are not a binary property list of version 00; convert other forms with `plutil -convert binary1`."
            )
        }
        let trailer = bytes.count - Self.trailerSize
        let offsetSize = Int(bytes[trailer + 6])
        let referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
            throw Self.malformed("The trailer names integer sizes outside 1...8.", at: trailer + 6)
        }
        let count = Self.bigEndian(bytes, at: trailer + 8, size: 8)
        let root = Self.bigEndian(bytes, at: trailer + 16, size: 8)
        let table = Self.bigEndian(bytes, at: trailer + 24, size: 8)
        guard table > UInt64(Self.magic.count), table < UInt64(trailer) else {
            throw Self.malformed("The offset table lies outside the file.", at: trailer + 24)
        }
        // No overflow: the division keeps the product below the file's size.
        guard count > 0, count <= (UInt64(trailer) - table) / UInt64(offsetSize),
            count <= table - UInt64(Self.magic.count)
        else {
            throw Self.malformed("The trailer counts \(count) objects, more than the file can hold.", at: trailer + 8)
        }
        guard root < count else {
            throw Self.malformed("The top object's number \(root) is not below \(count).", at: trailer + 16)
        }
        self.bytes = bytes
        self.offsetSize = offsetSize
        self.referenceSize = referenceSize
        self.objectCount = Int(count)
        self.tableStart = Int(table)
        self.root = Int(root)
        self.budget = Int(table) - Self.magic.count
    }

    mutating func parseObjects() throws(PropertyListError) {
        objects.reserveCapacity(objectCount)
        for index in 0..<objectCount {
            let offset = Self.bigEndian(bytes, at: tableStart + index * offsetSize, size: offsetSize)
            guard offset >= UInt64(Self.magic.count), offset < UInt64(tableStart) else {
                throw Self.malformed("Object \(index) lies outside the file.", at: tableStart + index * offsetSize)
            }
            objects.append(try parseObject(at: Int(offset)))
        }
    }

    private mutating func parseObject(at offset: Int) throws(PropertyListError) -> Object {
        let marker = bytes[offset]
        let low = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x0:
            try take(1, from: offset)
            switch low {
            case 0x0: return .null
            case 0x8: return .boolean(false)
            case 0x9: return .boolean(true)
            default: throw Self.unsupported(marker, at: offset)
            }
        case 0x1: return try parseInteger(at: offset, sizeExponent: low)
        case 0x2: return .real(try parseReal(at: offset, sizeExponent: low))
        case 0x3:
            guard low == 3 else { throw Self.unsupported(marker, at: offset) }
            return .date(try parseReal(at: offset, sizeExponent: low))
        case 0x4:
            let content = try content(at: offset, width: 1)
            return .data(Array(bytes[content]))
        case 0x5: return .string(try parseASCII(at: offset))
        case 0x6: return .string(try parseUTF16(at: offset))
        case 0x8:
            guard low < 8 else { throw Self.unsupported(marker, at: offset) }
            try take(2 + low, from: offset)
            return .uid(Self.bigEndian(bytes, at: offset + 1, size: low + 1))
        case 0xA: return .array(try parseReferences(at: offset, runs: 1))
        case 0xC: return .set(try parseReferences(at: offset, runs: 1))
        case 0xD:
            let both = try parseReferences(at: offset, runs: 2)
            let count = both.count / 2
            return .dictionary(
                keys: ReferenceRange(start: both.start, count: count),
                values: ReferenceRange(start: both.start + UInt32(count), count: count))
        default: throw Self.unsupported(marker, at: offset)
        }
    }
}

// MARK: - Scalars

extension BinaryPropertyListParser {
    /// 1, 2 and 4 bytes are unsigned, 8 bytes signed, 16 bytes signed with only 64 significant bits used by Apple.
    private mutating func parseInteger(at offset: Int, sizeExponent: Int) throws(PropertyListError) -> Object {
        guard sizeExponent <= 4 else { throw Self.unsupported(bytes[offset], at: offset) }
        let size = 1 << sizeExponent
        try take(1 + size, from: offset)
        guard size == 16 else {
            return .integer(Int64(bitPattern: Self.bigEndian(bytes, at: offset + 1, size: size)))
        }
        let high = Self.bigEndian(bytes, at: offset + 1, size: 8)
        let low = Self.bigEndian(bytes, at: offset + 9, size: 8)
        let signed = Int64(bitPattern: low)
        if high == 0 { return signed >= 0 ? .integer(signed) : .unsigned(low) }
        guard high == .max, signed < 0 else {
            throw PropertyListError(
                .unsupported, "An integer needs more than 64 bits; no property list value can hold it.",
                at: "byte \(offset)")
        }
        return .integer(signed)
    }

    private mutating func parseReal(at offset: Int, sizeExponent: Int) throws(PropertyListError) -> Double {
        switch sizeExponent {
        case 2:
            try take(5, from: offset)
            return Double(Float(bitPattern: UInt32(Self.bigEndian(bytes, at: offset + 1, size: 4))))
        case 3:
            try take(9, from: offset)
            return Double(bitPattern: Self.bigEndian(bytes, at: offset + 1, size: 8))
        default:
            throw Self.unsupported(bytes[offset], at: offset)
        }
    }

    private mutating func parseASCII(at offset: Int) throws(PropertyListError) -> String {
        let content = bytes[try content(at: offset, width: 1)]
        guard content.allSatisfy({ $0 < 0x80 }) else {
            throw Self.malformed("An ASCII string holds a byte above 127.", at: offset)
        }
        return String(decoding: content, as: UTF8.self)
    }

    private mutating func parseUTF16(at offset: Int) throws(PropertyListError) -> String {
        let content = try content(at: offset, width: 2)
        let units = stride(from: content.lowerBound, to: content.upperBound, by: 2).map {
            UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw Self.malformed("A UTF-16 string holds an unpaired surrogate.", at: offset)
        }
        return text
    }
}

// MARK: - Counts, references, bytes

extension BinaryPropertyListParser {
    private mutating func parseReferences(at offset: Int, runs: Int) throws(PropertyListError) -> ReferenceRange {
        let content = try content(at: offset, width: referenceSize * runs)
        // Below 2³²: there are fewer references than the file has bytes.
        let start = UInt32(references.count)
        for position in stride(from: content.lowerBound, to: content.upperBound, by: referenceSize) {
            let reference = Self.bigEndian(bytes, at: position, size: referenceSize)
            guard reference < UInt64(objectCount) else {
                throw Self.malformed("A reference to object \(reference) leads outside the table.", at: position)
            }
            references.append(UInt32(reference))
        }
        return ReferenceRange(start: start, count: content.count / referenceSize)
    }

    /// The bytes of an object whose marker's low half is the count of its items, or 15 when an integer follows.
    private mutating func content(at offset: Int, width: Int) throws(PropertyListError) -> Range<Int> {
        var start = offset + 1
        var count = UInt64(bytes[offset] & 0x0F)
        if count == 0x0F {
            guard start < tableStart, bytes[start] >> 4 == 0x1, bytes[start] & 0x0F <= 3 else {
                throw Self.malformed("A count is not an integer of 1, 2, 4 or 8 bytes.", at: offset)
            }
            let size = 1 << Int(bytes[start] & 0x0F)
            guard size < tableStart - start else {
                throw Self.malformed("A count runs over the end of the objects.", at: offset)
            }
            count = Self.bigEndian(bytes, at: start + 1, size: size)
            start += 1 + size
        }
        guard count <= UInt64((tableStart - start) / width) else {
            throw Self.malformed("An object counts \(count) items, more than the file can hold.", at: offset)
        }
        let end = start + Int(count) * width
        try take(end - offset, from: offset)
        return start..<end
    }

    /// Checks that an object of that length fits before the offset table and that objects don't overlap.
    private mutating func take(_ length: Int, from offset: Int) throws(PropertyListError) {
        guard length <= tableStart - offset else {
            throw Self.malformed("An object runs over the end of the objects.", at: offset)
        }
        guard length <= budget else {
            throw Self.malformed("Objects overlap: together they are longer than the file.", at: offset)
        }
        budget -= length
    }

    private static func bigEndian(_ bytes: [UInt8], at offset: Int, size: Int) -> UInt64 {
        bytes[offset..<(offset + size)].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func malformed(_ what: String, at offset: Int) -> PropertyListError {
        PropertyListError(
            .malformed, what + " The property list is damaged; take it from a backup.", at: "byte \(offset)")
    }

    private static func unsupported(_ marker: UInt8, at offset: Int) -> PropertyListError {
        PropertyListError(
            .unsupported, "No object type is known for marker 0x\(String(marker, radix: 16)).", at: "byte \(offset)")
    }
}
