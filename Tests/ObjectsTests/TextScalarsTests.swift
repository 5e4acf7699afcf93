import Testing

@testable import CausewayObjects

@Suite("Texts without a string", .timeLimit(.minutes(60)))
struct TextScalarsTests {
    /// Bytes of all kinds of scalars, and those that begin or end wrong ones.
    private static let pieces: [[UInt8]] = [
        Array("a".utf8), Array("meadow ".utf8), Array("é".utf8), Array("€".utf8), Array("🐟".utf8),
        Array("\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}".utf8), [0], [0x7F], [0x80], [0xBF], [0xC0, 0x80],
        [0xC1, 0xBF], [0xC3], [0xE0, 0x9F, 0xBF], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF0, 0x8F, 0xBF, 0xBF],
        [0xF4, 0x90, 0x80, 0x80], [0xF0, 0x9F], [0xF5], [0xFF],
    ]

    @Test("the same bytes are texts as for String, wherever in a row of eight bytes they stand")
    func agrees() {
        var generator = SystemRandomNumberGenerator()
        // Expectations in a loop this long would take minutes beside other tests.
        var wrong: [[UInt8]] = []
        for round in 0..<40_000 {
            // Mostly valid, so that the end is reached.
            let known = round % 4 == 0 ? Self.pieces : Array(Self.pieces.prefix(6))
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0..<12, using: &generator) {
                bytes += known.randomElement(using: &generator) ?? []
            }
            let expected = String(validating: bytes, as: UTF8.self)
            let found = unsafe bytes.withUnsafeBytes { unsafe TextScalars.text(of: $0) }
            let isSame =
                found == expected && found.map { Array($0.utf8) } == expected.map { _ in bytes }
                && TextScalars.areValid(bytes.span) == (expected != nil)
            if !isSame { wrong.append(bytes) }
        }
        #expect(wrong.isEmpty)
    }
}
