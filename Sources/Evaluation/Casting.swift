import CausewayExpressions

/// `CAST(value, "type")`.
enum CastTarget: String, CaseIterable, Sendable {
    case number = "NSNumber"
    case decimal = "NSDecimalNumber"
    case string = "NSString"
    case date = "NSDate"
    case uuid = "NSUUID"
    case url = "NSURL"

    var type: ValueType {
        switch self {
        case .number, .decimal: .number
        case .string: .string
        case .date: .date
        case .uuid: .uuid
        case .url: .uri
        }
    }

    /// Whether a value of that type may be cast, as far as the type shows.
    func accepts(_ type: ValueType) -> Bool {
        switch (self, type) {
        case (_, .any), (_, .null), (.number, .number), (.number, .string), (.number, .date), (.decimal, .number),
            (.decimal, .string), (.string, .number), (.string, .string), (.string, .date), (.string, .uuid),
            (.string, .uri), (.date, .number), (.date, .date), (.uuid, .string), (.uuid, .uuid), (.url, .string),
            (.url, .uri):
            true
        default: false
        }
    }

    /// NULL stays NULL. A text that isn't a UUID gives NULL, as `NSUUID` does.
    ///
    /// - Throws: `type` for a text that isn't a number, and for a value that can't become one of the type.
    func apply(_ value: Value) throws(EvaluationError) -> Value {
        switch (self, value) {
        case (_, .null): return .null
        case (.string, _): return .string(try ValueText.text(value))
        case (.number, .date(let seconds)): return .real(seconds)
        case (.number, .string(let text)): if let number = NumberText.number(text) { return number.value }
        case (.decimal, .string(let text)):
            if let number = DecimalNumber(text) { return .decimal(number.description) }
        case (.date, .date), (.uuid, .uuid), (.url, .uri): return value
        case (.uuid, .string(let text)): return UUIDText.bytes(text).map(Value.uuid) ?? .null
        case (.url, .string(let text)): return .uri(text)
        default:
            guard let number = Number(value) else { break }
            switch self {
            case .number: return value
            case .decimal: if let decimal = number.decimal { return .decimal(decimal.description) }
            case .date: return .date(number.real)
            case .string, .uuid, .url: break
            }
        }
        throw EvaluationError(.type, "\(value.kindName) can't be cast to \(rawValue).")
    }
}
