import CausewayCheckpoint

/// Checkpoint files with one damaged place each, of every kind of damage: all must be refused.
///
/// In this process: 30,000 of them take seconds, and the reader has no pointers that could trap.
struct CheckpointDamage {
    let seed: UInt64
    /// Every n-th place; 1: all.
    let stride: Int

    private static let identity = CheckpointIdentity(
        plan: Array(repeating: 5, count: CheckpointIdentity.digestLength),
        source: Array(repeating: 6, count: CheckpointIdentity.digestLength),
        migration: Array(repeating: 7, count: CheckpointIdentity.migrationLength))
    private static let foreign = CheckpointIdentity(
        plan: Array(repeating: 8, count: CheckpointIdentity.digestLength), source: identity.source,
        migration: identity.migration)

    func run() throws -> DamageHarness.Result {
        var result = DamageHarness.Result()
        let payloads = payloads()
        for (number, payload) in payloads.enumerated() {
            let sound = try CheckpointContainer.encode(
                payload, sequence: UInt64(number + 1), identity: Self.identity, level: 3)
            let other = try CheckpointContainer.encode(
                payload.reversed(), sequence: UInt64(number + 1), identity: Self.identity, level: 1)
            func judge(_ kind: String, _ place: Int, _ bytes: [UInt8]) {
                guard bytes != sound, bytes != other else { return }
                result.details["checkpoints: \(kind)", default: 0] += 1
                judgeOne("checkpoint \(number), \(kind) \(place)", bytes, &result)
            }
            for place in Swift.stride(from: 0, to: sound.count, by: stride) {
                for bit in 0..<8 {
                    var bytes = sound
                    bytes[place] ^= 1 << UInt8(bit)
                    judge("bit", place * 8 + bit, bytes)
                }
                for value: UInt8 in [0x00, 0xFF] {
                    var bytes = sound
                    bytes[place] = value
                    judge("byte \(value)", place, bytes)
                }
                judge("truncation", place, Array(sound[..<place]))
                // The end of another file of the same run, as a torn rename or a reused sector leaves it.
                judge("splice", place, Array(sound[..<place]) + other.dropFirst(place))
            }
            for length in [1, 7, 512, 4_096] { judge("extension", length, sound + Array(repeating: 0, count: length)) }
            try requireForeignRefused(sound, &result)
        }
        return result
    }

    /// Empty, small, compressible and incompressible payloads.
    private func payloads() -> [[UInt8]] {
        var random = SeededRandom(seed)
        return [
            [], Array("step 1".utf8), Array(repeating: 0, count: 20_000),
            (0..<900).map { _ in UInt8.random(in: 0...255, using: &random) },
            (0..<4_000).map { UInt8(truncatingIfNeeded: $0 / 37) },
        ]
    }

    private func judgeOne(_ title: String, _ bytes: [UInt8], _ result: inout DamageHarness.Result) {
        result.tried += 1
        do throws(CheckpointError) {
            _ = try CheckpointContainer.decode(bytes, expecting: Self.identity)
            result.failures.append("\(title), seed \(seed): taken for sound")
        } catch {
            if error.message.isEmpty {
                result.failures.append("\(title), seed \(seed): refused without a word")
            } else {
                result.survived += 1
            }
        }
    }

    private func requireForeignRefused(_ sound: [UInt8], _ result: inout DamageHarness.Result) throws {
        result.tried += 1
        result.details["checkpoints: foreign", default: 0] += 1
        do throws(CheckpointError) {
            _ = try CheckpointContainer.decode(sound, expecting: Self.foreign)
            result.failures.append("a checkpoint of another plan is taken")
        } catch {
            guard error.code == .foreignPlan else {
                result.failures.append("a checkpoint of another plan is refused as \(error.code)")
                return
            }
            result.survived += 1
        }
    }
}
