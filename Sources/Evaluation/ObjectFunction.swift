/// Methods of strings, numbers, dates and collections that expressions call with `FUNCTION(receiver, "selector:", …)`.
///
/// Only those whose result is the same everywhere; texts are searched byte by byte, so that é and e with an accent are
/// two. Positions in strings count UTF-16 units, as `NSString` does.
enum ObjectFunction: String, CaseIterable, Sendable {
    case appending = "stringByAppendingString:"
    case prefix = "substringToIndex:"
    case suffix = "substringFromIndex:"
    case replacing = "stringByReplacingOccurrencesOfString:withString:"
    case components = "componentsSeparatedByString:"
    case joined = "componentsJoinedByString:"
    case hasPrefix = "hasPrefix:"
    case hasSuffix = "hasSuffix:"
    case containsString = "containsString:"
    case isEqualToString = "isEqualToString:"
    case isEqual = "isEqual:"
    case isEqualToNumber = "isEqualToNumber:"
    case isEqualToDate = "isEqualToDate:"
    case objectAtIndex = "objectAtIndex:"
    case containsObject = "containsObject:"
    case addingInterval = "dateByAddingTimeInterval:"
    case interval = "timeIntervalSinceDate:"

    /// Selectors that real mapping models might call but aren't supported here, with the alternative.
    static let refused: [String: String] = [
        "stringByTrimmingCharactersInSet:": "There are no character sets here: trim in a policy.",
        "stringByFoldingWithOptions:locale:": "There are no locales here: use canonical:(…), or a policy.",
        "mutableCopy": "Values can't be changed: call a policy.",
    ]

    /// The result's type on such a receiver; nil if that kind doesn't have the method.
    func type(on receiver: ValueType) -> ValueType? {
        switch receiver {
        case .any, .null: return generalType
        case .string:
            switch self {
            case .appending, .prefix, .suffix, .replacing, .components, .hasPrefix, .hasSuffix, .containsString,
                .isEqualToString, .isEqual:
                return generalType
            default: return nil
            }
        case .number: return self == .isEqual || self == .isEqualToNumber ? .number : nil
        case .date:
            return [.isEqual, .isEqualToDate, .addingInterval, .interval].contains(self) ? generalType : nil
        case .collection(_, let element):
            switch self {
            case .objectAtIndex: return element
            case .joined, .containsObject, .isEqual: return generalType
            default: return nil
            }
        default: return self == .isEqual ? .number : nil
        }
    }

    private var generalType: ValueType {
        switch self {
        case .appending, .prefix, .suffix, .replacing, .joined: .string
        case .components: .collection(.array, of: .string)
        case .objectAtIndex: .any
        case .addingInterval: .date
        case .hasPrefix, .hasSuffix, .containsString, .isEqualToString, .isEqual, .isEqualToNumber, .isEqualToDate,
            .containsObject, .interval:
            .number
        }
    }

    /// A message to nil gives NULL, and NO where the method answers yes or no.
    ///
    /// - Throws: `type` for a NULL argument where Foundation raises, a position outside of the receiver, and operands
    ///   of other kinds.
    func apply(_ receiver: Value, _ arguments: [Value]) throws(EvaluationError) -> Value {
        switch (self, receiver, arguments.first ?? .null) {
        case (.isEqual, _, let other), (.isEqualToNumber, _, let other), (.isEqualToDate, _, let other):
            return .boolean(!receiver.isNull && ValueComparison.equal(receiver, other))
        case (.hasPrefix, .null, _), (.hasSuffix, .null, _), (.containsString, .null, _),
            (.isEqualToString, .null, _), (.containsObject, .null, _):
            return .boolean(false)
        case (_, .null, _): return .null
        case (.isEqualToString, .string, .null): return .boolean(false)
        case (_, .string(let text), .string(let other)):
            if let result = try strings(text, other, arguments) { return result }
        case (.prefix, .string(let text), let index): return .string(try cut(text, index).0)
        case (.suffix, .string(let text), let index): return .string(try cut(text, index).1)
        case (.objectAtIndex, .collection(let members), let index):
            guard let place = Number(index)?.exactInteger, members.indices.contains(Int(place)) else {
                throw EvaluationError(.type, "`\(rawValue)` asks for a member past the collection's end.")
            }
            return members[Int(place)]
        case (.containsObject, .collection(let members), let member):
            return .boolean(members.contains { ValueComparison.equal($0, member) })
        case (.joined, .collection(let members), .string(let separator)):
            var texts: [String] = []
            for member in members { texts.append(try ValueText.text(member)) }
            return try bounded(texts.joined(separator: separator))
        case (.addingInterval, .date(let seconds), let interval):
            if let interval = Number(interval) { return .date(seconds + interval.real) }
        case (.interval, .date(let seconds), .date(let other)): return .real(seconds - other)
        default: break
        }
        let found = arguments.first.map { " with \($0.kindName)" } ?? ""
        throw EvaluationError(.type, "`\(rawValue)` can't be called on \(receiver.kindName)\(found).")
    }

