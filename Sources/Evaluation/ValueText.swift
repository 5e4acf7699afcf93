import CausewayExpressions

/// Values as text, spelt as Foundation spells them.
enum ValueText {
    /// What `description` gives.
    ///
    /// - Throws: `type` for a value without a text that is the same everywhere.
    static func text(_ value: Value) throws(EvaluationError) -> String {
        switch value {
        case .string(let text), .uri(let text): return text
        case .uuid(let bytes): return UUIDText.text(bytes)
        case .date(let seconds): return try date(seconds)
        default:
            if let number = Number(value) { return number.text }
            throw EvaluationError(.type, "\(value.kindName) can't be written as text.")
        }
    }

    /// `2001-01-01 00:00:00 +0000`.
    ///
    /// - Throws: `type` outside of the years 1 to 9999.
    static func date(_ seconds: Double) throws(EvaluationError) -> String {
        guard (-63_113_904_000.0..<252_423_993_600.0).contains(seconds) else {
            throw EvaluationError(.type, "A date outside the years 1 to 9999 can't be written as text.")
        }
        let whole = Int64(seconds.rounded(.down)) + Int64(ValueKey.referenceDate)
        let (day, second) = (floorDivide(whole, 86_400), whole - floorDivide(whole, 86_400) * 86_400)
        // Days to a civil date: eras of 400 years that begin on 1 March.
        let shifted = day + 719_468
        let era = floorDivide(shifted, 146_097)
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * ofYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(ofYear - (153 * shiftedMonth + 2) / 5 + 1, 2))"
        return "\(date) \(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2)) +0000"
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        value >= 0 ? value / divisor : -((divisor - 1 - value) / divisor)
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// The first letter of each word in upper case, the others in lower case; an apostrophe doesn't end a word.
    static func capitalized(_ text: String) -> String {
        var result = ""
        var isInWord = false
        for character in text {
            if character.isLetter {
                if isInWord {
                    result += character.lowercased()
                } else {
                    for scalar in character.unicodeScalars {
                        result += isInWord ? String(scalar) : scalar.properties.titlecaseMapping
                        isInWord = true
                    }
                }
                isInWord = true
            } else {
                isInWord = isInWord && (character == "'" || character == "’" || character.isNumber)
                result.append(character)
            }
        }
        return result
    }
}
