package import CausewayPlist

extension Expression {
    /// Writes the expression as Foundation archives an `NSExpression`; what `init(archive:at:)` reads.
    ///
    /// Throws `unsupported` for a foreign constant, `malformed` for a constant whose value isn't one (a UUID that
    /// doesn't have 16 bytes). Recurses as deep as the expression is.
    package func archive(
        into writer: inout KeyedArchiveWriter
    ) throws(ExpressionArchiveError) -> KeyedArchiveWriter.Reference {
        switch self {
        case .evaluatedObject: return writer.expression("NSSelfExpression", ExpressionType.evaluatedObject, [])
        case .constant(.null):
            return writer.expression(
                "NSConstantValueExpression", ExpressionType.constant, [("NSConstantValueClassName", .null)])
        case .constant(let constant):
            let value = try constant.archive(into: &writer)
            return writer.expression(
                "NSConstantValueExpression", ExpressionType.constant, [("NSConstantValue", .reference(value))])
        case .variable(let name):
            let name = writer.string(name)
            return writer.expression(
                "NSVariableExpression", ExpressionType.variable, [("NSVariable", .reference(name))])
        case .keyPath(let operand, let path): return try Self.archiveKeyPath(operand, path, into: &writer)
        case .function(let operand, let name, let arguments):
            if let symbol {
                let token = writer.string(symbol)
                return writer.expression(
                    "NSSymbolicExpression", ExpressionType.symbol, [("NSToken", .reference(token))])
            }
            return try Self.archiveFunction(operand, name, arguments, into: &writer)
        case .aggregate(let elements):
            let collection = writer.array(try Self.archive(elements, into: &writer))
            return writer.expression(
                "NSAggregateExpression", ExpressionType.aggregate, [("NSCollection", .reference(collection))])
        case .set(let operation, let left, let right):
            let fields: [KeyedArchiveWriter.NamedField] = [
                ("NSLeftExpression", .reference(try left.archive(into: &writer))),
                ("NSRightExpression", .reference(try right.archive(into: &writer))),
            ]
            return writer.expression("NSSetExpression", operation.rawValue, fields)
        case .subquery, .fetch, .conditional: return try archiveQuery(into: &writer)
        }
    }

    private func archiveQuery(
        into writer: inout KeyedArchiveWriter
    ) throws(ExpressionArchiveError) -> KeyedArchiveWriter.Reference {
        switch self {
        case .subquery(let collection, let variable, let predicate):
            let fields: [KeyedArchiveWriter.NamedField] = [
                ("NSExpression", .reference(try collection.archive(into: &writer))),
                ("NSVariable", .reference(writer.string(variable))),
                ("NSSubpredicate", .reference(try predicate.archive(into: &writer))),
            ]
            return writer.expression("NSSubqueryExpression", ExpressionType.subquery, fields)
        case .fetch(let request, let context, let countOnly):
            let fields: [KeyedArchiveWriter.NamedField] = [
                ("NSFRExpression", .reference(try request.archive(into: &writer))),
                ("NSMOCExpression", .reference(try context.archive(into: &writer))),
                ("NSCountOnlyFlag", .boolean(countOnly)),
            ]
            return writer.expression("NSFetchRequestExpression", ExpressionType.fetch, fields)
        case .conditional(let predicate, let then, let otherwise):
            let fields: [KeyedArchiveWriter.NamedField] = [
                ("NSPredicate", .reference(try predicate.archive(into: &writer))),
                ("NSTrueExpression", .reference(try then.archive(into: &writer))),
                ("NSFalseExpression", .reference(try otherwise.archive(into: &writer))),
            ]
            return writer.expression("NSTernaryExpression", ExpressionType.conditional, fields)
        default: return try archive(into: &writer)
        }
    }

    /// A bare key path has type 3 and asks `valueForKey:` for a single key; one on anything else is a call (type 4).
    private static func archiveKeyPath(
        _ operand: Expression, _ path: String, into writer: inout KeyedArchiveWriter
    ) throws(ExpressionArchiveError) -> KeyedArchiveWriter.Reference {
        let isBare = operand == .evaluatedObject
        let target = try operand.archive(into: &writer)
        let selector = writer.string(isBare && !path.contains(".") ? "valueForKey:" : "valueForKeyPath:")
        let text = writer.string(path)
        let specifier = writer.expression(
            "NSKeyPathSpecifierExpression", ExpressionType.keyPathSpecifier, [("NSKeyPath", .reference(text))])
        let arguments = writer.mutableArray([specifier])
        return writer.expression(
            "NSKeyPathExpression", isBare ? ExpressionType.keyPath : ExpressionType.function,
            [
                ("NSOperand", .reference(target)), ("NSSelectorName", .reference(selector)),
                ("NSArguments", .reference(arguments)),
            ], superclasses: ["NSFunctionExpression"])
    }

    private static func archiveFunction(
        _ operand: Expression?, _ name: String, _ arguments: [Expression], into writer: inout KeyedArchiveWriter
    ) throws(ExpressionArchiveError) -> KeyedArchiveWriter.Reference {
        let target: KeyedArchiveWriter.Reference
        if let operand {
            target = try operand.archive(into: &writer)
        } else {
            let className = writer.string("_NSPredicateUtilities")
            target = writer.expression(
                "NSConstantValueExpression", ExpressionType.constant,
                [("NSConstantValueClassName", .reference(className))])
        }
        let selector = writer.string(name)
        let list = writer.array(try archive(arguments, into: &writer))
        return writer.expression(
            "NSFunctionExpression", ExpressionType.function,
            [
                ("NSOperand", .reference(target)), ("NSSelectorName", .reference(selector)),
                ("NSArguments", .reference(list)),
            ])
    }

    private static func archive(
        _ expressions: [Expression], into writer: inout KeyedArchiveWriter
    ) throws(ExpressionArchiveError) -> [KeyedArchiveWriter.Reference] {
        var references: [KeyedArchiveWriter.Reference] = []
        references.reserveCapacity(expressions.count)
        for expression in expressions { references.append(try expression.archive(into: &writer)) }
        return references
    }
}

extension KeyedArchiveWriter {
    typealias NamedField = (name: String, value: Field)

    fileprivate mutating func expression(
        _ name: String, _ type: Int, _ fields: [NamedField], superclasses: [String] = []
    ) -> Reference {
        add(
            ArchivedClass([name] + superclasses + ["NSExpression", "NSObject"]),
            fields + [("NSExpressionType", .integer(Int64(type)))])
    }
}
