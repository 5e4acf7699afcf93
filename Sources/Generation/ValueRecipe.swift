import CausewayExpressions
import CausewayModel

/// How an attribute's values are made: a kind of value with its parameters, chosen once per attribute.
struct ValueRecipe {
    enum Kind {
        case boolean(yesOutOf256: Int)
        /// Small numbers often, large ones seldom: each number of bits up to `bits` is equally likely.
        case integer(bits: Int, range: ClosedRange<Int>)
        /// Different in every row of the table; NULL for the rows that a narrow type has no value for.
        case uniqueInteger(range: ClosedRange<Int>)
        /// Hundredths.
        case real(bounds: ValueBounds)
        case uniqueReal
        /// Hundredths; one in 512 is `NaN` where that is allowed, as Core Data stores `notANumber` (store-format.md §4.1).
        case decimal(bounds: ValueBounds, hasNaN: Bool)
        case date(bounds: ValueBounds, isUnique: Bool)
        case text(TextKind, bounds: ValueBounds, isUnique: Bool)
        case fixedText([UInt8])
        case uuid
        case uri
        case binary(isUnique: Bool)
        case external(ExternalBlobs)
        /// One of a few archives.
        case transformable([[UInt8]])
    }

    /// What a text looks like, guessed from the attribute's name.
    enum TextKind {
        case title, prose, identifier, color, isbn, email, address
    }

    let kind: Kind
    /// Rows with NULL, of 256.
    let missing: Int
    let stream: UInt64
    /// Rows of the entity in all: dates rise over them.
    let count: Int
}

extension ValueRecipe {
    /// Shares of NULL, of 256, that optional attributes have; each attribute keeps to one.
    private static let missingShares = [0, 8, 26, 77, 154]
    private static let yesShare = 26

    /// nil where the attribute gets its values otherwise: derived ones are computed from the finished rows.
    init?(
        _ attribute: Attribute, path: String, of entity: String, count: Int, isUnique: Bool, options: GenerationOptions,
        archives: [[UInt8]]
    ) {
        guard attribute.derivation == nil || attribute.isComputedByTime else { return nil }
        let stream = RandomStream.stream(seed: options.seed, "value " + entity + "." + path)
        var random = RandomStream(stream: stream, key: -1)
        let share = ValueRecipe.missingShares[random.next(below: ValueRecipe.missingShares.count)]
        guard
            let kind = ValueRecipe.kind(
                of: attribute, isUnique: isUnique, stream: stream, count: count, options: options, archives: archives)
        else { return nil }
        self.kind = kind
        self.stream = stream
        self.count = max(count, 1)
        missing = attribute.isOptional && attribute.derivation == nil ? share : 0
    }

    private static func kind(
        of attribute: Attribute, isUnique: Bool, stream: UInt64, count: Int, options: GenerationOptions,
        archives: [[UInt8]]
    ) -> Kind? {
        let bounds = ValueBounds(attribute)
        switch attribute.type {
        case .boolean:
            if isUnique { return .uniqueInteger(range: 0...1) }
            return .boolean(yesOutOf256: attribute.defaultValue == .boolean(true) ? 256 - yesShare : yesShare)
        case .integer16: return integer(bits: 10, Int(Int16.min)...Int(Int16.max), bounds, isUnique)
        case .integer32: return integer(bits: 20, Int(Int32.min)...Int(Int32.max), bounds, isUnique)
        case .integer64: return integer(bits: 40, Int.min...Int.max, bounds, isUnique)
        case .double, .float: return isUnique ? .uniqueReal : .real(bounds: bounds)
        case .decimal:
            let isFree = attribute.isOptional && bounds.least == nil && bounds.most == nil
            return isUnique ? .uniqueInteger(range: 0...Int.max) : .decimal(bounds: bounds, hasNaN: isFree)
        case .date: return .date(bounds: bounds, isUnique: isUnique)
        case .string:
            if bounds.hasPattern, case .string(let text)? = attribute.defaultValue {
                return .fixedText(Array(text.utf8))
            }
            return .text(textKind(attribute.name), bounds: bounds, isUnique: isUnique)
        case .uuid: return .uuid
        case .uri: return .uri
        case .binary:
            if attribute.allowsExternalBinaryDataStorage {
                return .external(ExternalBlobs(stream: stream, count: count, options: options))
            }
            return .binary(isUnique: isUnique)
        case .transformable: return .transformable(archives)
        case .undefined, .objectID, .composite: return nil
        }
    }

    private static func integer(bits: Int, _ type: ClosedRange<Int>, _ bounds: ValueBounds, _ isUnique: Bool) -> Kind {
        let least = bounds.least.flatMap { Int(exactly: $0.rounded(.up)) } ?? 0
        let low = min(max(least, type.lowerBound), type.upperBound)
        let most = bounds.most.flatMap { Int(exactly: $0.rounded(.down)) } ?? type.upperBound
        let range = low...max(low, min(most, type.upperBound))
        return isUnique ? .uniqueInteger(range: range) : .integer(bits: bits, range: range)
    }

    private static func textKind(_ name: String) -> TextKind {
        let lower = name.lowercased()
        func has(_ parts: String...) -> Bool { parts.contains { lower.contains($0) } }
        if has("body", "content", "text", "synopsis", "note", "summary", "comment", "description", "detail", "message")
        {
            return .prose
        }
        if has("color", "colour", "hex") { return .color }
        if has("isbn") { return .isbn }
        if has("mail") { return .email }
        if has("url", "uri", "link") { return .address }
        if has("uuid", "identifier", "guid") || lower == "id" || name.hasSuffix("ID") || name.hasSuffix("Id") {
            return .identifier
        }
        return .title
    }
}

extension Attribute {
    /// `now()`: the time of the row's last save.
    var isComputedByTime: Bool {
        guard case .function(nil, "now", _)? = derivation?.expression else { return false }
        return true
    }
}
