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

extension FetchIndex {
    /// `byDate (date descending, title)`; the elements alone where the name says no more.
    package var words: String {
        let names = elements.map { element in
            let name =
                switch element.indexed {
                case .property(let name): name
                case .expression(_, let expression): expression.formatString
                }
            return name + (element.isAscending ? "" : " descending")
        }
        let list = names.joined(separator: ", ")
        let isOwn = name == names.joined(separator: "_")
        return (isOwn ? list : "\(name) (\(list))") + (isRTree ? ", R-tree" : "")
            + (partialPredicate.map { " where \($0.formatString)" } ?? "")
    }

    /// The property that it consists of, if there is one only.
    package var onlyProperty: String? {
        guard elements.count == 1, case .property(let name) = elements[0].indexed else { return nil }
        return name
    }

    /// The same after properties have got other names; so has an index that is named after them.
    package func renaming(_ names: [String: String]) -> FetchIndex {
        var result = self
        for position in elements.indices {
            guard case .property(let name) = elements[position].indexed, let new = names[name] else { continue }
            result.elements[position].indexed = .property(new)
            if self.name == name { result.name = new }
        }
        return result
    }
}
