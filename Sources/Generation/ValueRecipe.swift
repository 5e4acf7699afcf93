import CausewayExpressions
import CausewayModel

/// How an attribute's values are made: a kind of value with its parameters, chosen once per attribute.
struct ValueRecipe {
    enum Kind {
        case boolean(yesOutOf256: Int)
        /// Small numbers often, large ones seldom: each number of bits up to `bits` is equally likely.
        case integer(bits: Int, range: ClosedRange<Int>)
        /// Different in every row; NULL for the rows that a narrow type has no value for.
        case uniqueInteger(range: ClosedRange<Int>)
        /// Hundredths.
        case real(bounds: ValueBounds)
        case uniqueReal(first: Double, step: Double)
        /// Hundredths; one in 512 is `NaN` where that is allowed, as Core Data stores `notANumber`
        /// (InsideStoreFormat §4.1).
        case decimal(bounds: ValueBounds, hasNaN: Bool)
        case date(bounds: ValueBounds, isUnique: Bool)
        case text(TextKind, bounds: ValueBounds, isUnique: Bool)
        /// In one row only where it must be unique.
        case fixedText([UInt8], isUnique: Bool)
        case uuid
        case uri
        case binary(isUnique: Bool)
        case external(ExternalBlobs)
        /// One of a few archives.
        case transformable([[UInt8]], isUnique: Bool)
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
    /// The number of the entity's first row among all rows that have the attribute, from 0: unique values follow it.
    let firstNumber: Int
}

extension ValueRecipe {
    /// Shares of NULL, of 256, that optional attributes have; each attribute keeps to one.
    private static let missingShares = [0, 8, 26, 77, 154]
    private static let yesShare = 26

    /// nil where the attribute gets its values otherwise: derived ones are computed from the finished rows.
    init?(
        _ attribute: Attribute, path: String, of entity: String, count: Int, unique: Numbering?,
        options: GenerationOptions, archives: [[UInt8]]
    ) {
        guard attribute.derivation == nil || attribute.isComputedByTime else { return nil }
        let stream = RandomStream.stream(seed: options.seed, "value " + entity + "." + path)
        var random = RandomStream(stream: stream, key: -1)
        let share = ValueRecipe.missingShares[random.next(below: ValueRecipe.missingShares.count)]
        guard
            let kind = ValueRecipe.kind(
                of: attribute, unique: unique, stream: stream, count: count, options: options, archives: archives)
        else { return nil }
        self.kind = kind
        self.stream = stream
        self.count = max(count, 1)
        firstNumber = unique?.first ?? 0
        missing = attribute.isOptional && attribute.derivation == nil ? share : 0
    }

    /// The place of an entity's rows among all rows with a unique attribute.
    struct Numbering {
        let first: Int
        /// All rows that have the attribute.
        let count: Int
    }

    private static func kind(
        of attribute: Attribute, unique: Numbering?, stream: UInt64, count: Int, options: GenerationOptions,
        archives: [[UInt8]]
    ) -> Kind? {
        let bounds = ValueBounds(attribute)
        let isUnique = unique != nil
        switch attribute.type {
        case .boolean:
            if isUnique { return .uniqueInteger(range: 0...1) }
            return .boolean(yesOutOf256: attribute.defaultValue == .boolean(true) ? 256 - yesShare : yesShare)
        case .integer16, .integer32, .integer64:
            let range = integerRange(of: attribute, bounds)
            let bits = attribute.type == .integer16 ? 10 : attribute.type == .integer32 ? 20 : 40
            return isUnique ? .uniqueInteger(range: range) : .integer(bits: bits, range: range)
        case .double, .float:
            return unique.map { uniqueReal(from: 1.5, step: 1, bounds, $0.count) } ?? .real(bounds: bounds)
        case .decimal:
            let isFree = bounds.least == nil && bounds.most == nil
            guard let unique else { return .decimal(bounds: bounds, hasNaN: attribute.isOptional && isFree) }
            return isFree ? .uniqueInteger(range: 0...Int.max) : uniqueReal(from: 1, step: 1, bounds, unique.count)
        case .date:
            guard let unique, bounds.least != nil || bounds.most != nil else {
                return .date(bounds: bounds, isUnique: isUnique)
            }
            return uniqueReal(from: firstDate, step: 60, bounds, unique.count)
        case .string:
            if bounds.hasPattern, case .string(let text)? = attribute.defaultValue {
                return .fixedText(Array(text.utf8), isUnique: isUnique)
            }
            return .text(textKind(attribute.name), bounds: bounds, isUnique: isUnique)
        case .uuid: return .uuid
        case .uri: return .uri
        case .binary:
            if attribute.allowsExternalBinaryDataStorage {
                return .external(ExternalBlobs(stream: stream, count: count, options: options))
            }
            return .binary(isUnique: isUnique)
        case .transformable: return .transformable(archives, isUnique: isUnique)
        case .undefined, .objectID, .composite: return nil
        }
    }

    /// The integers that an attribute's type and validation allow; not negative where nothing says so.
    static func integerRange(of attribute: Attribute, _ bounds: ValueBounds) -> ClosedRange<Int> {
        let type =
            switch attribute.type {
            case .integer16: Int(Int16.min)...Int(Int16.max)
            case .integer32: Int(Int32.min)...Int(Int32.max)
            default: Int.min...Int.max
            }
        let most = bounds.most.flatMap { Int(exactly: $0.rounded(.down)) } ?? type.upperBound
        let least = bounds.least.flatMap { Int(exactly: $0.rounded(.up)) } ?? min(0, most)
        let low = min(max(least, type.lowerBound), type.upperBound)
        return low...max(low, min(most, type.upperBound))
    }

    /// `count` different numbers within the bounds; where both are given, as far apart as fit.
    private static func uniqueReal(from usual: Double, step: Double, _ bounds: ValueBounds, _ count: Int) -> Kind {
        let length = step * Double(count)
        guard let most = bounds.most else { return .uniqueReal(first: max(usual, bounds.least ?? usual), step: step) }
        let first = bounds.least ?? min(usual, most - length)
        return .uniqueReal(first: first, step: min(step, max(0, most - first) / Double(max(count, 1))))
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
