/// One way to damage a database file, drawn from a seed.
struct StoreDamage: CustomStringConvertible, Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case flippedBits, flippedPageHeader, flippedFileHeader, truncated, truncatedAtPage, swappedPages, zeroedSector
        case overwrittenPage, noise, lengthened, splitPage
    }

    let kind: Kind
    let seed: UInt64

    /// What replays it.
    var description: String { "\(kind.rawValue), seed \(seed)" }

    init(seed: UInt64) {
        self.seed = seed
        kind = Kind.allCases[Int(seed % UInt64(Kind.allCases.count))]
    }

    /// The damaged file; of the same bytes and the same seed always the same.
    func applied(to bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= 512 else { return bytes }
        var random = SeededRandom(seed)
        var result = bytes
        let size = Self.pageSize(of: bytes)
        let pages = max(1, bytes.count / size)
        let page = Int.random(in: 0..<pages, using: &random) * size
        let other = Int.random(in: 0..<pages, using: &random) * size
        switch kind {
        case .flippedBits:
            for _ in 0..<Int.random(in: 1...8, using: &random) { Self.flip(&result, 0..<bytes.count, &random) }
        case .flippedPageHeader:
            // Page 1 begins with the file's header.
            let start = page == 0 ? 100 : page
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                Self.flip(&result, start..<min(start + 64, bytes.count), &random)
            }
        case .flippedFileHeader: Self.flip(&result, 16..<100, &random)
        case .truncated: result.removeSubrange(Int.random(in: 0..<bytes.count, using: &random)...)
        case .truncatedAtPage: result.removeSubrange(max(page, size)...)
        case .swappedPages:
            for offset in 0..<size where max(page, other) + offset < bytes.count {
                result.swapAt(page + offset, other + offset)
            }
        case .zeroedSector:
            let start = Int.random(in: 0..<bytes.count / 512, using: &random) * 512
            for offset in 0..<512 { result[start + offset] = 0 }
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
            for offset in size / 2..<size where page + offset < bytes.count { result[page + offset] = 0 }
        }
        return result
    }

    private static func pageSize(of bytes: [UInt8]) -> Int {
        let stored = Int(bytes[16]) << 8 | Int(bytes[17])
        return stored == 1 ? 65_536 : max(512, stored)
    }

    private static func flip(_ bytes: inout [UInt8], _ range: Range<Int>, _ random: inout SeededRandom) {
        guard let place = range.randomElement(using: &random) else { return }
        bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    }
}
