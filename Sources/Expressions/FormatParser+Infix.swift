// The operators between two terms.

extension FormatParser {
    enum Infix: Equatable {
        case and
        case or
        case comparison(ComparisonOperator)
        case set(Expression.SetOperation)
        /// The built-in function that the operator stands for.
        case arithmetic(String, Level)

        var level: Level {
            switch self {
            case .or: .or
            case .and: .and
            case .comparison: .comparison
            case .set: .set
            case .arithmetic(_, let level): level
            }
        }
    }

    private static let words: [String: Infix] = [
        "and": .and, "or": .or,
        "beginswith": .comparison(.beginsWith), "endswith": .comparison(.endsWith),
        "contains": .comparison(.contains), "like": .comparison(.like), "matches": .comparison(.matches),
        "in": .comparison(.in), "between": .comparison(.between),
        "union": .set(.union), "intersect": .set(.intersect), "intersection": .set(.intersect), "minus": .set(.minus),
    ]

    private static let symbols: [String: Infix] = [
        "&&": .and, "||": .or,
        "=": .comparison(.equalTo), "==": .comparison(.equalTo),
        "!=": .comparison(.notEqualTo), "<>": .comparison(.notEqualTo),
        "<": .comparison(.lessThan), ">": .comparison(.greaterThan),
        "<=": .comparison(.lessThanOrEqualTo), "=<": .comparison(.lessThanOrEqualTo),
        ">=": .comparison(.greaterThanOrEqualTo), "=>": .comparison(.greaterThanOrEqualTo),
        "+": .arithmetic("add:to:", .sum), "-": .arithmetic("from:subtract:", .sum),
        "*": .arithmetic("multiply:by:", .product), "/": .arithmetic("divide:by:", .product),
        "**": .arithmetic("raise:toPower:", .power),
    ]

    /// The operator that the current token is.
    func infix() -> Infix? {
        if case .symbol(let text) = token.kind { return Self.symbols[text] }
        return token.keyword.flatMap { Self.words[$0] }
    }
}
