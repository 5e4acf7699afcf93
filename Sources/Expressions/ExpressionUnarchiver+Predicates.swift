package import CausewayPlist

extension Predicate {
    /// Decodes an archived `NSPredicate`.
    ///
    /// Throws `ExpressionArchiveError`: `unknownClass` names a class that the language doesn't have, `limitExceeded`
    /// means nesting beyond `ExpressionLimits`.
    package init(archive: KeyedArchive, at reference: KeyedArchive.Reference) throws(ExpressionArchiveError) {
        var unarchiver = ExpressionUnarchiver(archive)
        self = try unarchiver.predicate(reference)
    }
}

extension ExpressionUnarchiver {
    mutating func predicate(_ reference: Reference) throws(ExpressionArchiveError) -> Predicate {
        try nested(reference) { (unarchiver) throws(ExpressionArchiveError) in
            try unarchiver.predicateByClass(reference)
        }
    }

    private mutating func predicateByClass(_ reference: Reference) throws(ExpressionArchiveError) -> Predicate {
        switch archive.className(of: reference) {
        case "NSTruePredicate": return .literal(true)
        case "NSFalsePredicate": return .literal(false)
        case "NSComparisonPredicate": return try comparison(reference)
        case "NSCompoundPredicate": return try compound(reference)
        case "NSBlockPredicate":
            throw error(
                .unsupported, "NSBlockPredicate can't be run outside the app: write it as a format string.", reference)
        default: throw unknown(reference, "a predicate")
        }
    }

    private mutating func compound(_ reference: Reference) throws(ExpressionArchiveError) -> Predicate {
        var terms: [Predicate] = []
        for term in try instances("NSSubpredicates", of: reference) { terms.append(try predicate(term)) }
        switch try integer("NSCompoundPredicateType", of: reference) {
        case CompoundType.not:
            guard terms.count == 1 else { throw malformed("negates \(terms.count) predicates", reference) }
            return .not(terms[0])
        case CompoundType.and: return .and(terms)
        case CompoundType.or: return .or(terms)
        case let other: throw malformed("has the unknown type \(other)", reference)
        }
    }

    private mutating func comparison(_ reference: Reference) throws(ExpressionArchiveError) -> Predicate {
        let kind = try instance("NSPredicateOperator", of: reference)
        guard archive.archivedClass(of: kind)?.isKind(of: "NSPredicateOperator") == true,
            archive.className(of: kind) != "NSCustomPredicateOperator",
            let operation = ComparisonOperator(rawValue: try integer("NSOperatorType", of: kind))
        else { throw unknown(kind, "an operator") }
        guard let modifier = Predicate.Modifier(rawValue: try integer("NSModifier", of: kind)) else {
            throw malformed("has an unknown modifier", kind)
        }
        // String operators and IN keep their options as NSFlags, the others as NSOptions.
        let options = try integer("NSOptions", of: kind) | integer("NSFlags", of: kind)
        return .comparison(
            Predicate.Comparison(
                try expression(instance("NSLeftExpression", of: reference)), operation,
                try expression(instance("NSRightExpression", of: reference)), modifier: modifier,
                options: Predicate.Options(rawValue: options)))
    }
}

/// `NSCompoundPredicate.LogicalType`.
enum CompoundType {
    static let not = 0
    static let and = 1
    static let or = 2
}
