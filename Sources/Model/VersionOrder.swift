/// The order in which a person lists a model's versions: names say it, since no bundle stores one.
///
/// - Digits count as numbers: `App 2` < `App 10`, `zmessaging2.3` < `zmessaging2.10`; case doesn't count.
/// - Blanks, dots, hyphens and underscores only separate: `2.3` is 2 then 3, however long the numbers.
/// - What is a beginning of another name comes before it: `App` < `App 2`, `2.21` < `2.21.1`.
/// - `alpha`, `beta`, `pre`, `preview`, `rc` and `dev` come before the name without them: `1.0 Beta 2` < `1.0`.
/// - Where all that is equal, the code units decide.
///
/// The current version isn't necessarily the last.
package enum VersionOrder {
    package static func precedes(_ a: String, _ b: String) -> Bool {
        let (left, right) = (tokens(a), tokens(b))
        for position in 0..<max(left.count, right.count) {
            let x = position < left.count ? left[position] : .end
            let y = position < right.count ? right[position] : .end
            if x != y { return x.precedes(y) }
        }
        return a.utf8.lexicographicallyPrecedes(b.utf8)
    }

    private enum Token: Equatable {
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
