import CausewayExpressions

/// A partial index's predicate as SQL, in the bracket style of real stores: every compound in its own brackets, simple
/// ones without (InsideStoreFormat §7).
enum PartialIndexPredicate {
    /// Deeper nesting isn't written; real predicates nest two deep.
    private static let deepestNesting = 32

    /// The text; nil if no real store shows the predicate's form. `column` gives a property's column, nil where it
    /// isn't stored.
    static func sql(_ predicate: Predicate, depth: Int = 0, column: (String) -> String?) -> String? {
        guard depth < deepestNesting else { return nil }
        func compound(_ terms: [Predicate], _ word: String) -> String? {
            let texts = terms.compactMap { sql($0, depth: depth + 1, column: column) }
            guard !texts.isEmpty, texts.count == terms.count else { return nil }
            return "(\(texts.joined(separator: " \(word) ")))"
        }
        switch predicate {
        case .and(let terms): return compound(terms, "AND")
        case .or(let terms): return compound(terms, "OR")
        case .comparison(let comparison): return sql(comparison, column: column)
        case .not, .literal: return nil
        }
    }

    private static func sql(_ comparison: Predicate.Comparison, column: (String) -> String?) -> String? {
        guard comparison.modifier == .direct, comparison.options.isEmpty,
            case .keyPath(operand: .evaluatedObject, path: let path) = comparison.left, let left = column(path),
            case .constant(let value) = comparison.right
        else { return nil }
        if value == .null {
            switch comparison.operation {
            case .equalTo: return "\(left) IS NULL"
            case .notEqualTo: return "\(left) IS NOT NULL"
            default: return nil
            }
        }
        guard let sign = sign(comparison.operation), let right = literal(value) else { return nil }
        return "\(left) \(sign) \(right)"
    }

    private static func sign(_ operation: ComparisonOperator) -> String? {
        switch operation {
        case .lessThan: "<"
        case .lessThanOrEqualTo: "<="
        case .greaterThan: ">"
        case .greaterThanOrEqualTo: ">="
        case .equalTo: "="
        case .notEqualTo: "<>"
        default: nil
        }
    }

    /// Numbers and Booleans only: no real store shows another kind of constant.
    private static func literal(_ value: Constant) -> String? {
        switch value {
        case .boolean(let flag): flag ? "1" : "0"
        case .integer(let number): String(number)
        case .real(let number): number.isFinite ? String(number) : nil
        default: nil
        }
    }
}
