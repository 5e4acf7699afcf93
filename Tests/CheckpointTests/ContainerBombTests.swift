import CausewayCheckpoint
import Testing

@Suite(.timeLimit(.minutes(60))) struct ContainerBombTests {
    @Test("4 GiB of zeros in 131 KB are refused by the size that they declare")
    func declared() {
        let frame = Containers.zeros(blocks: 32_768, declared: 4 << 30)
        #expect(frame.count < 132_000)
        #expect(refusal(Containers.around(frame: frame, plainLength: 4 << 30)) == .tooLarge)
    }

    @Test("a declared size beyond all memory is refused", arguments: [64 << 20 + 1, .max, 1 << 63] as [UInt64])
    func impossible(size: UInt64) {
        let frame = Containers.zeros(blocks: 1, declared: size)
        #expect(refusal(Containers.around(frame: frame, plainLength: size)) == .tooLarge)
    }

    @Test("4 GiB of zeros that declare less never leave the buffer", arguments: [0, 1, 131_072, 64 << 20] as [UInt64])
    func lying(size: UInt64) {
        let frame = Containers.zeros(blocks: 32_768, declared: size)
        #expect(refusal(Containers.around(frame: frame, plainLength: size)) == .damaged)
    }

    @Test("header and frame must declare the same size")
    func disagreeing() {
        let frame = Containers.zeros(blocks: 1, declared: 4 << 30)
        #expect(refusal(Containers.around(frame: frame, plainLength: 131_072)) == .damaged)
    }

    @Test("a window above 8 MiB is refused, as --long makes them", arguments: [0x69, 0x70, 0xA8, 0xFF] as [UInt8])
    func window(descriptor: UInt8) {
        let frame = Containers.zeros(blocks: 1, declared: 131_072, windowDescriptor: descriptor)
        #expect(refusal(Containers.around(frame: frame, plainLength: 131_072)) == .tooLarge)
    }

    @Test("a window of 8 MiB gets as far as the content's checksum")
    func largestWindow() {
        let frame = Containers.zeros(blocks: 1, declared: 131_072, windowDescriptor: 0x68)
        guard case .failure(let error) = outcome(Containers.around(frame: frame, plainLength: 131_072)) else {
            Issue.record("a wrong checksum was accepted")
            return
        }
        #expect(error.code == .damaged)
        #expect(error.message.contains("checksum"))
    }

    @Test(
        "frames of another kind are refused",
        arguments: [
            // Skippable; no checksum; no size; a dictionary; the reserved bit; nothing at all; the magic alone.
            [0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0],
            [0x28, 0xB5, 0x2F, 0xFD, 0x20, 0x01, 0x09, 0x00, 0x00, 0x41],
            [0x28, 0xB5, 0x2F, 0xFD, 0x04, 0x38, 0x09, 0x00, 0x00, 0x41, 0, 0, 0, 0],
            [0x28, 0xB5, 0x2F, 0xFD, 0x25, 0x07, 0x01, 0x09, 0x00, 0x00, 0x41, 0, 0, 0, 0],
            [0x28, 0xB5, 0x2F, 0xFD, 0x2C, 0x01, 0x09, 0x00, 0x00, 0x41, 0, 0, 0, 0],
            [],
            [0x28, 0xB5, 0x2F, 0xFD],
            [0x28, 0xB5, 0x2F, 0xFD, 0xE4, 1, 0, 0],
        ] as [[UInt8]])
    func kinds(frame: [UInt8]) {
        #expect(refusal(Containers.around(frame: frame, plainLength: 1)) == .damaged)
        #expect(refusal(Containers.around(frame: frame, plainLength: 0)) == .damaged)
    }

    @Test("two frames in one container are refused, and so is a skippable one at the end")
    func secondFrame() throws {
        let frame = Array(try Containers.incompressible(50, seed: 4)[184...])
        #expect(refusal(Containers.around(frame: frame, plainLength: 50)) == nil)
        #expect(refusal(Containers.around(frame: frame + frame, plainLength: 50)) == .damaged)
        #expect(refusal(Containers.around(frame: frame + frame, plainLength: 100)) == .damaged)
        let skippable: [UInt8] = [0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0]
        #expect(refusal(Containers.around(frame: frame + skippable, plainLength: 50)) == .damaged)
    }
}
