import CausewaySQLiteFile
import Testing

@Suite("Varints", .timeLimit(.minutes(60))) struct VarintTests {
    /// Around every power of two, including those at which a varint gets one byte longer.
    static let boundaries: [UInt64] =
        (0..<64).flatMap { bit -> [UInt64] in
            let power: UInt64 = 1 << UInt64(bit)
            return [power - 1, power, power + 1]
        } + [.max - 1, .max]

    @Test("every boundary reads back, in the shortest form")
    func roundTrip() throws {
        for value in Self.boundaries {
            let bytes = encode(value)
            #expect(bytes.count == Varint.length(of: value), "\(value)")
            #expect(bytes.count == Self.expectedLength(value), "\(value)")
            let decoded = decode(bytes)
            #expect(decoded.value == value)
            #expect(decoded.length == bytes.count)
        }
    }

    @Test("the bytes are those of the file format")
    func knownBytes() {
        #expect(encode(0) == [0x00])
        #expect(encode(0x7f) == [0x7f])
        #expect(encode(0x80) == [0x81, 0x00])
        #expect(encode(0x3fff) == [0xff, 0x7f])
        #expect(encode(0x4000) == [0x81, 0x80, 0x00])
        #expect(encode((1 << 56) - 1) == [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f])
        #expect(encode(1 << 56) == [0x80, 0xc0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00])
        #expect(encode(.max) == Array(repeating: 0xff, count: 9))
    }

    @Test("a varint that is cut at any byte is refused")
    func truncated() {
        for value in Self.boundaries {
            let bytes = encode(value)
            for count in 0..<bytes.count {
                #expect(decode(Array(bytes[..<count])).length == 0, "\(value) cut to \(count)")
            }
        }
    }

    private static func expectedLength(_ value: UInt64) -> Int {
        for length in 1...8 where value < 1 << UInt64(7 * length) { return length }
        return 9
    }

    private func encode(_ value: UInt64) -> [UInt8] {
        var buffer = [UInt8](repeating: 0xaa, count: 12)
        let length = unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe bytes.baseAddress.map { unsafe Varint.write(value, to: $0) } ?? 0
        }
        #expect(buffer[length...].allSatisfy { $0 == 0xaa })
        return Array(buffer[..<length])
    }

    private func decode(_ bytes: [UInt8]) -> (value: UInt64, length: Int) {
        // Exactly as many bytes as given lie before the end; what follows must not be read as part of it.
        let padded = bytes + [0, 0]
        return unsafe padded.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { return (0, 0) }
            return unsafe Varint.read(start, before: start + bytes.count)
        }
    }
}
