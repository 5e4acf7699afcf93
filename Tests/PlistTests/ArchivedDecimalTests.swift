import CausewayPlist
import Testing

// By hand: Foundation on Linux crashes when it archives an NSDecimalNumber.
@Suite("Decimal numbers in keyed archives", .timeLimit(.minutes(60)))
struct ArchivedDecimalTests {
    private static let kind = ArchivedClass([
        "NSDecimalNumberPlaceholder", "NSDecimalNumber", "NSNumber", "NSValue", "NSObject",
    ])

    struct Sample: Sendable {
        let words: [UInt16]
        let exponent: Int64
        var isNegative = false
        let text: String
    }

    private func read(
        _ words: [UInt16], length: Int, exponent: Int64, isNegative: Bool, isBigEndian: Bool
    ) throws(PropertyListError) -> ArchivedDecimal? {
        var bytes: [UInt8] = []
        for word in words + [UInt16](repeating: 0, count: max(0, 8 - words.count)) {
            let pair = [UInt8(truncatingIfNeeded: word), UInt8(word >> 8)]
            bytes += isBigEndian ? pair.reversed() : pair
        }
        var writer = KeyedArchiveWriter()
        let root = writer.add(
            Self.kind,
            [
                ("NS.mantissa", .data(bytes)), ("NS.mantissa.bo", .integer(isBigEndian ? 2 : 1)),
                ("NS.length", .integer(Int64(length))), ("NS.exponent", .integer(exponent)),
                ("NS.negative", .boolean(isNegative)), ("NS.compact", .boolean(true)),
            ])
        let archive = try KeyedArchive(parsing: writer.bytes(root: root))
        return try archive.decimal(archive.value(at: root))
    }

    private static let samples = [
        Sample(words: [], exponent: 0, text: "0"),
        Sample(words: [1], exponent: 0, text: "1"),
        Sample(words: [125], exponent: -1, isNegative: true, text: "-12.5"),
        Sample(words: [1], exponent: -3, text: "0.001"),
        Sample(words: [100], exponent: -2, text: "1.00"),
        Sample(words: [9], exponent: 3, text: "9000"),
        Sample(words: [0x4567, 0x0123], exponent: 0, text: "19088743"),
        Sample(
            words: [UInt16](repeating: 0xFFFF, count: 8), exponent: 0, text: "340282366920938463463374607431768211455"),
    ]

    @Test("a decimal number is read in either byte order", arguments: samples, [false, true])
    func value(sample: Sample, isBigEndian: Bool) throws {
        let decimal = try read(
            sample.words, length: sample.words.count, exponent: sample.exponent, isNegative: sample.isNegative,
            isBigEndian: isBigEndian)
        #expect(decimal?.description == sample.text)
    }

    @Test("no words and a sign are not a number")
    func notANumber() throws {
        let decimal = try read([], length: 0, exponent: 0, isNegative: true, isBigEndian: false)
        #expect(decimal?.isNaN == true)
        #expect(decimal?.description == "NaN")
    }

    @Test("fields out of their range are refused")
    func outOfRange() {
        for (length, exponent): (Int, Int64) in [(9, 0), (-1, 0), (1, 128), (1, -129), (1, .max), (1, .min)] {
            let error = #expect(throws: PropertyListError.self) {
                try read([1], length: length, exponent: exponent, isNegative: false, isBigEndian: false)
            }
            #expect(error?.code == .malformed)
        }
    }
}
