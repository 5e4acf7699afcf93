import CausewayExpressions

/// Dates that the model editor before Xcode 4 wrote as texts, in its user's language and time zone: which date such a
/// text means isn't known. They are in no hash and in no row, so a model with them is read, and only what needs the
/// date is refused.
extension Attribute {
    /// The text of a date's default; nil where the default is a date, or there is none.
    package var dateText: String? {
        guard type == .date, case .string(let text)? = defaultValue else { return nil }
        return text
    }

    /// - Parameter texts: by the XML's keys of the dates.
    mutating func set(dateTexts texts: [String: String]) {
        if let text = texts["defaultDateTimeInterval"] { defaultValue = .string(text) }
        for rule in ValidationRule.all(of: type) {
            if let text = texts[rule.key] { validations.append(rule.validation(.string(text))) }
        }
    }

    /// Without what Core Data would compare a date with, or set, in vain.
    var withoutDateTexts: Attribute {
        guard type == .date else { return self }
        var attribute = self
        if dateText != nil { attribute.defaultValue = nil }
        attribute.validations.removeAll {
            guard case .comparison(let comparison) = $0.predicate, case .constant(.string) = comparison.right else {
                return false
            }
            return true
        }
        return attribute
    }
}
