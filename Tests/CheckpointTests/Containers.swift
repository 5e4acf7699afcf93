import CausewayCheckpoint

/// Containers made by hand, with the hashes that a writer would give them.
enum Containers {
    static let identity = CheckpointIdentity(
        plan: [UInt8](repeating: 0x11, count: 32), source: [UInt8](repeating: 0x22, count: 32),
        migration: [UInt8](repeating: 0x33, count: 16))

    static let headerLength = 184

    /// A container of `count` bytes that don't compress, and so fill a frame of about that size.
    static func incompressible(_ count: Int, seed: UInt64, sequence: UInt64 = 1) throws -> [UInt8] {
        try CheckpointContainer.encode(noise(count, seed: seed), sequence: sequence, identity: identity, level: 3)
    }

    static func noise(_ count: Int, seed: UInt64) -> [UInt8] {
        var random = SeededRandom(seed: seed)
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    /// Recomputes the header's own hash.
    static func sealHeader(_ bytes: inout [UInt8]) {
        bytes.replaceSubrange(152..<184, with: Digest256.of(Array(bytes[..<152])))
    }

    /// A container around any bytes as its frame, with hashes and length that agree.
    static func around(
        frame: [UInt8], plainLength: UInt64, major: UInt64 = 1, minor: UInt64 = 0, added: [UInt8] = []
    ) -> [UInt8] {
        var bytes: [UInt8] = [0x89, 0x43, 0x57, 0x5A, 0x0D, 0x0A, 0x1A, 0x0A]
        bytes += littleEndian(major, 2) + littleEndian(minor, 2)
        bytes += littleEndian(UInt64(headerLength + added.count), 4)
        bytes += littleEndian(1, 8) + littleEndian(UInt64(frame.count), 8) + littleEndian(plainLength, 8)
        bytes += identity.plan + identity.source + Digest256.of(frame) + identity.migration
        return bytes + Digest256.of(bytes) + added + frame
    }

    static func littleEndian(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// A frame of zeros as RLE blocks of 128 KiB, four bytes each. Its checksum is wrong; reading shouldn't get that
    /// far.
    static func zeros(blocks: Int, declared: UInt64, windowDescriptor: UInt8 = 0x38) -> [UInt8] {
        // Content size of 8 bytes, checksum, a window descriptor.
        var frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0xC4, windowDescriptor] + littleEndian(declared, 8)
        for block in 0..<blocks {
            let isLast: UInt64 = block == blocks - 1 ? 1 : 0
            frame += littleEndian(131_072 << 3 | 1 << 1 | isLast, 3) + [0]
        }
        return frame + [0, 0, 0, 0]
    }
}

/// SplitMix64: the same numbers in every run.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// What decoding gave: the content, or the code of the refusal.
func outcome(_ bytes: [UInt8], expecting: CheckpointIdentity? = nil) -> Result<
    CheckpointContainer.Content, CheckpointError
> {
    do {
        return .success(try CheckpointContainer.decode(bytes, expecting: expecting))
    } catch {
        return .failure(error)
    }
}

func refusal(_ bytes: [UInt8], expecting: CheckpointIdentity? = nil) -> CheckpointError.Code? {
    guard case .failure(let error) = outcome(bytes, expecting: expecting) else { return nil }
    return error.code
}
