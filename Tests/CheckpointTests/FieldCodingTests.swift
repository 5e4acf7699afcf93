import CausewayCheckpoint
import Testing

@Suite(.timeLimit(.minutes(60))) struct FieldCodingTests {
    @Test("fields come back in their order, extremes included")
    func roundTrip() throws {
        let unsigned: [UInt64] = [0, 1, 127, 128, 16_383, 16_384, 1 << 62, 1 << 63, .max]
        let signed: [Int64] = [0, -1, 1, 63, 64, -64, -65, .min, .max]
        let texts = ["", "Note", "Grüße, 世界 👩‍👩‍👧", "\u{0}", String(repeating: "é", count: 100_000)]
        var writer = FieldWriter()
        for value in unsigned { writer.write(value) }
        for value in signed { writer.write(value) }
        writer.write(Int.min)
        writer.write(true)
        writer.write(false)
        for text in texts { writer.write(text) }
        writer.write(bytes: [])
        writer.write(bytes: [0, 255, 128])
        writer.write(fixed: 0x0102_0304_0506_0708)

        var reader = FieldReader(writer.bytes)
        for value in unsigned { #expect(try reader.unsigned() == value) }
        for value in signed { #expect(try reader.signed() == value) }
        #expect(try reader.int() == .min)
        #expect(try reader.bool())
        #expect(try reader.bool() == false)
        for text in texts { #expect(try reader.string() == text) }
        #expect(try reader.bytes() == [])
        #expect(try reader.bytes() == [0, 255, 128])
        #expect(!reader.isAtEnd)
        #expect(try reader.fixed() == 0x0102_0304_0506_0708)
        #expect(reader.isAtEnd)
        try reader.requireEnd()
    }

    @Test("the coding is the article's, byte by byte")
    func bytes() {
        func coded(_ body: (inout FieldWriter) -> Void) -> [UInt8] {
            var writer = FieldWriter()
            body(&writer)
            return writer.bytes
        }
        #expect(coded { $0.write(UInt64(300)) } == [0xAC, 0x02])
        #expect(coded { $0.write(Int64(-1)) } == [0x01])
        #expect(coded { $0.write(300) } == [0xD8, 0x04])
        #expect(coded { $0.write(true) } == [0x01])
        #expect(coded { $0.write("Note") } == [0x04, 0x4E, 0x6F, 0x74, 0x65])
        #expect(coded { $0.write(bytes: [0xFF]) } == [0x01, 0xFF])
        #expect(coded { $0.write(fixed: 1) } == [1, 0, 0, 0, 0, 0, 0, 0])
        #expect(coded { $0.write(UInt64.max) } == [UInt8](repeating: 0xFF, count: 9) + [0x01])
    }

    @Test("a varint longer than needed is read, up to ten bytes")
    func longVarints() throws {
        var five = FieldReader([0x85, 0x80, 0x80, 0x00])
        #expect(try five.unsigned() == 5)
        var ten = FieldReader([0x85] + [UInt8](repeating: 0x80, count: 8) + [0x00])
        #expect(try ten.unsigned() == 5)
        #expect(ten.isAtEnd)
    }

    @Test(
        "a varint of more than 64 bits is malformed",
        arguments: [
            [UInt8](repeating: 0xFF, count: 9) + [0x02],
            [UInt8](repeating: 0x80, count: 9) + [0x80, 0x00],
            [UInt8](repeating: 0x80, count: 40),
            [UInt8](repeating: 0xFF, count: 10),
        ])
    func overflow(bytes: [UInt8]) {
        #expect(code(bytes) { _ = try $0.unsigned() } == .malformed)
    }

    @Test("every field cut short is truncated")
    func truncated() throws {
        #expect(code([]) { _ = try $0.unsigned() } == .truncated)
        #expect(code([0x80]) { _ = try $0.signed() } == .truncated)
        #expect(code([]) { _ = try $0.bool() } == .truncated)
        #expect(code([3, 65, 66]) { _ = try $0.string() } == .truncated)
        #expect(code([1]) { _ = try $0.bytes() } == .truncated)
        #expect(code([1, 2, 3, 4, 5, 6, 7]) { _ = try $0.fixed() } == .truncated)
    }

    @Test("lengths beyond the bytes, and beyond all memory, are refused")
    func lengths() {
        let huge = [UInt8](repeating: 0xFF, count: 9) + [0x01]
        #expect(code(huge) { _ = try $0.bytes() } == .malformed)
        let large: [UInt8] = [UInt8](repeating: 0xFF, count: 8) + [0x7F]
        #expect(code(large) { _ = try $0.string() } == .truncated)
        #expect(code(large) { _ = try $0.bytes() } == .truncated)
    }

    @Test("a text that isn't UTF-8, a bool of 2 and bytes after the last field are malformed")
    func malformed() {
        #expect(code([2, 0xC3, 0x28]) { _ = try $0.string() } == .malformed)
        #expect(code([3, 0xED, 0xA0, 0x80]) { _ = try $0.string() } == .malformed)
        #expect(code([2]) { _ = try $0.bool() } == .malformed)
        #expect(code([0]) { try $0.requireEnd() } == .malformed)
    }

    @Test("a count is bounded by its limit and by the bytes that are left")
    func counts() {
        var count = 0
        #expect(code([3, 0, 0, 0]) { count = try $0.count(limit: 3) } == nil)
        #expect(count == 3)
        #expect(code([3, 0, 0, 0]) { _ = try $0.count(limit: 2) } == .tooLarge)
        #expect(code([3, 0, 0]) { _ = try $0.count(limit: 100) } == .truncated)
        #expect(code([UInt8](repeating: 0xFF, count: 9) + [1]) { _ = try $0.count(limit: .max) } == .tooLarge)
        #expect(code([0]) { _ = try $0.count(limit: -1) } == .tooLarge)
    }

    @Test("random bytes read as random fields never trap", arguments: UInt64(0)..<64)
    func randomBytes(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            let count = Int.random(in: 0..<64, using: &random)
            var reader = FieldReader(Containers.noise(count, seed: random.next()))
            do {
                while !reader.isAtEnd { try readOne(of: &reader, kind: Int.random(in: 0..<8, using: &random)) }
            } catch {
                #expect([.truncated, .malformed, .tooLarge].contains(error.code))
            }
        }
    }

    private func readOne(of reader: inout FieldReader, kind: Int) throws(CheckpointError) {
        switch kind {
        case 0: _ = try reader.unsigned()
        case 1: _ = try reader.signed()
        case 2: _ = try reader.int()
        case 3: _ = try reader.bool()
        case 4: _ = try reader.string()
        case 5: _ = try reader.bytes()
        case 6: _ = try reader.fixed()
        default: _ = try reader.count(limit: 1_000)
        }
    }

    private func code(
        _ bytes: [UInt8], _ body: (inout FieldReader) throws -> Void
    ) -> CheckpointError.Code? {
        var reader = FieldReader(bytes)
        do {
            try body(&reader)
            return nil
        } catch {
            return (error as? CheckpointError)?.code
        }
    }
}
