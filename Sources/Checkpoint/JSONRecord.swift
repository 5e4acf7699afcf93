#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Small records that people may read too: plan.json, step-K.verified.json, swap.json.
///
/// A record is one JSON object on one line, UTF-8, its keys sorted, so that equal values give equal bytes. It has a
/// member `format` that names its kind and version; `format(of:)` reads it before the whole is decoded, so that a
/// record of a later release can be refused by name.
package enum JSONRecord {
    /// Bytes that a record may have unless its kind says otherwise: 1 MiB holds the digests of thousands of entities.
    /// A larger one is refused, when it is written too.
    package static let maximumBytes = 1 << 20

    /// Objects and arrays within each other: 32 is several times what a record needs; a deeper one is refused before a
    /// decoder recurses into it.
    package static let maximumNesting = 32

    /// Canonical bytes of a record: sorted keys, slashes as they are, a line end behind it.
    package static func encode<T: Encodable & Sendable>(
        _ value: T, limit: Int = maximumBytes
    ) throws(CheckpointError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var bytes: [UInt8]
        do {
            bytes = Array(try encoder.encode(value))
        } catch {
            throw CheckpointError(
                .malformed,
                "A record of type \(T.self) can't be written as JSON: \(reason(of: error)). This is an error in "
                    + "Causeway; please report it.")
        }
        bytes.append(UInt8(ascii: "\n"))
        try JSONShape.check(bytes, limit: limit, nesting: maximumNesting)
        return bytes
    }

    /// The record that fills `bytes`, which are at most `limit`; size and nesting are checked before they are decoded.
    package static func decode<T: Decodable>(
        _ bytes: [UInt8], as type: T.Type, limit: Int = maximumBytes
    ) throws(CheckpointError) -> T {
        try JSONShape.check(bytes, limit: limit, nesting: maximumNesting)
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            throw CheckpointError(
                .malformed, "The record can't be read: \(reason(of: error)). It is damaged or of another release.")
        }
    }

    /// The record's member `format`, a text or a whole number; nothing if it has none.
    package static func format(
        of bytes: [UInt8], limit: Int = maximumBytes
    ) throws(CheckpointError) -> String? {
        try decode(bytes, as: FormatOnly.self, limit: limit).format
    }

    /// The only member read from a record of an unknown kind.
    private struct FormatOnly: Decodable {
        let format: String?

        private enum CodingKeys: String, CodingKey {
            case format
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            if let number = try? container.decode(Int64.self, forKey: .format) {
                format = String(number)
            } else {
                format = try container.decodeIfPresent(String.self, forKey: .format)
            }
        }
    }

    /// Where and how the coding failed, without the values.
    private static func reason(of error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, let context): "\(place(context.codingPath + [key])) is missing"
        case DecodingError.valueNotFound(_, let context): "\(place(context.codingPath)) is null"
        case DecodingError.typeMismatch(_, let context): "\(place(context.codingPath)) is of another type"
        case DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty: "it isn't JSON"
        case DecodingError.dataCorrupted(let context): "\(place(context.codingPath)) has an impossible value"
        case EncodingError.invalidValue(_, let context): "\(place(context.codingPath)) has no JSON form"
        default: "a member is impossible"
        }
    }

    /// A member's path for a message; keys of a foreign record may be long or hold control characters.
    private static func place(_ path: [any CodingKey]) -> String {
        let joined = path.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
        return String(joined.prefix(120)).debugDescription
    }
}
