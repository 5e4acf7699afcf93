package import CausewayExpressions

// What properties are, in the words of Core Data's editor, for plans and inspections.

extension Attribute {
    /// The default as an expression; nil where there is none.
    package var defaultText: String? { Self.text(defaultValue) }

    /// The derivation as an expression; nil where the attribute isn't derived.
    package var derivationText: String? { derivation?.expression.formatString }

    /// A value as an expression; nil for NULL.
    package static func text(_ value: Constant?) -> String? {
        guard let value, value != .null else { return nil }
        return Expression.constant(value).formatString
    }
}

extension Relationship {
    /// `to-one`, `to-many` or `ordered to-many`.
    package var cardinality: String {
        guard isToMany else { return "to-one" }
        return isOrdered ? "ordered to-many" : "to-many"
    }

    /// `to-many to Book`
    package var words: String { "\(cardinality) to \(destination)" }
}

extension Relationship.DeleteRule {
    /// As the editor names it.
    package var word: String {
        switch self {
        case .noAction: "No Action"
        case .nullify: "Nullify"
        case .cascade: "Cascade"
        case .deny: "Deny"
        }
    }
}
