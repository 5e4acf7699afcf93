import CausewayCheckpoint
import Testing

@Suite(.timeLimit(.minutes(60))) struct ContainerDamageTests {
    /// About 600 bytes, of which the frame has 416.
    private func container(seed: UInt64 = 1, sequence: UInt64 = 1) throws -> [UInt8] {
        try Containers.incompressible(400, seed: seed, sequence: sequence)
    }

    @Test("every flipped bit is refused")
    func bits() throws {
        let intact = try container()
        #expect((590...610).contains(intact.count))
        var accepted: [Int] = []
        for index in intact.indices {
            for bit in 0..<8 {
                var bytes = intact
                bytes[index] ^= 1 << bit
                if refusal(bytes) == nil { accepted.append(index * 8 + bit) }
                if refusal(bytes, expecting: Containers.identity) == nil { accepted.append(index * 8 + bit) }
            }
        }
        #expect(accepted.isEmpty)
    }

    @Test("every truncation is refused as truncated")
    func truncations() throws {
        let intact = try container()
        for count in intact.indices {
            #expect(refusal(Array(intact[..<count])) == .truncated)
        }
    }

    @Test("a container followed by more bytes is refused", arguments: [1, 7, 512, 4_096])
    func extended(by count: Int) throws {
        let intact = try container()
        #expect(refusal(intact + [UInt8](repeating: 0, count: count)) == .damaged)
        #expect(refusal(intact + intact) == .damaged)
    }

    @Test("two containers of equal length, spliced anywhere, give one of the two or are refused")
    func splices() throws {
        let first = try container(seed: 1, sequence: 1)
        let second = try container(seed: 2, sequence: 2)
        #expect(first.count == second.count)
        for cut in 1..<first.count {
            let spliced = Array(first[..<cut] + second[cut...])
            // Both begin alike up to the sequence number, so a splice there gives the second.
            #expect(spliced == second || refusal(spliced) != nil)
        }
    }

    @Test("a header with another container's frame is refused, even if all lengths agree")
    func foreignFrame() throws {
        let first = try container(seed: 1)
        let second = try container(seed: 2)
        #expect(refusal(Array(first[..<184] + second[184...])) == .damaged)
    }

    @Test("lost, repeated and zeroed stretches are refused")
    func stretches() throws {
        let intact = try container()
        var random = SeededRandom(seed: 20)
        for _ in 0..<3_000 {
            let low = Int.random(in: 0..<intact.count, using: &random)
            let high = Int.random(in: low..<intact.count, using: &random) + 1
            let lost = Array(intact[..<low] + intact[high...])
            let repeated = Array(intact[..<high] + intact[low...])
            var zeroed = intact
            for index in low..<high { zeroed[index] = 0 }
            #expect(refusal(lost) != nil)
            #expect(refusal(repeated) != nil)
            #expect(zeroed == intact || refusal(zeroed) != nil)
        }
    }

    @Test("random bytes, with and without the magic, are refused")
    func random() {
        for seed in UInt64(0)..<2_000 {
            var bytes = Containers.noise(Int(seed % 600), seed: seed)
            #expect(refusal(bytes) != nil)
            guard bytes.count >= 184 else { continue }
            bytes.replaceSubrange(0..<12, with: [0x89, 0x43, 0x57, 0x5A, 0x0D, 0x0A, 0x1A, 0x0A, 1, 0, 0, 0])
            Containers.sealHeader(&bytes)
            #expect(refusal(bytes) != nil)
        }
    }

    @Test("every bit of a frame flipped and sealed again never traps, and lengths hold")
    func sealedFrames() throws {
        // Text, so that the frame has compressed blocks with their own tables.
        let payload = (0..<40).flatMap { Array("row \($0 * $0), ".utf8) }
        let frame = Array(
            try CheckpointContainer.encode(payload, sequence: 1, identity: Containers.identity, level: 19)[184...])
        for index in frame.indices {
            for bit in 0..<8 {
                var damaged = frame
                damaged[index] ^= 1 << bit
                let bytes = Containers.around(frame: damaged, plainLength: UInt64(payload.count))
                guard case .success(let content) = outcome(bytes) else { continue }
                // zstd's checksum is checked last; a frame that passes it must hold the payload.
                #expect(content.payload == payload)
            }
        }
    }

    @Test("checks run in a fixed order: the first that fails names the refusal")
    func order() throws {
        let intact = try container()
        func changed(_ offsets: [Int], sealed: Bool) -> [UInt8] {
            var bytes = intact
            for offset in offsets { bytes[offset] ^= 0x40 }
            if sealed { Containers.sealHeader(&bytes) }
            return bytes
        }
        let (magic, major, length, compressed, plain) = (0, 8, 13, 25, 34)
        let (plan, source, digest, hash, frame) = (40, 72, 104, 152, 184)
        let expected = Containers.identity
        func code(_ offsets: [Int], sealed: Bool = true) -> CheckpointError.Code? {
            refusal(changed(offsets, sealed: sealed), expecting: expected)
        }
        #expect(refusal(Array(changed([magic], sealed: true)[..<100])) == .truncated)
        #expect(code([magic, hash], sealed: false) == .notAContainer)
        #expect(code([major, plan], sealed: false) == .damaged)
        #expect(code([major, plan, length]) == .foreignFormat)
        #expect(code([plan, source, length]) == .foreignPlan)
        #expect(code([source, length, compressed, frame]) == .foreignSource)
        #expect(code([length, plain, compressed]) == .malformed)
        #expect(code([compressed, frame, digest]) == .truncated)
        #expect(code([frame, digest]) == .damaged)
        #expect(code([digest]) == .damaged)
    }
}
