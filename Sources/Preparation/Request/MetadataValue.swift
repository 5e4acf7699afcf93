import CausewayPlist
package import CausewayStoreFormat

/// A value for a key of the app's own in a store's metadata (`NSPersistentStore.metadata`).
///
/// As text it is its type and itself, `int:18000`; so it stands in JSON, and `--set-metadata` reads it.
public enum MetadataValue: Hashable, Sendable {
    /// `NSString`
    case text(String)
    /// `NSNumber` with a whole number
    case integer(Int64)
    /// `NSNumber` with a floating-point number; finite
    case real(Double)
    /// `NSNumber` with a Boolean
    case boolean(Bool)

    /// Reads a value as it is written on a command line.
    ///
    /// `string:`, `int:`, `real:` and `bool:` in front say the type. Without them a whole number in its shortest form
    /// is an integer (`007` isn't), a number with a point is a real, `true` and `false` are Booleans, and everything
    /// else is a text.
    ///
    /// - Parameter spelling: the text.
    public init?(spelling: String) {
        func rest(_ prefix: String) -> String? {
            spelling.hasPrefix(prefix) ? String(spelling.dropFirst(prefix.count)) : nil
        }
        if let text = rest("string:") {
            self = .text(text)
        } else if let text = rest("int:") {
            guard let number = Int64(text) else { return nil }
            self = .integer(number)
        } else if let text = rest("real:") {
            guard let number = Double(text), number.isFinite else { return nil }
            self = .real(number)
        } else if let text = rest("bool:") {
            guard let value = Bool(text) else { return nil }
            self = .boolean(value)
        } else if let number = Int64(spelling), String(number) == spelling {
            self = .integer(number)
        } else if Self.isDecimal(spelling), let number = Double(spelling), number.isFinite {
            self = .real(number)
        } else if let value = Bool(spelling) {
            self = .boolean(value)
        } else {
            self = .text(spelling)
        }
    }

    /// Digits, a point, digits, and perhaps an exponent. `Double` reads more than that, `inf` and `0x1p3` among it.
    private static func isDecimal(_ text: String) -> Bool {
        let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
        return digits.first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
            && text.utf8.contains(UInt8(ascii: ".")) && !text.utf8.contains(UInt8(ascii: "x"))
    }

    /// Why a key can't be set; nil where it can.
    ///
    /// - Parameter key: the key.
    /// - Returns: the rest of a sentence about it.
    package static func refusal(ofKey key: String) -> String? {
        if key.isEmpty { return "is empty" }
        // NSStoreType, NSPersistenceFrameworkVersion, _NSAutoVacuumLevel and the like.
        let isCoreData = key.hasPrefix("NS") || key.hasPrefix("_NS")
        return isCoreData ? "is one of Core Data's own: keys that begin with NS or _NS can't be set" : nil
    }

    var propertyList: PropertyList {
        switch self {
        case .text(let value): .string(value)
        case .integer(let value): .integer(value)
        case .real(let value): .real(value)
        case .boolean(let value): .boolean(value)
        }
    }
}

extension MetadataValue: CustomStringConvertible {
    /// `int:18000`
    public var description: String {
        switch self {
        case .text(let value): "string:\(value)"
        case .integer(let value): "int:\(value)"
        case .real(let value): "real:\(value)"
        case .boolean(let value): "bool:\(value)"
        }
    }
}

extension MetadataValue: Codable {
    /// Reads the value from its description.
    ///
    /// - Parameter decoder: holds a text.
    /// - Throws: `DecodingError` where the text has no type in front.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = MetadataValue(spelling: text), value.description == text else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a metadata value: \(text)")
        }
        self = value
    }

    /// Writes the description.
    ///
    /// - Parameter encoder: gets a text.
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension StoreMetadata {
    /// The same metadata with these entries of the app's own.
    package func setting(_ entries: [String: MetadataValue]) -> StoreMetadata {
        var result = self
        for (key, value) in entries { result.other[key] = value.propertyList }
        return result
    }

    /// The keys of these entries that are missing or have another value, sorted.
    package func keys(lackedOf entries: [String: MetadataValue]) -> [String] {
        entries.filter { other[$0.key] != $0.value.propertyList }.keys.sorted()
    }
}
