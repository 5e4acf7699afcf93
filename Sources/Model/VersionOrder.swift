/// The order in which a person lists a model's versions. It comes from their names, since no bundle stores one.
///
/// - Digits count as numbers: `App 2` < `App 10`, `zmessaging2.3` < `zmessaging2.10`; case doesn't count.
/// - Spaces, dots, hyphens and underscores only separate: `2.3` is 2 then 3, however long the numbers.
/// - A name that is a prefix of another comes before it: `App` < `App 2`, `2.21` < `2.21.1`.
/// - `alpha`, `beta`, `pre`, `preview`, `rc` and `dev` come before the name without them: `1.0 Beta 2` < `1.0`.
/// - If all that is equal, the code units decide.
/// - The words before the first number needn't be the same: `Model`, `Model 2`, `AppModel 3` are counted through. Where
///   two names with different words have the same number (`Old 1`, `New 1`), names with the same words stay together,
///   and those with the current version's come last. A name without number that shares its words with no other
///   (`Initial`) comes first, or last where it is the current version.
///
/// The current version isn't necessarily the last.
package enum VersionOrder {
    /// The names in their order; `current` is the one that the bundle marks as its current version.
    package static func sorted(_ names: [String], current: String? = nil) -> [String] {
        let names = names.map(Name.init)
        let groups = Dictionary(grouping: names, by: \.words)
        guard groups.count > 1 else { return names.map(\.text).sorted(by: precedes) }
        let numbered = groups.filter { $0.value.contains { !$0.rest.isEmpty } }
        let keys = numbered.values.flatMap { group in Set(group.map(\.number)) }
        let isCounted = Set(keys).count == keys.count
        let currentWords = names.first { $0.text == current }?.words
        // Lone names, then those whose numbers count, then what the current version's words demand.
        func rank(_ name: Name) -> Int {
            let isLast = name.words == currentWords
            if numbered[name.words] == nil { return isLast ? 3 : 0 }
            return isLast && !isCounted ? 2 : 1
        }
        return names.sorted { a, b in
            let ranks = (rank(a), rank(b))
            if ranks.0 != ranks.1 { return ranks.0 < ranks.1 }
            if ranks.0 == 1, isCounted {
                if let isFirst = precedes(a.rest, b.rest) { return isFirst }
            } else if a.words != b.words {
                return a.words.lexicographicallyPrecedes(b.words)
            }
            return precedes(a.text, b.text)
        }
        .map(\.text)
    }

    /// A name, split at its first number.
    private struct Name {
        let text: String
        let words: [String]
        let rest: [Token]

        init(_ text: String) {
            self.text = text
            let tokens = VersionOrder.tokens(text)
            let count = tokens.prefix { if case .word = $0 { true } else { false } }.count
            words = tokens.prefix(count).map { if case .word(let word) = $0 { word } else { "" } }
            rest = Array(tokens.dropFirst(count))
        }

        /// `1`, `1.0` and `01` are one number.
        var number: [Token] {
            var result = rest
            while result.last == .number("") { result.removeLast() }
            return result
        }
    }

    package static func precedes(_ a: String, _ b: String) -> Bool {
        precedes(tokens(a), tokens(b)) ?? a.utf8.lexicographicallyPrecedes(b.utf8)
    }

    /// nil where they are equal.
    private static func precedes(_ left: [Token], _ right: [Token]) -> Bool? {
        for position in 0..<max(left.count, right.count) {
            let x = position < left.count ? left[position] : .end
            let y = position < right.count ? right[position] : .end
            if x != y { return x.precedes(y) }
        }
        return nil
    }

    private enum Token: Hashable {
        case prerelease(String)
        case end
        /// Without leading zeros: a name may hold more digits than any integer has.
        case number(String)
        case word(String)

        private var rank: Int {
            switch self {
            case .prerelease: 0
            case .end: 1
            case .number: 2
            case .word: 3
            }
        }

        func precedes(_ other: Token) -> Bool {
            switch (self, other) {
            case (.number(let a), .number(let b)):
                a.utf8.count == b.utf8.count ? a < b : a.utf8.count < b.utf8.count
            case (.word(let a), .word(let b)), (.prerelease(let a), .prerelease(let b)):
                a.utf8.lexicographicallyPrecedes(b.utf8)
            default: rank < other.rank
            }
        }
    }

    private static let prereleaseWords: Set<String> = ["alpha", "beta", "dev", "pre", "preview", "rc"]

    private static func tokens(_ name: String) -> [Token] {
        var result: [Token] = []
        var run = ""
        var runIsNumber = false
        func close() {
            guard !run.isEmpty else { return }
            if runIsNumber {
                result.append(.number(String(run.drop { $0 == "0" })))
            } else {
                // A name that begins with such a word (`Preview 2`) is just a name.
                let isPrerelease = !result.isEmpty && prereleaseWords.contains(run)
                result.append(isPrerelease ? .prerelease(run) : .word(run))
            }
            run = ""
        }
        for character in name.lowercased() {
            if character == " " || character == "." || character == "-" || character == "_" {
                close()
                continue
            }
            let isDigit = character.isASCII && character.isWholeNumber
            if isDigit != runIsNumber { close() }
            runIsNumber = isDigit
            run.append(character)
        }
        close()
        return result
    }
}
