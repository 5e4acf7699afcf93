extension Expression {
    /// Parses a format string as `NSExpression(format:)` does, without `%` arguments.
    ///
    /// Keywords may be in any case. A cast of a literal (`CAST(12.5, "NSDate")`) becomes the constant; `FUNCTION(nil,
    /// …)` becomes a built-in. Throws `ExpressionSyntaxError` with the place, and for what exceeds `ExpressionLimits`.
    package init(parsing text: String) throws(ExpressionSyntaxError) {
        var parser = try FormatParser(text)
        self = try parser.wholeExpression()
    }

    /// Parses a derived attribute's derivation expression and folds what Core Data folds.
    ///
    /// `pages.@count` becomes `count:(pages)`; `lines.price.@sum` and `.@total` become `sum:(lines.price)`
    /// (InsideVersionHashes §1; the sum is unproven). Throws what `init(parsing:)` throws.
    package static func derivation(parsing text: String) throws(ExpressionSyntaxError) -> Expression {
        let expression = try Expression(parsing: text)
        let functions = [".@count": "count:", ".@sum": "sum:", ".@total": "sum:"]
        for (suffix, name) in functions {
            if case .keyPath(let operand, let path) = expression, path.hasSuffix(suffix) {
                let collection = String(path.dropLast(suffix.count))
                return .function(operand: nil, name: name, arguments: [.keyPath(operand: operand, path: collection)])
            }
        }
        return expression
    }

    /// `FIRST` in `a[FIRST]`; the archive's `NSSymbolicExpression`.
    package static let firstElement = Expression.symbol("FIRST")
    /// `LAST` in `a[LAST]`.
    package static let lastElement = Expression.symbol("LAST")
    /// `SIZE` in `a[SIZE]`.
    package static let elementCount = Expression.symbol("SIZE")

    /// A symbol is held as a built-in without arguments; none of Apple's built-ins has such a name.
    private static func symbol(_ name: String) -> Expression { .function(operand: nil, name: name, arguments: []) }

    /// The symbol's name when this is one of the three.
    var symbol: String? {
        guard self == .firstElement || self == .lastElement || self == .elementCount,
            case .function(_, let name, _) = self
        else { return nil }
        return name
    }
}

extension Predicate {
    /// Parses a format string as `NSPredicate(format:)` does, without `%` arguments.
    ///
    /// Throws `ExpressionSyntaxError` with the place, and for what exceeds `ExpressionLimits`.
    package init(parsing text: String) throws(ExpressionSyntaxError) {
        var parser = try FormatParser(text)
        self = try parser.wholePredicate()
    }
}
