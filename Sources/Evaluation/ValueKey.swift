import CausewayExpressions

/// The keys that values, as opposed to rows, answer to in a key path, and the selectors without arguments.
enum ValueKey: String, CaseIterable, Sendable {
    case length, count, firstObject, lastObject, allObjects, array, set
    case uppercaseString, lowercaseString, capitalizedString
    case stringValue, intValue, integerValue, longLongValue, doubleValue, floatValue, boolValue, description
    case absoluteString, relativeString, path, host, lastPathComponent, pathExtension, scheme, query, fragment, port
    case UUIDString
    case timeIntervalSinceReferenceDate, timeIntervalSince1970
    case `self`

    /// Seconds between 1970-01-01 and 2001-01-01.
    static let referenceDate = 978_307_200.0

    /// The key's type on a kind of value; nil where that kind hasn't got it.
    func type(on type: ValueType) -> ValueType? {
        if self == .self { return type }
        switch type {
        case .any, .null: return .any
        case .number:
            switch self {
            case .stringValue, .description: return .string
            case .intValue, .integerValue, .longLongValue, .doubleValue, .floatValue, .boolValue: return .number
            default: return nil
            }
        case .string:
            switch self {
            case .length, .intValue, .integerValue, .longLongValue, .doubleValue, .floatValue, .boolValue:
                return .number
            case .uppercaseString, .lowercaseString, .capitalizedString, .description, .lastPathComponent,
                .pathExtension:
                return .string
            default: return nil
            }
        case .data: return self == .length ? .number : nil
        case .uuid: return self == .UUIDString || self == .description ? .string : nil
        case .date:
            switch self {
            case .timeIntervalSinceReferenceDate, .timeIntervalSince1970: return .number
            case .description: return .string
            default: return nil
            }
        case .uri:
            switch self {
            case .absoluteString, .relativeString, .path, .host, .lastPathComponent, .pathExtension, .scheme, .query,
                .fragment, .description:
                return .string
            case .port: return .number
            default: return nil
            }
        case .collection(_, let element):
            switch self {
            case .count: return .number
            case .firstObject, .lastObject: return element
            case .allObjects, .array: return .collection(.array, of: element)
            case .set: return .collection(.set, of: element)
            default: return nil
            }
        case .object, .composite, .objectID, .entity, .receiver: return nil
        }
    }

    /// What such a value answers to, for messages.
    static func names(on type: ValueType) -> [String] {
        allCases.filter { $0.type(on: type) != nil }.map(\.rawValue)
    }

    /// NULL answers NULL to every key, as nil does.
    ///
    /// - Throws: `type` where the value's kind hasn't got the key.
    func apply(_ value: Value) throws(EvaluationError) -> Value {
        if self == .self { return value }
        switch value {
        case .null: return .null
        case .boolean, .integer, .real, .decimal:
            if let number = Number(value), let result = number[self] { return result }
        case .string(let text): if let result = Self.string(text, self) { return result }
        case .data(let bytes): if self == .length { return .integer(Int64(bytes.count)) }
        case .uuid(let bytes):
            if self == .UUIDString || self == .description { return .string(UUIDText.text(bytes)) }
        case .date(let seconds):
            switch self {
            case .timeIntervalSinceReferenceDate: return .real(seconds)
            case .timeIntervalSince1970: return .real(seconds + Self.referenceDate)
            case .description: return .string(try ValueText.date(seconds))
            default: break
            }
        case .uri(let text): if let result = URIComponents(text)[self] { return result }
        case .collection(let members):
            switch self {
            case .count: return .integer(Int64(members.count))
            case .firstObject: return members.first ?? .null
            case .lastObject: return members.last ?? .null
            case .allObjects, .array: return value
            case .set: return .collection(members.distinct)
            default: break
            }
        case .object: break
        }
        throw EvaluationError(.type, "The key `\(rawValue)` isn't one of \(value.kindName).")
    }

    private static func string(_ text: String, _ key: ValueKey) -> Value? {
        switch key {
        case .length: .integer(Int64(text.utf16.count))
        case .uppercaseString: .string(text.uppercased())
        case .lowercaseString: .string(text.lowercased())
        case .capitalizedString: .string(ValueText.capitalized(text))
        case .description: .string(text)
        case .intValue: .integer(Int64(Int32(clamping: NumberText.integer(text))))
        case .integerValue, .longLongValue: .integer(NumberText.integer(text))
        case .doubleValue: .real(NumberText.real(text))
        case .floatValue: .real(Double(Float(NumberText.real(text))))
        case .boolValue: .boolean(NumberText.truth(text))
        case .lastPathComponent: .string(URIComponents.lastComponent(of: text))
        case .pathExtension: .string(URIComponents.fileExtension(of: text))
        default: nil
        }
    }
}

extension Number {
    fileprivate subscript(_ key: ValueKey) -> Value? {
        switch key {
        case .stringValue, .description: .string(text)
        case .intValue: .integer(Int64(Int32(truncatingIfNeeded: integer)))
        case .integerValue, .longLongValue: .integer(integer)
        case .doubleValue: .real(real)
        case .floatValue: .real(Double(Float(real)))
        case .boolValue: .boolean(real != 0)
        default: nil
        }
    }
}
