import CausewayDigests
import CausewaySQLite

/// Half of a SHA-256 digest: 128 bits, so that two different rows among 10¹² have equal ones with a probability of
/// about 10⁻¹⁵. Digests of many rows or links are summed: a sum stands for a multiset.
struct ContentDigest: Hashable {
    var first: UInt64
    var second: UInt64

    static let zero = ContentDigest(first: 0, second: 0)

    /// Bytes of a digest in a database.
    private static let length = 16

    /// The sum of two 128-bit numbers; a carry out of the upper half is lost, as everywhere in such sums.
    mutating func add(_ other: ContentDigest) {
        let (sum, carry) = second.addingReportingOverflow(other.second)
        second = sum
        first &+= other.first &+ (carry ? 1 : 0)
    }

    /// As a blob that sorts as the number does.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.length)
        for half in [first, second] {
            for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: half >> shift)) }
        }
        return bytes
    }

    init(first: UInt64, second: UInt64) {
        (self.first, self.second) = (first, second)
    }

    /// The first 16 of these bytes; fewer count as zero.
    init(_ bytes: some Sequence<UInt8>) {
        (first, second) = (0, 0)
        for (place, byte) in bytes.prefix(Self.length).enumerated() {
            if place < 8 { first |= UInt64(byte) << UInt64(56 - 8 * place) }
            if place >= 8 { second |= UInt64(byte) << UInt64(120 - 8 * place) }
        }
    }
}

/// The bytes that a digest is made of: every cell with its storage class and length, so that no two rows have the same
/// bytes.
struct ContentBuffer {
    private var bytes: [UInt8] = []

    mutating func clear() { bytes.removeAll(keepingCapacity: true) }

    var digest: ContentDigest { ContentDigest(MessageDigest.of(bytes)) }

    /// A cell as it is stored; a text as UTF-8.
    mutating func add(_ row: borrowing Statement, _ column: Int) {
        let type = row.type(at: column)
        bytes.append(UInt8(truncatingIfNeeded: type.rawValue))
        switch type {
        case .null: break
        case .integer: add(UInt64(bitPattern: row.int64(at: column)))
        case .real: add(row.double(at: column).bitPattern)
        case .text: unsafe add(row.unsafeText(at: column))
        case .blob: unsafe add(row.unsafeBytes(at: column))
        }
    }

    private static let nameMark: UInt8 = 16
    private static let externalMark: UInt8 = 17

    /// A name.
    mutating func add(_ name: String) {
        bytes.append(Self.nameMark)
        let text = Array(name.utf8)
        add(UInt64(text.count))
        bytes += text
    }

    /// External data by their digest; nil where they can't be read.
    mutating func add(externalDigest digest: [UInt8]?) {
        bytes.append(Self.externalMark)
        add(UInt64(digest?.count ?? 0))
        bytes += digest ?? []
    }

    mutating func add(_ digest: ContentDigest) {
        add(digest.first)
        add(digest.second)
    }

    mutating func add(_ number: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    @unsafe private mutating func add(_ content: UnsafeRawBufferPointer) {
        add(UInt64(content.count))
        unsafe bytes.append(contentsOf: content)
    }
}
