/// Reads what `FieldWriter` wrote; whatever the bytes are, it throws rather than trap.
///
/// Throws `truncated` where the bytes end within a field and `malformed` where a field breaks its coding. After a throw
/// the reader is at or within the failed field; it isn't read further.
package struct FieldReader: Sendable {
    /// Bytes of the longest varint: ten times seven bits hold 64.
    private static let maximumVarint = 10

    private let content: [UInt8]
    private var position = 0

    package init(_ bytes: [UInt8]) {
        content = bytes
    }

    package var isAtEnd: Bool { position == content.count }

    var remaining: Int { content.count - position }

    /// Refuses bytes after the last field.
    package func requireEnd() throws(CheckpointError) {
        guard isAtEnd else { throw malformed("\(remaining) bytes follow the last field") }
    }

    /// A varint; longer codings than needed are taken, up to ten bytes.
    package mutating func unsigned() throws(CheckpointError) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<Self.maximumVarint {
            let byte = try byte()
            // The tenth byte has room for the highest bit only.
            guard index < Self.maximumVarint - 1 || byte <= 1 else { break }
            value |= UInt64(byte & 0x7F) << (7 * UInt64(index))
            if byte < 0x80 { return value }
        }
        throw malformed("a number has more than 64 bits")
    }

    package mutating func signed() throws(CheckpointError) -> Int64 {
        let value = try unsigned()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    package mutating func int() throws(CheckpointError) -> Int {
        guard let value = Int(exactly: try signed()) else { throw malformed("a number is too large for this machine") }
        return value
    }

    package mutating func bool() throws(CheckpointError) -> Bool {
        switch try byte() {
        case 0: return false
        case 1: return true
        default: throw malformed("a boolean is neither 0 nor 1")
        }
    }

    package mutating func string() throws(CheckpointError) -> String {
        guard let text = String(validating: try slice(), as: UTF8.self) else {
            throw malformed("a text isn't UTF-8")
        }
        return text
    }

    package mutating func bytes() throws(CheckpointError) -> [UInt8] { Array(try slice()) }

    package mutating func fixed() throws(CheckpointError) -> UInt64 {
        UInt64(littleEndian: try take(8))
    }

    /// A number of elements that follow: at most `limit`, and no more than there are bytes left, since every element
    /// takes at least one. Memory may be reserved for it.
    package mutating func count(limit: Int) throws(CheckpointError) -> Int {
        let value = try unsigned()
        guard let count = Int(exactly: value), count <= limit else {
            throw CheckpointError(
                .tooLarge,
                "The checkpoint announces \(value) elements where \(limit) are allowed; it is damaged or of "
                    + "another release. Discard it.")
        }
        guard count <= remaining else { throw truncated("\(count) elements", missing: count - remaining) }
        return count
    }

    private mutating func byte() throws(CheckpointError) -> UInt8 {
        guard position < content.count else { throw truncated("a field", missing: 1) }
        defer { position += 1 }
        return content[position]
    }

    /// A length and as many bytes.
    private mutating func slice() throws(CheckpointError) -> ArraySlice<UInt8> {
        let value = try unsigned()
        guard let count = Int(exactly: value) else { throw malformed("a length is too large") }
        return try take(count)
    }

    private mutating func take(_ count: Int) throws(CheckpointError) -> ArraySlice<UInt8> {
        guard count <= remaining else { throw truncated("a field of \(count) bytes", missing: count - remaining) }
        defer { position += count }
        return content[position..<position + count]
    }

    private func truncated(_ what: String, missing: Int) -> CheckpointError {
        CheckpointError(
            .truncated,
            "The checkpoint's content ends within \(what) at byte \(position): \(missing) bytes are missing. "
                + "Discard it.")
    }

    private func malformed(_ reason: String) -> CheckpointError {
        CheckpointError(
            .malformed, "The checkpoint's content is malformed before byte \(position): \(reason). Discard it.")
    }
}

extension UInt64 {
    /// The number of at most eight bytes, the lowest first.
    init(littleEndian bytes: some BidirectionalCollection<UInt8>) {
        self = bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
