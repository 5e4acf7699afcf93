/// The container of checkpoints and segments (`.cwz`): a header with identities and hashes, and one zstd frame.
///
/// The bytes are described in the article `CheckpointFormat`. The same container is the blob in the progress row, a
/// checkpoint file and a segment file. Nothing of a container is trusted before it is checked: `decode` checks length,
/// magic, the header's hash, the version, the identities, the lengths, the frame's size and its hash, in this order,
/// and only then passes the frame to zstd.
package enum CheckpointContainer {
    /// Bytes that a payload may have: 64 MiB. A frame may expand 30,000-fold, so the declared size is limited before
    /// memory is allocated. Larger payloads are written as several segments.
    package static let maximumPayload = 64 << 20

    /// zstd's levels that are offered. Higher ones need windows beyond `ZstdFrame.maximumWindow`; negative ones save no
    /// time that shows here.
    package static let levels: ClosedRange<Int32> = 1...19

    /// What a container holds.
    package struct Content: Hashable, Sendable {
        package let sequence: UInt64
        package let identity: CheckpointIdentity
        package let payload: [UInt8]
    }

    /// A container of `payload`, compressed with zstd's `level` (1 to 19).
    package static func encode(
        _ payload: [UInt8], sequence: UInt64, identity: CheckpointIdentity, level: Int32
    ) throws(CheckpointError) -> [UInt8] {
        guard identity.isWellFormed else {
            throw CheckpointError(
                .malformed,
                "A checkpoint's identity has 32 bytes of plan, 32 of source and 16 of migration, not "
                    + "\(identity.plan.count), \(identity.source.count) and \(identity.migration.count). This is "
                    + "an error in Causeway; please report it.")
        }
        guard levels.contains(level) else {
            throw CheckpointError(
                .malformed,
                "\(level) isn't a compression level; choose one from \(levels.lowerBound) to "
                    + "\(levels.upperBound).")
        }
        guard payload.count <= maximumPayload else { throw payloadTooLarge(UInt64(payload.count)) }
        let frame = try ZstdFrame.compress(payload, level: level)
        let header = ContainerHeader(
            sequence: sequence, compressedLength: UInt64(frame.count), plainLength: UInt64(payload.count),
            identity: identity, frameDigest: Digest256.of(frame))
        return header.bytes + frame
    }

    /// What the container that fills `bytes` holds.
    ///
    /// With `expecting` a container of another plan, source or run is refused by name. Throws `truncated`,
    /// `notAContainer`, `damaged`, `foreignFormat`, `foreignPlan`, `foreignSource`, `tooLarge` or `malformed`; whatever
    /// the bytes are, it takes no more memory than the payload's limit and what zstd needs to read it (under 1 MiB).
    package static func decode(
        _ bytes: [UInt8], expecting: CheckpointIdentity?
    ) throws(CheckpointError) -> Content {
        // Length, magic, hash of the header, version.
        let header = try ContainerHeader(bytes)
        if let expecting { try header.identity.require(expecting) }
        let frame = try frame(of: bytes, header: header)
        let plainLength = try ZstdFrame.check(frame, plainLength: header.plainLength)
        guard Digest256.of(frame) == header.frameDigest else {
            throw CheckpointError(
                .damaged, "The checkpoint's content differs from the hash in its header; it is damaged. Discard it.")
        }
        let payload = try ZstdFrame.decompress(frame, plainLength: plainLength)
        return Content(sequence: header.sequence, identity: header.identity, payload: payload)
    }

    /// What follows the header, if the lengths agree with each other and with the limit.
    private static func frame(
        of bytes: [UInt8], header: ContainerHeader
    ) throws(CheckpointError) -> ArraySlice<UInt8> {
        try header.requireLength()
        guard header.plainLength <= UInt64(maximumPayload) else { throw payloadTooLarge(header.plainLength) }
        let (rest, overflow) = UInt64(bytes.count).subtractingReportingOverflow(UInt64(header.length))
        guard !overflow, header.compressedLength == rest else {
            let isCut = overflow || header.compressedLength > rest
            throw CheckpointError(
                isCut ? .truncated : .damaged,
                "The checkpoint has \(bytes.count) bytes and announces a header of \(header.length) and a frame "
                    + "of \(header.compressedLength); \(isCut ? "its end is missing" : "something else follows it"). "
                    + "Discard it.")
        }
        return bytes[header.length...]
    }

    private static func payloadTooLarge(_ count: UInt64) -> CheckpointError {
        CheckpointError(
            .tooLarge,
            "The checkpoint's content has \(count) bytes, more than the \(maximumPayload) that one container may "
                + "hold; it has to be written as several segments.")
    }
}
