extension FormatPrinter {
    mutating func print(_ predicate: Predicate) {
        switch predicate {
        case .literal(let value): append(value ? "TRUEPREDICATE" : "FALSEPREDICATE")
        case .comparison(let comparison): print(comparison)
        case .not(let term):
            append("NOT ")
            printTerm(term)
        case .and(let terms): print(terms, joinedBy: " AND ", whenEmpty: true)
        case .or(let terms): print(terms, joinedBy: " OR ", whenEmpty: false)
        }
    }

    private mutating func print(_ terms: [Predicate], joinedBy word: String, whenEmpty value: Bool) {
        guard let first = terms.first else {
            print(.literal(value))
            return
        }
        guard terms.count > 1 else {
            print(first)
            return
        }
        for (index, term) in terms.enumerated() {
            if index > 0 { append(word) }
            printTerm(term)
        }
    }

    /// A compound within a compound gets brackets.
    private mutating func printTerm(_ term: Predicate) {
        switch term {
        case .literal, .comparison: print(term)
        case .not, .and, .or:
            append("(")
            print(term)
            append(")")
        }
    }

    private mutating func print(_ comparison: Predicate.Comparison) {
        switch comparison.modifier {
        case .direct: break
        case .all: append("ALL ")
        case .any: append("ANY ")
        }
        print(comparison.left)
        append(" " + comparison.operation.symbol + Self.suffix(comparison.options) + " ")
        print(comparison.right)
    }

    private static func suffix(_ options: Predicate.Options) -> String {
        var letters = ""
        if options.contains(.caseInsensitive) { letters += "c" }
        if options.contains(.diacriticInsensitive) { letters += "d" }
        if options.contains(.normalized) { letters += "n" }
        if options.contains(.localeSensitive) { letters += "l" }
        return letters.isEmpty ? "" : "[\(letters)]"
    }
}

extension ComparisonOperator {
    /// The operator as Apple prints it.
    package var symbol: String {
        switch self {
        case .lessThan: "<"
        case .lessThanOrEqualTo: "<="
        case .greaterThan: ">"
        case .greaterThanOrEqualTo: ">="
        case .equalTo: "=="
        case .notEqualTo: "!="
        case .matches: "MATCHES"
        case .like: "LIKE"
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .in: "IN"
        case .contains: "CONTAINS"
        case .between: "BETWEEN"
        }
    }
}
