/// The fixed fields at the beginning of a container, little endian.
///
/// | offset | bytes | field |
/// |---|---|---|
/// | 0 | 8 | magic |
/// | 8 | 2 + 2 | major and minor version |
/// | 12 | 4 | length of the header |
/// | 16 | 8 | sequence number |
/// | 24 | 8 | length of the frame |
/// | 32 | 8 | length of the payload |
/// | 40 | 32 | fingerprint of the plan |
/// | 72 | 32 | identity of the source |
/// | 104 | 32 | SHA-256 of the frame |
/// | 136 | 16 | UUID of the migration |
/// | 152 | 32 | SHA-256 of bytes 0 to 151 |
///
/// These fields stay where they are in every version, so that a release can refuse a later version by its name. A later
/// minor version may add fields after them, which this one ignores.
struct ContainerHeader {
    /// As PNG's: a byte above 127, the name, and line ends that a text transfer would change.
    static let magic: [UInt8] = [0x89, 0x43, 0x57, 0x5A, 0x0D, 0x0A, 0x1A, 0x0A]
    static let majorVersion: UInt16 = 1
    static let minorVersion: UInt16 = 0
    /// Bytes of the header of version 1.0, and of what every version begins with.
    static let baseLength = 184
    /// Bytes that a later minor version's header may have: no more is needed for fields, and one that announces more
    /// is refused as malformed.
    static let maximumLength = 4_096
    /// Bytes that the header's own hash covers.
    private static let hashedLength = 152

    private(set) var length = Self.baseLength
    private(set) var minor = Self.minorVersion
    let sequence: UInt64
    let compressedLength: UInt64
    let plainLength: UInt64
    let identity: CheckpointIdentity
    let frameDigest: [UInt8]
}

extension ContainerHeader {
    /// Reads the header of a container: checks length, magic, hash and version, in this order, and nothing else.
    init(_ bytes: [UInt8]) throws(CheckpointError) {
        guard bytes.count >= Self.baseLength else {
            throw CheckpointError(
                .truncated,
                "A checkpoint has at least \(Self.baseLength) bytes; there are \(bytes.count). It was cut off or "
                    + "is something else. Discard it.")
        }
        guard bytes.starts(with: Self.magic) else {
            throw CheckpointError(.notAContainer, "The bytes aren't a Causeway checkpoint: they begin differently.")
        }
        guard Digest256.of(bytes[..<Self.hashedLength]) == Array(bytes[Self.hashedLength..<Self.baseLength]) else {
            throw CheckpointError(
                .damaged, "The checkpoint's header differs from its own hash; it is damaged. Discard it.")
        }
        let major = UInt16(truncatingIfNeeded: UInt64(littleEndian: bytes[8..<10]))
        minor = UInt16(truncatingIfNeeded: UInt64(littleEndian: bytes[10..<12]))
        guard major == Self.majorVersion else {
            throw CheckpointError(
                .foreignFormat,
                "The checkpoint has format \(major).\(minor); this release reads \(Self.majorVersion).x. Continue "
                    + "with the release that wrote it, or discard the unfinished work with --restart.")
        }
        length = Int(UInt64(littleEndian: bytes[12..<16]))
        sequence = UInt64(littleEndian: bytes[16..<24])
        compressedLength = UInt64(littleEndian: bytes[24..<32])
        plainLength = UInt64(littleEndian: bytes[32..<40])
        identity = CheckpointIdentity(
            plan: Array(bytes[40..<72]), source: Array(bytes[72..<104]), migration: Array(bytes[136..<152]))
        frameDigest = Array(bytes[104..<136])
    }

    /// The header's own length: 184 in version 1.0, 184 or more in a later minor version.
    func requireLength() throws(CheckpointError) {
        let allowed = minor == 0 ? Self.baseLength...Self.baseLength : Self.baseLength...Self.maximumLength
        guard allowed.contains(length) else {
            throw CheckpointError(
                .malformed,
                "The checkpoint of format \(Self.majorVersion).\(minor) announces a header of \(length) bytes; "
                    + "\(allowed.lowerBound) to \(allowed.upperBound) are possible. Discard it.")
        }
    }

    /// The header as it is written, its hash included.
    var bytes: [UInt8] {
        var bytes = Self.magic
        bytes.reserveCapacity(Self.baseLength)
        Self.append(UInt64(Self.majorVersion), count: 2, to: &bytes)
        Self.append(UInt64(minor), count: 2, to: &bytes)
        Self.append(UInt64(length), count: 4, to: &bytes)
        Self.append(sequence, count: 8, to: &bytes)
        Self.append(compressedLength, count: 8, to: &bytes)
        Self.append(plainLength, count: 8, to: &bytes)
        bytes += identity.plan
        bytes += identity.source
        bytes += frameDigest
        bytes += identity.migration
        return bytes + Digest256.of(bytes)
    }

    private static func append(_ value: UInt64, count: Int, to bytes: inout [UInt8]) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
    }
}
