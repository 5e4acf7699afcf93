/// Writes a property list as `bplist00`.
///
/// The output is a function of the value alone: dictionary keys go in the order of their UTF-8 bytes, objects are
/// numbered in preorder (a dictionary's keys before its values), and equal scalars are written once, as Apple does.
package enum BinaryPropertyListWriter {
    /// The bytes of a complete file.
    ///
    /// Throws `limitExceeded` when the tree is nested deeper than `PropertyListLimits.treeDepth` levels or its bytes
    /// exceed `PropertyListLimits.fileSize`: our own reader would refuse it.
    package static func bytes(of root: PropertyList) throws(PropertyListError) -> [UInt8] {
        var table = ObjectTable()
        try table.flatten(root)
        var encoder = BinaryPropertyListEncoder(table: table)
        let bytes = encoder.encode()
        guard bytes.count <= PropertyListLimits.fileSize else {
            throw PropertyListError(
                .limitExceeded,
                "The property list takes \(bytes.count) bytes; at most \(PropertyListLimits.fileSize) can be read back."
            )
        }
        return bytes
    }
}

/// The tree as numbered objects; equal scalars have one number.
private struct ObjectTable {
    enum Object {
        case scalar(PropertyList)
        case array(slots: Range<Int>)
        /// The first half of the slots are keys.
        case dictionary(slots: Range<Int>)
    }

    /// An unnumbered value, and where its number goes.
    private struct Pending {
        let value: PropertyList
        let depth: Int
        let slot: Int
    }

    private(set) var objects: [Object] = []
    /// The children of all containers, as numbers in `objects`.
    private(set) var slots: [Int] = []
    private var numbers: [ScalarIdentity: Int] = [:]

    mutating func flatten(_ root: PropertyList) throws(PropertyListError) {
        slots = [0]
        var stack = [Pending(value: root, depth: 1, slot: 0)]
        while let next = stack.popLast() {
            let range: Range<Int>
            let children: [PropertyList]
            switch next.value {
            case .array(let items):
                children = items
                range = try open(count: children.count, depth: next.depth)
                slots[next.slot] = objects.count
                objects.append(.array(slots: range))
            case .dictionary(let entries):
                let sorted = entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                children = sorted.map { .string($0.key) } + sorted.map(\.value)
                range = try open(count: children.count, depth: next.depth)
                slots[next.slot] = objects.count
                objects.append(.dictionary(slots: range))
            default:
                slots[next.slot] = number(of: next.value)
                continue
            }
            for (slot, child) in zip(range, children).reversed() {
                stack.append(Pending(value: child, depth: next.depth + 1, slot: slot))
            }
        }
    }

    private mutating func open(count: Int, depth: Int) throws(PropertyListError) -> Range<Int> {
        guard depth <= PropertyListLimits.treeDepth else {
            throw PropertyListError(
                .limitExceeded, "The property list is nested deeper than \(PropertyListLimits.treeDepth) levels.")
        }
        let start = slots.count
        slots.append(contentsOf: repeatElement(0, count: count))
        return start..<slots.count
    }

    private mutating func number(of scalar: PropertyList) -> Int {
        let identity = ScalarIdentity(scalar)
        if let known = numbers[identity] { return known }
        let number = objects.count
        numbers[identity] = number
        objects.append(.scalar(scalar))
        return number
    }
}

/// When two scalars are written as one object.
enum ScalarIdentity: Hashable {
    case string([UInt8])
    case real(UInt64)
    case date(UInt64)
    case other(PropertyList)

    init(_ scalar: PropertyList) {
        switch scalar {
        // By bytes: Swift's `==` would merge canonical equivalents.
        case .string(let text): self = .string(Array(text.utf8))
        // By bit pattern, so that NaN is found again and -0.0 isn't written as 0.0.
        case .real(let value): self = .real(value.bitPattern)
        case .date(let value): self = .date(value.bitPattern)
        default: self = .other(scalar)
        }
    }
}

private struct BinaryPropertyListEncoder {
    private let table: ObjectTable
    private let referenceSize: Int
    private var output = Array("bplist00".utf8)

    init(table: ObjectTable) {
        self.table = table
        self.referenceSize = Self.size(of: UInt64(table.objects.count))
    }

    mutating func encode() -> [UInt8] {
        var offsets: [UInt64] = []
        offsets.reserveCapacity(table.objects.count)
        for object in table.objects {
            offsets.append(UInt64(output.count))
            switch object {
            case .scalar(let value): append(value)
            case .array(let slots): append(marker: 0xA0, count: slots.count, slots: slots)
            case .dictionary(let slots): append(marker: 0xD0, count: slots.count / 2, slots: slots)
            }
        }
        let tableStart = UInt64(output.count)
        let offsetSize = Self.size(of: tableStart)
        for offset in offsets { append(offset, size: offsetSize) }
        output.append(contentsOf: [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)])
        append(UInt64(table.objects.count), size: 8)
        append(0, size: 8)
        append(tableStart, size: 8)
        return output
    }

    private mutating func append(_ value: PropertyList) {
        switch value {
        case .boolean(let flag): output.append(flag ? 0x09 : 0x08)
        case .integer(let number): append(number)
        case .unsigned(let number):
            // 16 bytes: eight are signed.
            output.append(0x14)
            append(0, size: 8)
            append(number, size: 8)
        case .real(let number):
            output.append(0x23)
            append(number.bitPattern, size: 8)
        case .date(let seconds):
            output.append(0x33)
            append(seconds.bitPattern, size: 8)
        case .data(let bytes):
            append(marker: 0x40, count: bytes.count)
            output.append(contentsOf: bytes)
        case .string(let text): append(text)
        case .uid(let number):
            let size = Self.size(of: number)
            output.append(0x80 | UInt8(size - 1))
            append(number, size: size)
        case .array, .dictionary:
            preconditionFailure("Containers are numbered as such, never as scalars.")
        }
    }

    /// Negative numbers take eight bytes; shorter forms are unsigned.
    private mutating func append(_ number: Int64) {
        let size = number < 0 ? 8 : Self.size(of: UInt64(number))
        output.append(0x10 | UInt8(size.trailingZeroBitCount))
        append(UInt64(bitPattern: number), size: size)
    }

    private mutating func append(_ text: String) {
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            append(marker: 0x50, count: text.utf8.count)
            output.append(contentsOf: text.utf8)
        } else {
            append(marker: 0x60, count: text.utf16.count)
            for unit in text.utf16 {
                output.append(UInt8(unit >> 8))
                output.append(UInt8(truncatingIfNeeded: unit))
            }
        }
    }

    private mutating func append(marker: UInt8, count: Int, slots: Range<Int>) {
        append(marker: marker, count: count)
        for slot in slots { append(UInt64(table.slots[slot]), size: referenceSize) }
    }

    private mutating func append(marker: UInt8, count: Int) {
        if count < 15 {
            output.append(marker | UInt8(count))
        } else {
            output.append(marker | 0x0F)
            append(Int64(count))
        }
    }

    private mutating func append(_ value: UInt64, size: Int) {
        for shift in stride(from: (size - 1) * 8, through: 0, by: -8) {
            output.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
        }
    }

    private static func size(of value: UInt64) -> Int {
        if value <= 0xFF { 1 } else if value <= 0xFFFF { 2 } else if value <= 0xFFFF_FFFF { 4 } else { 8 }
    }
}
