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
        guard let first = terms.first else { return print(.literal(value)) }
        guard terms.count > 1 else { return print(first) }
        print(terms, joinedBy: word) { $0.printTerm($1) }
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
        let letters = Predicate.Options.letters.filter { options.contains($0.option) }.map(\.letter)
        return letters.isEmpty ? "" : "[\(String(letters))]"
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
