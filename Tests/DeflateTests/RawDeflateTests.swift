import CausewayDeflate
import Testing

@Suite("Raw DEFLATE", .timeLimit(.minutes(60)))
struct RawDeflateTests {
    /// Bytes without a pattern, the same on every run.
    private static func noise(_ count: Int) -> [UInt8] {
        var state: UInt64 = 42
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1
            return UInt8(truncatingIfNeeded: state >> 40)
        }
    }

    /// Named, so that a failure doesn't print a megabyte.
    enum Content: CaseIterable {
        case nothing, oneByte, text, run, noise, chunkOfNoise, chunkOfZeros

        var bytes: [UInt8] {
            switch self {
            case .nothing: []
            case .oneByte: [0]
            case .text: Array("bplist00".utf8)
            case .run: [UInt8](repeating: 7, count: 1_000_000)
            case .noise: RawDeflateTests.noise(200_000)
            // Exactly as long as the chunks in which the content is read.
            case .chunkOfNoise: RawDeflateTests.noise(65_536)
            case .chunkOfZeros: [UInt8](repeating: 0, count: 65_536)
            }
        }
    }

    @Test("what is deflated inflates to the same bytes", arguments: Content.allCases)
    func roundTrip(content: Content) throws {
        let bytes = content.bytes
        let packed = try RawDeflate.deflate(bytes)
        let isSame = try RawDeflate.inflate(packed, limit: bytes.count) == bytes
        #expect(isSame)
        let again = try RawDeflate.deflate(bytes) == packed
        #expect(again)
    }

    @Test("a stream of another zlib is read")
    func foreignStream() throws {
        // Python 3.11: zlib.compressobj(9, zlib.DEFLATED, -15) over b"Core Data, Core Data, Core Data".
        let packed: [UInt8] = [
            0x73, 0xCE, 0x2F, 0x4A, 0x55, 0x70, 0x49, 0x2C, 0x49, 0xD4, 0x51, 0x70, 0xC6, 0xC2, 0x04, 0x00,
        ]
        #expect(try RawDeflate.inflate(packed, limit: 100) == Array("Core Data, Core Data, Core Data".utf8))
    }

    @Test("content over the limit is refused, content at the limit is not")
    func limit() throws {
        let packed = try RawDeflate.deflate([UInt8](repeating: 0, count: 50_000_000))
        #expect(packed.count < 100_000)
        let error = #expect(throws: DeflateError.self) { try RawDeflate.inflate(packed, limit: 49_999_999) }
        #expect(error?.code == .limitExceeded)
        #expect(throws: DeflateError.self) { try RawDeflate.inflate(packed, limit: 0) }
        #expect(throws: DeflateError.self) { try RawDeflate.inflate(packed, limit: -1) }
        #expect(try RawDeflate.inflate(packed, limit: 50_000_000).count == 50_000_000)
    }

    @Test("a truncated stream is refused, wherever it ends")
    func truncation() throws {
        let packed = try RawDeflate.deflate(Self.noise(3_000) + [UInt8](repeating: 1, count: 3_000))
        for length in 0..<packed.count {
            let error = #expect(throws: DeflateError.self) {
                try RawDeflate.inflate(Array(packed[..<length]), limit: 10_000)
            }
            #expect(error?.code == .truncated)
        }
    }

    @Test("bytes after the stream are refused")
    func trailing() throws {
        let packed = try RawDeflate.deflate([1, 2, 3])
        let error = #expect(throws: DeflateError.self) { try RawDeflate.inflate(packed + [0], limit: 10) }
        #expect(error?.code == .trailingBytes)
    }

    @Test(
        "non-streams are refused", arguments: [[0xFF, 0xFF], [0x78, 0x9C, 0x03], Array("bplist00".utf8)])
    func noStream(bytes: [UInt8]) {
        #expect(throws: DeflateError.self) { try RawDeflate.inflate(bytes, limit: 1_000) }
    }

    @Test("a damaged stream is refused or read, never a trap")
    func damage() throws {
        let packed = try RawDeflate.deflate(Array("the quick brown fox jumps over the lazy dog".utf8))
        for position in packed.indices {
            for bit in 0..<8 {
                var damaged = packed
                damaged[position] ^= 1 << UInt8(bit)
                let content = try? RawDeflate.inflate(damaged, limit: 1_000)
                #expect(content?.count ?? 0 <= 1_000)
            }
        }
    }
}
