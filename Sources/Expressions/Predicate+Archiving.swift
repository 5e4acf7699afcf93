package import CausewayPlist

extension Predicate {
    /// Writes the predicate as Foundation archives an `NSPredicate`; what `init(archive:at:)` reads.
    ///
    /// Throws what `Expression.archive(into:)` throws.
    package func archive(
        into writer: inout KeyedArchiveWriter
    ) throws(ExpressionArchiveError) -> KeyedArchiveWriter.Reference {
        switch self {
        case .literal(let value):
            let name = value ? "NSTruePredicate" : "NSFalsePredicate"
            return writer.add(ArchivedClass([name, "NSPredicate", "NSObject"]), [])
        case .comparison(let comparison):
            let left = try comparison.left.archive(into: &writer)
            let right = try comparison.right.archive(into: &writer)
            let kind = comparison.archiveOperator(into: &writer)
            return writer.add(
                ArchivedClass(["NSComparisonPredicate", "NSPredicate", "NSObject"]),
                [
                    ("NSLeftExpression", .reference(left)), ("NSRightExpression", .reference(right)),
                    ("NSPredicateOperator", .reference(kind)),
                ])
        case .not(let term): return try Self.compound(CompoundType.not, [term], into: &writer)
        case .and(let terms): return try Self.compound(CompoundType.and, terms, into: &writer)
        case .or(let terms): return try Self.compound(CompoundType.or, terms, into: &writer)
        }
    }

    private static func compound(
        _ type: Int, _ terms: [Predicate], into writer: inout KeyedArchiveWriter
    ) throws(ExpressionArchiveError) -> KeyedArchiveWriter.Reference {
        var references: [KeyedArchiveWriter.Reference] = []
        references.reserveCapacity(terms.count)
        for term in terms { references.append(try term.archive(into: &writer)) }
        let list = writer.array(references)
        return writer.add(
            ArchivedClass(["NSCompoundPredicate", "NSPredicate", "NSObject"]),
            [("NSCompoundPredicateType", .integer(Int64(type))), ("NSSubpredicates", .reference(list))])
    }
}

extension Predicate.Comparison {
    /// The operator object: each family of operators has its own class and keeps its options under its own key.
    fileprivate func archiveOperator(into writer: inout KeyedArchiveWriter) -> KeyedArchiveWriter.Reference {
        let common: [KeyedArchiveWriter.NamedField] = [
            ("NSModifier", .integer(Int64(modifier.rawValue))),
            ("NSOperatorType", .integer(Int64(operation.rawValue))),
        ]
        let options: KeyedArchiveWriter.NamedField = ("NSOptions", .integer(Int64(options.rawValue)))
        let flags: KeyedArchiveWriter.NamedField = ("NSFlags", options.value)
        let root = ["NSPredicateOperator", "NSObject"]
        switch operation {
        case .equalTo, .notEqualTo:
            return writer.add(
                ArchivedClass(["NSEqualityPredicateOperator"] + root),
                common + [options, ("NSNegate", .boolean(operation == .notEqualTo))])
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
            return writer.add(
                ArchivedClass(["NSComparisonPredicateOperator"] + root),
                common + [options, ("NSVariant", .integer(Int64(operation.rawValue)))])
        case .in, .contains:
            return writer.add(ArchivedClass(["NSInPredicateOperator"] + root), common + [flags])
        case .matches:
            return writer.add(
                ArchivedClass(["NSMatchingPredicateOperator", "NSStringPredicateOperator"] + root), common + [flags])
        case .like:
            return writer.add(
                ArchivedClass(
                    ["NSLikePredicateOperator", "NSMatchingPredicateOperator", "NSStringPredicateOperator"] + root),
                common + [flags])
        case .beginsWith, .endsWith:
            // 0 is the beginning, 1 the end.
            let position: Int64 = operation == .beginsWith ? 0 : 1
            return writer.add(
                ArchivedClass(["NSSubstringPredicateOperator", "NSStringPredicateOperator"] + root),
                common + [flags, ("NSPosition", .integer(position))])
        case .between:
            // BETWEEN has no options in Foundation; ours are kept so that nothing is lost.
            return writer.add(
                ArchivedClass(["NSBetweenPredicateOperator"] + root),
                self.options.isEmpty ? common : common + [options])
        }
    }
}
