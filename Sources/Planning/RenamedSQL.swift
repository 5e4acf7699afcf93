/// Statements of the app's own with the names that tables and columns have in the destination.
///
/// Works on words, not on grammar: a word outside string literals that is a name of the source becomes the
/// destination's. What names something that is gone, or a word with two meanings, has no translation.
struct RenamedSQL {
    /// New names by lower-cased old ones; nil where the name is gone or ambiguous.
    private var names: [String: String?] = [:]

    /// Notes that the source's `old` is the destination's `new`.
    mutating func add(_ old: String, as new: String?) {
        let key = old.lowercased()
        if let known = names[key], known?.lowercased() != new?.lowercased() {
            // Gone in one table, kept in another: a word alone doesn't say which is meant.
            names[key] = .some(nil)
        } else {
            names[key] = .some(new)
        }
    }

    /// - Returns: nil where a word can't be translated.
    func translate(_ sql: String) -> String? {
        var result = ""
        var word = ""
        var literal = false
        func flush() -> Bool {
            defer { word = "" }
            guard !word.isEmpty, let new = names[word.lowercased()] else {
                result += word
                return true
            }
            guard let new else { return false }
            result += new
            return true
        }
        for character in sql {
            if !literal, character.isLetter || character.isNumber || character == "_" {
                word.append(character)
                continue
            }
            guard flush() else { return nil }
            if character == "'" { literal.toggle() }
            result.append(character)
        }
        return flush() ? result : nil
    }
}
