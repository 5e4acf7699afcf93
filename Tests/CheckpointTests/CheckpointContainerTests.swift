import CausewayCheckpoint
import Testing

@Suite(.timeLimit(.minutes(60))) struct CheckpointContainerTests {
    @Test("every level gives the same content back", arguments: CheckpointContainer.levels)
    func levels(level: Int32) throws {
        let payload = Array("one two three ".utf8).flatMap { [$0, $0 &+ 1] } + Containers.noise(5_000, seed: 3)
        let bytes = try CheckpointContainer.encode(
            payload, sequence: 42, identity: Containers.identity, level: level)
        let content = try CheckpointContainer.decode(bytes, expecting: Containers.identity)
        #expect(content.payload == payload)
        #expect(content.sequence == 42)
        #expect(content.identity == Containers.identity)
    }

    @Test("payloads of every length class come back", arguments: [0, 1, 255, 256, 65_791, 65_792, 9 << 20])
    func lengths(count: Int) throws {
        var payload = [UInt8](repeating: 7, count: count)
        if count > 0 { payload[count / 2] = 9 }
        for level: Int32 in [1, 3, 19] {
            let bytes = try CheckpointContainer.encode(
                payload, sequence: .max, identity: Containers.identity, level: level)
            let content = try CheckpointContainer.decode(bytes, expecting: nil)
            #expect(content.payload == payload)
            #expect(content.sequence == .max)
        }
    }

    @Test("the largest payload is written and read, one byte more is refused")
    func limit() throws {
        let largest = [UInt8](repeating: 0, count: CheckpointContainer.maximumPayload)
        let bytes = try CheckpointContainer.encode(largest, sequence: 1, identity: Containers.identity, level: 1)
        #expect(try CheckpointContainer.decode(bytes, expecting: nil).payload.count == largest.count)
        let error = #expect(throws: CheckpointError.self) {
            try CheckpointContainer.encode(largest + [0], sequence: 1, identity: Containers.identity, level: 1)
        }
        #expect(error?.code == .tooLarge)
    }

    @Test("a level outside of 1 to 19 is refused", arguments: [-1, 0, 20, 22, Int32.max, Int32.min])
    func foreignLevel(level: Int32) {
        let error = #expect(throws: CheckpointError.self) {
            try CheckpointContainer.encode([1], sequence: 1, identity: Containers.identity, level: level)
        }
        #expect(error?.code == .malformed)
    }

    @Test("an identity of another length isn't written", arguments: [0, 1, 2])
    func identityLength(part: Int) {
        var identity = Containers.identity
        switch part {
        case 0: identity.plan.removeLast()
        case 1: identity.source.append(0)
        default: identity.migration = []
        }
        let error = #expect(throws: CheckpointError.self) {
            try CheckpointContainer.encode([1], sequence: 1, identity: identity, level: 3)
        }
        #expect(error?.code == .malformed)
    }

    @Test("another plan, source or run is refused by name, and read where none is expected")
    func identities() throws {
        let bytes = try Containers.incompressible(20, seed: 1)
        var plan = Containers.identity
        plan.plan[31] ^= 1
        var source = Containers.identity
        source.source[0] ^= 0x80
        var run = Containers.identity
        run.migration[15] ^= 1
        #expect(refusal(bytes, expecting: plan) == .foreignPlan)
        #expect(refusal(bytes, expecting: source) == .foreignSource)
        #expect(refusal(bytes, expecting: run) == .foreignPlan)
        #expect(refusal(bytes) == nil)
        #expect(refusal(bytes, expecting: Containers.identity) == nil)

        guard case .failure(let error) = outcome(bytes, expecting: run) else { return }
        #expect(error.message.contains("another run of the same plan"))
    }

    @Test("equal content gives equal bytes")
    func determinism() throws {
        #expect(try Containers.incompressible(3_000, seed: 8) == Containers.incompressible(3_000, seed: 8))
    }

    @Test("the article's example, a file of format 1.0, is read")
    func released() throws {
        let content = try CheckpointContainer.decode(Self.example, expecting: Containers.identity)
        #expect(content.sequence == 7)
        var reader = FieldReader(content.payload)
        #expect(try reader.int() == 300)
        #expect(try reader.string() == "Note")
        #expect(try reader.bool())
        try reader.requireEnd()
    }

    /// The bytes in CheckpointFormat.md. They never change: every later release has to read them.
    private static let example: [UInt8] = [
        0x89, 0x43, 0x57, 0x5A, 0x0D, 0x0A, 0x1A, 0x0A, 0x01, 0x00, 0x00, 0x00, 0xB8, 0x00, 0x00, 0x00,
        0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x15, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11,
        0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11,
        0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22,
        0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22,
        0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x2D, 0x51, 0x9E, 0xFD, 0x70, 0xB6, 0x45, 0x74,
        0x4E, 0xD6, 0x20, 0x1E, 0x43, 0xD4, 0x99, 0xC3, 0x62, 0xC7, 0xA9, 0xA5, 0x1D, 0xA4, 0xBE, 0x49,
        0x0C, 0x5B, 0x87, 0xAE, 0xC3, 0x80, 0xDB, 0xB1, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33,
        0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0xBB, 0xF5, 0x37, 0xC8, 0xBF, 0xA2, 0x58, 0xF2,
        0x7F, 0xA3, 0xED, 0x21, 0xB0, 0xF4, 0xB1, 0x16, 0xBF, 0x42, 0xAD, 0x98, 0x57, 0xFE, 0x44, 0x6F,
        0x09, 0xC6, 0x4E, 0x4D, 0x98, 0x70, 0x34, 0xD7, 0x28, 0xB5, 0x2F, 0xFD, 0x24, 0x08, 0x41, 0x00,
        0x00, 0xD8, 0x04, 0x04, 0x4E, 0x6F, 0x74, 0x65, 0x01, 0xFB, 0xD7, 0x2C, 0xB6,
    ]
}
