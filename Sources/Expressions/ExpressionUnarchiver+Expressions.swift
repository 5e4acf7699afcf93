package import CausewayPlist

extension Expression {
    /// Decodes an archived `NSExpression`.
    ///
    /// Throws `ExpressionArchiveError`: `unknownClass` names a class that the language doesn't have, `limitExceeded`
    /// means nesting beyond `ExpressionLimits`.
    package init(archive: KeyedArchive, at reference: KeyedArchive.Reference) throws(ExpressionArchiveError) {
        var unarchiver = ExpressionUnarchiver(archive)
        self = try unarchiver.expression(reference)
    }
}

extension ExpressionUnarchiver {
    mutating func expression(_ reference: Reference) throws(ExpressionArchiveError) -> Expression {
        try nested(reference) { (unarchiver) throws(ExpressionArchiveError) in
            try unarchiver.expressionByClass(reference)
        }
    }

    private mutating func expressionByClass(_ reference: Reference) throws(ExpressionArchiveError) -> Expression {
        switch archive.className(of: reference) {
        case "NSSelfExpression": return .evaluatedObject
        case "NSConstantValueExpression": return .constant(try constant(reference))
        case "NSVariableExpression": return .variable(try string("NSVariable", of: reference))
        case "NSKeyPathSpecifierExpression": return .key(try string("NSKeyPath", of: reference))
        case "NSKeyPathExpression", "NSFunctionExpression": return try function(reference)
        case "NSSymbolicExpression": return try symbol(reference)
        case "NSAggregateExpression":
            return .aggregate(try expressions(instances("NSCollection", of: reference)))
        case "NSSubqueryExpression":
            return .subquery(
                collection: try expression(instance("NSExpression", of: reference)),
                variable: try string("NSVariable", of: reference),
                predicate: try predicate(instance("NSSubpredicate", of: reference)))
        case "NSFetchRequestExpression":
            return .fetch(
                request: try expression(instance("NSFRExpression", of: reference)),
                context: try expression(instance("NSMOCExpression", of: reference)),
                countOnly: try boolean("NSCountOnlyFlag", of: reference))
        case "NSSetExpression":
            return .set(
                try setOperation(reference), try expression(instance("NSLeftExpression", of: reference)),
                try expression(instance("NSRightExpression", of: reference)))
        case "NSTernaryExpression":
            return .conditional(
                try predicate(instance("NSPredicate", of: reference)),
                try expression(instance("NSTrueExpression", of: reference)),
                try expression(instance("NSFalseExpression", of: reference)))
        case "NSVariableAssignmentExpression", "NSBlockExpression", "NSAnyKeyExpression":
            throw error(
                .unsupported,
                "\(archive.className(of: reference) ?? "The expression") can't be run outside the app: "
                    + "write the mapping's value as another expression or in a policy.", reference)
        default: throw unknown(reference, "an expression")
        }
    }

    private mutating func expressions(_ references: [Reference]) throws(ExpressionArchiveError) -> [Expression] {
        var expressions: [Expression] = []
        expressions.reserveCapacity(min(references.count, ExpressionLimits.archivedNodes))
        for reference in references { expressions.append(try expression(reference)) }
        return expressions
    }

    /// A call; one of `valueForKeyPath:` is a key path.
    private mutating func function(_ reference: Reference) throws(ExpressionArchiveError) -> Expression {
        let name = try string("NSSelectorName", of: reference)
        let operand = try target(reference)
        let arguments = try instances("NSArguments", of: reference)
        if name == "valueForKeyPath:" || name == "valueForKey:", arguments.count == 1 {
            switch archive.className(of: arguments[0]) {
            case "NSKeyPathSpecifierExpression":
                return .keyPath(
                    operand: operand ?? .evaluatedObject, path: try string("NSKeyPath", of: arguments[0]))
            case "NSConstantValueExpression":
                // What isn't a text is computed when it's evaluated, and stays a call.
                if case .string(let path) = try constant(arguments[0]) {
                    return .keyPath(operand: operand ?? .evaluatedObject, path: path)
                }
            default: break
            }
        }
        return .function(operand: operand, name: name, arguments: try expressions(arguments))
    }

    /// The receiver; nil for a built-in, whose receiver is the class `_NSPredicateUtilities`.
    private mutating func target(_ reference: Reference) throws(ExpressionArchiveError) -> Expression? {
        guard let value = try field("NSOperand", of: reference), !value.isNull else { return nil }
        guard let operand = value.reference else { throw malformed("has a plain value as its target", reference) }
        if archive.className(of: operand) == "NSConstantValueExpression",
            case .string(let className)? = try field("NSConstantValueClassName", of: operand)
        {
            guard className == "_NSPredicateUtilities" else {
                throw error(
                    .unsupported,
                    "The function calls the class \(className), which isn't there outside the app: use a policy.",
                    reference)
            }
            return nil
        }
        return try expression(operand)
    }

    /// The value of an `NSConstantValueExpression`. Null has no value, and a null class name.
    private mutating func constant(_ reference: Reference) throws(ExpressionArchiveError) -> Constant {
        guard let value = try field("NSConstantValue", of: reference), !value.isNull else {
            if case .string(let className)? = try field("NSConstantValueClassName", of: reference) {
                return .foreign(className: className)
            }
            return .null
        }
        return try constant(value, at: reference)
    }

    private func symbol(_ reference: Reference) throws(ExpressionArchiveError) -> Expression {
        let token = try string("NSToken", of: reference)
        switch token.uppercased() {
        case "FIRST": return .firstElement
        case "LAST": return .lastElement
        case "SIZE": return .elementCount
        default: throw malformed("has the unknown symbol “\(token)”", reference)
        }
    }

    private func setOperation(_ reference: Reference) throws(ExpressionArchiveError) -> Expression.SetOperation {
        let type = try integer("NSExpressionType", of: reference)
        guard let operation = Expression.SetOperation(rawValue: type) else {
            throw malformed("has the unknown type \(type)", reference)
        }
        return operation
    }
}

/// `NSExpressionType`, as `NSExpressionType` fields hold it.
enum ExpressionType {
    static let constant = 0
    static let evaluatedObject = 1
    static let variable = 2
    static let keyPath = 3
    static let function = 4
    static let keyPathSpecifier = 10
    static let symbol = 11
    static let subquery = 13
    static let aggregate = 14
    static let conditional = 20
    static let fetch = 50
}
