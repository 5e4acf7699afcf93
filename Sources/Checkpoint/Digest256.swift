import CausewayDigests

/// SHA-256.
package enum Digest256 {
    /// Bytes of a digest.
    package static let length = 32

    /// The digest of `bytes`: 32 bytes.
    package static func of(_ bytes: [UInt8]) -> [UInt8] {
        of(bytes[...])
    }

    static func of(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        MessageDigest.of(bytes)
    }

    /// A running hash of hashes: one value for a sequence of digests, in their order.
    ///
    /// The value is the whole state, so a checkpoint holds 32 bytes and a resumed run continues from them. It begins
    /// with 32 zero bytes, and each digest makes it SHA-256(value + digest).
    package struct Chain: Hashable, Sendable {
        /// The value after every digest so far: 32 bytes.
        package private(set) var value: [UInt8]

        /// The chain of no digest.
        package init() {
            value = [UInt8](repeating: 0, count: Digest256.length)
        }

        /// The chain whose value was `value`, to be continued.
        package init(resuming value: [UInt8]) throws(CheckpointError) {
            guard value.count == Digest256.length else {
                throw CheckpointError(
                    .malformed,
                    "A chain of digests has \(Digest256.length) bytes, not \(value.count); the checkpoint is "
                        + "damaged. Discard it and run again.")
            }
            self.value = value
        }

        package mutating func append(_ digest: [UInt8]) {
            value = Digest256.of(value + digest)
        }
    }
}
