/// A value expression of Core Data's language, as `NSExpression` holds one.
///
/// A plain value: parsing, printing and archiving live beside it, evaluation above it.
package indirect enum Expression: Hashable, Sendable {
    /// `SELF`: the object that is evaluated.
    case evaluatedObject
    /// A literal.
    case constant(Constant)
    /// `$name`, held without the dollar sign.
    case variable(String)
    /// `operand.path`; `.evaluatedObject` is the operand of a bare key path. The path keeps its dots and collection
    /// operators (`countries.@distinctUnionOfSets.moods`).
    case keyPath(operand: Expression, path: String)
    /// `FUNCTION(operand, 'name', arguments…)`, or a built-in `name(arguments…)` where the operand is nil.
    /// The name is the selector, with its colons (`add:to:`, `count:`, `now`).
    case function(operand: Expression?, name: String, arguments: [Expression])
    /// `{a, b, c}`.
    case aggregate([Expression])
    /// `SUBQUERY(collection, $variable, predicate)`; the variable is held without the dollar sign.
    case subquery(collection: Expression, variable: String, predicate: Predicate)
    /// `FETCH(request, context, countOnly)`.
    case fetch(request: Expression, context: Expression, countOnly: Bool)
    /// `left UNION right`, `INTERSECT`, `MINUS`.
    case set(SetOperation, Expression, Expression)
    /// `TERNARY(predicate, then, else)`.
    case conditional(Predicate, Expression, Expression)

    /// The raw values are those of the archive's `NSExpressionType`.
    package enum SetOperation: Int, Hashable, Sendable {
        case union = 5
        case intersect, minus

        package var word: String { "\(self)".uppercased() }
    }

    /// The key path `path` on the evaluated object.
    package static func key(_ path: String) -> Expression {
        .keyPath(operand: .evaluatedObject, path: path)
    }
}

/// A literal of the expression language, and the value of an attribute's default.
package enum Constant: Hashable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    /// An `NSDecimalNumber`, in plain decimal notation (`-12.50`, `NaN`).
    case decimal(String)
    case string(String)
    /// Seconds since 2001-01-01 00:00 UTC.
    case date(Double)
    case data([UInt8])
    /// 16 bytes.
    case uuid([UInt8])
    /// An absolute URL string.
    case uri(String)
    case array([Constant])
    /// Sorted by key, so that equal dictionaries are equal values.
    case dictionary([DictionaryEntry])
    /// An archived object of a class that this language doesn't know (an app's own transformable default).
    case foreign(className: String)

    package struct DictionaryEntry: Hashable, Sendable {
        package var key: String
        package var value: Constant

        package init(key: String, value: Constant) {
            self.key = key
            self.value = value
        }
    }
}
