import CausewayExpressions

/// Values as Xcode's source spells them in `defaultValueString`, `minValueString` and their like.
enum SourceValue {
    /// The value of that attribute type; nil where the text isn't one.
    static func parse(_ text: String, as type: AttributeType) -> Constant? {
        switch type {
        case .integer16, .integer32, .integer64: integer(text)
        case .boolean: boolean(text)
        case .double, .float: .real(leadingNumber(text))
        case .decimal: DecimalText.canonical(leadingDecimal(text)).map { .decimal($0) }
        case .string: .string(text)
        case .date: .date(leadingNumber(text))
        case .uuid: UUIDText.bytes(text).map { .uuid($0) }
        case .uri: .uri(text)
        case .undefined, .binary, .transformable, .objectID, .composite: nil
        }
    }

    /// The text that `parse` reads as the value; nil where the source has none for it.
    static func text(_ value: Constant, as type: AttributeType) -> String? {
        let text: String? =
            switch value {
            case .integer(let number): String(number)
            case .boolean(let flag): flag ? "YES" : "NO"
            case .real(let number): number.isFinite ? String(number) : nil
            case .decimal(let number): number
            case .string(let text), .uri(let text): text
            // Xcode writes whole seconds without a fraction.
            case .date(let seconds): Int64(exactly: seconds).map { String($0) } ?? String(seconds)
            case .uuid(let bytes): bytes.count == 16 ? UUIDText.text(bytes) : nil
            case .null, .data, .array, .dictionary, .foreign: nil
            }
        guard let text, !text.isEmpty || type == .string, parse(text, as: type) == value else { return nil }
        return text
    }

    /// Xcode's compiler reads numbers as `-[NSString longLongValue]` does: the longest numeric beginning counts, and
    /// text without one is 0. The model editor keeps the text when an attribute's type is changed, so real models have
    /// `0.0` and `NO` for integers (Wire 2.101 stores 0 for the latter).
    private static func integer(_ text: String) -> Constant? {
        let real = leadingNumber(text)
        return .integer(Int64(leadingDigits(text)) ?? Int64(exactly: real.rounded(.towardZero)) ?? 0)
    }

    /// As `-[NSString boolValue]`: the first letter or digit decides.
    private static func boolean(_ text: String) -> Constant? {
        let rest = text.drop { $0 == " " || $0 == "+" || $0 == "-" || $0 == "0" }
        return .boolean(rest.first.map { "YyTt123456789".contains($0) } ?? false)
    }

    /// As `-[NSString doubleValue]`.
    private static func leadingNumber(_ text: String) -> Double {
        // No number of a double's range is longer; each failed attempt costs the text's length.
        var candidate = text.drop { $0 == " " }.prefix(400).prefix { "+-0123456789.eE".contains($0) }
        while !candidate.isEmpty {
            if let value = Double(candidate) { return value }
            candidate.removeLast()
        }
        return 0
    }

    /// As `-[NSDecimalNumber initWithString:]`: the longest numeric beginning counts, so that `0,00` and `0.0 ` are 0.
    /// Empty without one.
    private static func leadingDecimal(_ text: String) -> String {
        var rest = text.drop { $0.isWhitespace }
        if rest == "NaN" { return "NaN" }
        func take(_ isWanted: (Character) -> Bool) -> Substring {
            let taken = rest.prefix(while: isWanted)
            rest = rest.dropFirst(taken.count)
            return taken
        }
        func takeSign() -> Substring {
            let sign = rest.prefix(1).prefix { $0 == "-" || $0 == "+" }
            rest = rest.dropFirst(sign.count)
            return sign
        }
        func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }
        let sign = takeSign()
        let whole = take(isDigit)
        var fraction: Substring = ""
        if rest.first == "." {
            rest = rest.dropFirst()
            fraction = take(isDigit)
        }
        guard !whole.isEmpty || !fraction.isEmpty else { return "" }
        let number = "\(sign)\(whole).\(fraction)"
        guard rest.first == "e" || rest.first == "E" else { return number }
        rest = rest.dropFirst()
        let exponentSign = takeSign()
        let exponent = take(isDigit)
        return exponent.isEmpty ? number : "\(number)e\(exponentSign)\(exponent)"
    }

    private static func leadingDigits(_ text: String) -> String {
        let trimmed = text.drop { $0 == " " }
        let sign = trimmed.prefix { $0 == "-" || $0 == "+" }.prefix(1)
        return String(sign + trimmed.dropFirst(sign.count).prefix { $0.isASCII && $0.isNumber })
    }
}

extension AttributeType {
    /// The names of Xcode's source; a missing `attributeType` means undefined.
    init?(sourceName: String?) {
        switch sourceName {
        case nil, "": self = .undefined
        case "Binary Data": self = .binary
        case "ObjectID": self = .objectID
        default:
            guard let found = Self.allCases.first(where: { $0.modelName == sourceName }) else { return nil }
            self = found
        }
    }

    /// The name in Xcode's source; nil for undefined, which has none there.
    var sourceName: String? {
        switch self {
        case .undefined: nil
        case .objectID: "ObjectID"
        default: modelName
        }
    }

    /// The type as the model editor and the XML source name it.
    package var modelName: String {
        switch self {
        case .undefined: "Undefined"
        case .integer16: "Integer 16"
        case .integer32: "Integer 32"
        case .integer64: "Integer 64"
        case .decimal: "Decimal"
        case .double: "Double"
        case .float: "Float"
        case .string: "String"
        case .boolean: "Boolean"
        case .date: "Date"
        case .binary: "Binary"
        case .uuid: "UUID"
        case .uri: "URI"
        case .transformable: "Transformable"
        case .objectID: "Object ID"
        case .composite: "Composite"
        }
    }

    /// `NSAttributeValueClassName` as the compiler sets it where the source names no class.
    var valueClassName: String? {
        switch self {
        case .integer16, .integer32, .integer64, .double, .float, .boolean: "NSNumber"
        case .decimal: "NSDecimalNumber"
        case .string: "NSString"
        case .date: "NSDate"
        case .binary: "NSData"
        case .uuid: "NSUUID"
        case .uri: "NSURL"
        case .composite: "NSDictionary"
        case .undefined, .transformable, .objectID: nil
        }
    }

    var isNumber: Bool {
        switch self {
        case .integer16, .integer32, .integer64, .decimal, .double, .float: true
        default: false
        }
    }
}