    private func strings(_ text: String, _ other: String, _ arguments: [Value]) throws(EvaluationError) -> Value? {
        switch self {
        case .appending: return try bounded(text + other)
        case .hasPrefix: return .boolean(!other.isEmpty && TextSearch.begins(text, other))
        case .hasSuffix: return .boolean(!other.isEmpty && TextSearch.ends(text, other))
        case .containsString: return .boolean(!other.isEmpty && TextSearch.contains(text, other))
        case .isEqualToString: return .boolean(ValueComparison.equal(text, other))
        case .components:
            return try TextSearch.split(text, other).map { Value.string($0) }.collected()
        case .replacing:
            guard arguments.count == 2, case .string(let replacement) = arguments[1] else { return nil }
            let pieces = TextSearch.split(text, other)
            let length = text.utf8.count + pieces.count * replacement.utf8.count
            guard length <= EvaluationLimits.textLength else { throw Self.tooLong }
            return .string(pieces.joined(separator: replacement))
        default: return nil
        }
    }

    private func cut(_ text: String, _ index: Value) throws(EvaluationError) -> (String, String) {
        guard let wanted = Number(index)?.exactInteger, (0...Int64(text.utf16.count)).contains(wanted),
            let place = text.utf16.index(
                text.utf16.startIndex, offsetBy: Int(wanted), limitedBy: text.utf16.endIndex),
            let before = String(text.utf16[..<place]), let after = String(text.utf16[place...])
        else {
            throw EvaluationError(.type, "`\(rawValue)` cuts past the string's end or within a character.")
        }
        return (before, after)
    }

    private func bounded(_ text: String) throws(EvaluationError) -> Value {
        guard text.utf8.count <= EvaluationLimits.textLength else { throw Self.tooLong }
        return .string(text)
    }

    private static let tooLong = EvaluationError(
        .type, "The expression makes a text of more than \(EvaluationLimits.textLength) bytes.")
}

/// Searching in texts byte by byte: characters are never taken for each other.
enum TextSearch {
    static func begins(_ text: String, _ start: String) -> Bool { text.utf8.starts(with: start.utf8) }

    static func ends(_ text: String, _ end: String) -> Bool {
        text.utf8.count >= end.utf8.count && text.utf8.suffix(end.utf8.count).elementsEqual(end.utf8)
    }

    /// Every text contains the empty one.
    static func contains(_ text: String, _ piece: String) -> Bool {
        piece.isEmpty || split(text, piece, limit: 1).count > 1
    }

    /// The pieces between the separators; the whole text where the separator is empty.
    static func split(_ text: String, _ separator: String, limit: Int = .max) -> [String] {
        let (bytes, wanted) = (Array(text.utf8), Array(separator.utf8))
        guard let first = wanted.first, wanted.count <= bytes.count else { return [text] }
        var pieces: [String] = []
        var (start, index) = (0, 0)
        while index + wanted.count <= bytes.count, pieces.count < limit {
            if bytes[index] == first, bytes[index..<(index + wanted.count)] == wanted[...] {
                pieces.append(String(decoding: bytes[start..<index], as: UTF8.self))
                index += wanted.count
                start = index
            } else {
                index += 1
            }
        }
        pieces.append(String(decoding: bytes[start...], as: UTF8.self))
        return pieces
    }
}
