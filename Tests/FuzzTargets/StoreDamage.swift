/// One way to damage a database file, chosen by a seed.
struct StoreDamage: CustomStringConvertible, Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case flippedByte, flippedBytes8, flippedBytes64, flippedBits, flippedPageHeader, flippedFileHeader
        case changedFileHeader, truncated, truncatedAtPage, swappedPages, zeroedPage, zeroedSector, overwrittenPage
        case noise, lengthened, splitPage
    }

    let kind: Kind
    let seed: UInt64

    /// The text that replays it.
    var description: String { "\(kind.rawValue), seed \(seed)" }

    /// The damage of a variant. Runs with other seeds share none, and each kind meets each of the options that follow
    /// from the variant's number: after all kinds, the next round begins with another one.
    init(run seed: UInt64, store: Int, variant: Int) {
        let round = variant / Kind.allCases.count
        self.init(seed: seed &* 1_000_000_007 &+ UInt64(store) &* 1_000_001 &+ UInt64(variant + round))
    }

    init(seed: UInt64) {
        self.seed = seed
        kind = Kind.allCases[Int(seed % UInt64(Kind.allCases.count))]
    }

    /// The damaged file: always the same for the same bytes and seed.
    func applied(to bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= 512 else { return bytes }
        var random = SeededRandom(seed)
        var result = bytes
        let size = Self.pageSize(of: bytes)
        let pages = max(1, bytes.count / size)
        let page = Int.random(in: 0..<pages, using: &random) * size
        let other = Int.random(in: 0..<pages, using: &random) * size
        switch kind {
        case .flippedByte: Self.replace(&result, 1, &random)
        case .flippedBytes8: Self.replace(&result, 8, &random)
        case .flippedBytes64: Self.replace(&result, 64, &random)
        case .flippedBits:
            for _ in 0..<Int.random(in: 1...8, using: &random) { Self.flip(&result, 0..<bytes.count, &random) }
        case .flippedPageHeader:
            // Page 1 begins with the file's header.
            let start = page == 0 ? 100 : page
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                Self.flip(&result, start..<min(start + 64, bytes.count), &random)
            }
        case .flippedFileHeader: Self.flip(&result, 16..<100, &random)
        case .changedFileHeader: Self.changeHeader(&result, &random)
        case .truncated: result.removeSubrange(Int.random(in: 0..<bytes.count, using: &random)...)
        case .truncatedAtPage: result.removeSubrange(min(max(page, size), bytes.count)...)
        case .swappedPages:
            for offset in 0..<size where max(page, other) + offset < bytes.count {
                result.swapAt(page + offset, other + offset)
            }
        case .zeroedPage: Self.zero(&result, page..<page + size)
        case .zeroedSector:
            let start = Int.random(in: 0..<bytes.count / 512, using: &random) * 512
            Self.zero(&result, start..<start + 512)
        case .overwrittenPage:
            for offset in 0..<min(size, bytes.count - page) {
                result[page + offset] = bytes[other + offset % (bytes.count - other)]
            }
        case .noise:
            let start = Int.random(in: 0..<bytes.count, using: &random)
            let length = Int.random(in: 1...512, using: &random)
            for offset in start..<min(start + length, bytes.count) {
                result[offset] = UInt8.random(in: 0...255, using: &random)
            }
        case .lengthened:
            for _ in 0..<Int.random(in: 1...2_000, using: &random) {
                result.append(UInt8.random(in: 0...255, using: &random))
            }
        case .splitPage:
            // A write that reached half of the page.
            Self.zero(&result, page + size / 2..<page + size)
        }
        return result
    }

    private static func pageSize(of bytes: [UInt8]) -> Int {
        let stored = Int(bytes[16]) << 8 | Int(bytes[17])
        return stored == 1 ? 65_536 : max(512, stored)
    }

    /// Fields of the header by place and length: page size, format versions, reserved bytes, payload fractions, pages,
    /// freelist, schema cookie and format, cache, auto-vacuum, encoding, user version, incremental vacuum, application
    /// ID.
    private static let headerFields: [(place: Int, length: Int)] =
        [(16, 2), (18, 1), (19, 1), (20, 1), (21, 1), (22, 1), (23, 1)]
        + stride(from: 24, to: 72, by: 4).map { ($0, 4) }
    /// Values for a field of the header; only the last bytes are used, as many as the field has.
    private static let headerValues: [UInt32] = [0, 1, 2, 3, 4, 5, 255, 512, 65_535, 65_536, 0x7FFF_FFFF, .max]

    private static func changeHeader(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
        guard let field = headerFields.randomElement(using: &random),
            let value = headerValues.randomElement(using: &random)
        else { return }
        for index in 0..<field.length {
            bytes[field.place + index] = UInt8(truncatingIfNeeded: value >> UInt32(8 * (field.length - 1 - index)))
        }
    }

    private static func zero(_ bytes: inout [UInt8], _ range: Range<Int>) {
        for place in range where place < bytes.count { bytes[place] = 0 }
    }

    /// Gives some bytes other values.
    private static func replace(_ bytes: inout [UInt8], _ count: Int, _ random: inout SeededRandom) {
        for _ in 0..<count {
            bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
        }
    }

    private static func flip(_ bytes: inout [UInt8], _ range: Range<Int>, _ random: inout SeededRandom) {
        guard let place = range.randomElement(using: &random) else { return }
        bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    }
}
