package import CausewayExpressions
import CausewayModel

// Which source rows a mapping reads (InsideCoreDataMigration §3, “Which source rows”).

extension MappingResolver {
    /// Reads the source expression, or makes one from the filter as Xcode's compiler does.
    mutating func resolveRows(_ mapping: inout EntityMappingDescription) -> SourceRows {
        guard let entity = mapping.sourceEntity else { return rowsWithoutEntity(&mapping) }
        if mapping.sourceExpression == nil, description.form != .compiled || mapping.filter != nil {
            let text = mapping.filter.flatMap { $0.isEmpty ? nil : $0 } ?? "TRUEPREDICATE"
            mapping.sourceExpression = .sourceFetch(entity: entity, filter: text)
        } else if mapping.filter != nil, description.form == .code {
            report(.contradiction, "It has both a filter and a source expression; put the filter into the expression.")
        }
        mapping.filter = nil
        guard let expression = mapping.sourceExpression else {
            return .entity(filter: nil, includesSubentities: false)
        }
        guard let fetch = SourceFetch(expression), fetch.entity == entity else { return .collection(expression) }
        return .entity(filter: filter(fetch.filter), includesSubentities: fetch.includesSubentities)
    }

    private mutating func rowsWithoutEntity(_ mapping: inout EntityMappingDescription) -> SourceRows {
        if mapping.filter != nil {
            report(.contradiction, "It has a filter but no source entity whose rows it could filter.")
        }
        guard let expression = mapping.sourceExpression else { return .none }
        if mapping.kind == .add {
            report(.contradiction, "It adds an entity, so it can't have a source expression.")
        }
        return .collection(expression)
    }

    private mutating func filter(_ text: String?) -> Predicate? {
        guard let text else { return nil }
        do {
            let predicate = try Predicate(parsing: text)
            return predicate == .literal(true) ? nil : predicate
        } catch {
            report(.malformed, "Its filter “\(text)” isn't a predicate: \(error)")
            return nil
        }
    }
}

/// A fetch of the source entity in one of the forms that Xcode writes.
package struct SourceFetch {
    package var entity: String
    /// nil is a null predicate string: all rows.
    package var filter: String?
    package var includesSubentities: Bool

    /// nil for any other expression.
    package init?(_ expression: Expression) {
        guard case .fetch(let request, let context, false) = expression, Self.isSourceContext(context),
            case .function(.variable("manager")?, let name, let arguments) = request, let entity = arguments.first?.text
        else { return nil }
        self.entity = entity
        switch (name, arguments.count) {
        case (ManagerSelector.fetchRequest, 2): includesSubentities = false
        case (ManagerSelector.fetchRequestWithSubentities, 3):
            guard let flag = Self.flag(arguments[2]) else { return nil }
            includesSubentities = flag
        default: return nil
        }
        if arguments[1] == .constant(.null) {
            filter = nil
        } else if let text = arguments[1].text {
            filter = text
        } else {
            return nil
        }
    }

    /// `$manager.sourceContext`, and the older `FUNCTION($manager, 'sourceContext')`.
    private static func isSourceContext(_ expression: Expression) -> Bool {
        expression == .keyPath(operand: .manager, path: "sourceContext")
            || expression == .function(operand: .manager, name: "sourceContext", arguments: [])
    }

    private static func flag(_ expression: Expression) -> Bool? {
        switch expression {
        case .constant(.boolean(let flag)): flag
        case .constant(.integer(let number)): number != 0
        default: nil
        }
    }
}

extension Expression {
    /// The source expression that Xcode compiles a filter to.
    static func sourceFetch(entity: String, filter: String) -> Expression {
        .fetch(
            request: .function(
                operand: .manager, name: ManagerSelector.fetchRequest,
                arguments: [.constant(.string(entity)), .constant(.string(filter))]),
            context: .keyPath(operand: .manager, path: "sourceContext"), countOnly: false)
    }
}
