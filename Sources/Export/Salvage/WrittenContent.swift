import CausewayDigests
import CausewaySQLiteFile

/// What rows hold, as far as it is written: half of a SHA-256 digest of entity, key and values, so that two different
/// rows among a million have equal ones with a probability of about 10⁻²⁷.
struct RowContent: Hashable {
    private let first: UInt64
    private let second: UInt64

    /// - Parameters:
    ///   - kind: of the file that it is written to.
    ///   - number: of the entity; of a table of links its place, negative.
    ///   - key: the row's.
    ///   - values: all that is written of it.
    init(_ kind: SalvageFiles.Kind, _ number: Int, key: Int64, _ values: [ExportValue]) {
        var bytes = ContentBytes()
        bytes.add(kind.rawValue)
        bytes.add(UInt64(bitPattern: Int64(number)))
        bytes.add(UInt64(bitPattern: key))
        for value in values { bytes.add(value) }
        let digest = MessageDigest.of(bytes.bytes)
        func half(_ start: Int) -> UInt64 { digest[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        (first, second) = (half(0), half(8))
    }
}

/// The bytes that a digest is made of: every value with its type and length, so that no two rows have the same bytes.
private struct ContentBytes {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ number: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    mutating func add(_ text: String) { add(Array(text.utf8)) }

    private mutating func add(_ content: [UInt8]) {
        add(UInt64(content.count))
        bytes += content
    }

    mutating func add(_ value: ExportValue) {
        switch value {
        case .null: bytes.append(0)
        case .boolean(let value): bytes += [1, value ? 1 : 0]
        case .integer(let value): number(2, UInt64(bitPattern: value))
        case .real(let value): number(3, value.bitPattern)
        case .single(let value): number(4, UInt64(value.bitPattern))
        case .text(let value): content(5, Array(value.utf8))
        case .data(let value): content(6, value)
        case .file(let path): content(7, Array(path.utf8))
        case .link(let link):
            number(8, UInt64(bitPattern: Int64(link.entity)))
            add(UInt64(bitPattern: link.key))
        }
    }

    private mutating func number(_ type: UInt8, _ value: UInt64) {
        bytes.append(type)
        add(value)
    }

    private mutating func content(_ type: UInt8, _ value: [UInt8]) {
        bytes.append(type)
        add(value)
    }
}

/// Tells copies that were written already: old frames of a `-wal` hold the same rows again and again.
///
/// The row that was written first is read again from its leaf; of its copies the digests are kept.
struct WrittenContent {
    /// Digests that are kept: 16 bytes each, 32 MiB with the room of a hash table. A copy that comes when there are so
    /// many isn't remembered, and is written again where it comes again.
    private static let digestsAtMost = 1 << 20

    private let file: SalvageFile
    private var written: Set<RowContent> = []
    /// Rows of the leaf that was read again last: copies come in the order of their leaves.
    private var last: (leaf: SalvagedLeaf, rows: [SalvagedRow])?

    init(_ file: SalvageFile) {
        self.file = file
    }

    /// The rows with a key on a leaf, in its order: one, unless the leaf is damaged.
    mutating func rows(of key: Int64, on leaf: SalvagedLeaf) -> [SalvagedRow] {
        if last?.leaf != leaf {
            let page =
                switch leaf {
                case .tree(let number), .stray(let number): file.page(number)
                case .unreached(let place): file.unreachedPage(place)
                }
            last = (leaf, page.map { file.rows(of: $0) } ?? [])
        }
        return last?.rows.filter { $0.rowid == key } ?? []
    }

    /// - Returns: false where it was written already.
    mutating func insert(_ content: RowContent) -> Bool {
        guard written.count < Self.digestsAtMost else { return !written.contains(content) }
        return written.insert(content).inserted
    }
}
