package import CausewayExpressions

// Finds the calls in expressions that name entities and entity mappings.

/// Selectors of the migration manager that mapping models call (InsideCoreDataMigration §§1, 3).
enum ManagerSelector {
    static let fetchRequest = "fetchRequestForSourceEntityNamed:predicateString:"
    static let fetchRequestWithSubentities = "fetchRequestForSourceEntityNamed:predicateString:includesSubentities:"
    static let instancesForMapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    static let instancesForRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
}

extension Expression {
    static let source = Expression.variable("source")
    static let manager = Expression.variable("manager")

    /// `$source.path`.
    static func source(_ path: String) -> Expression { .keyPath(operand: .source, path: path) }

    /// Whether a look-up through the migration manager is part of it. A fetch of source rows isn't one, though it names
    /// the manager twice: for its request and for the source's context.
    package var callsManager: Bool {
        var mentions = 0
        visit {
            switch $0 {
            case .manager: mentions += 1
            case .fetch(let request, let context, _):
                if case .function(.variable("manager")?, let name, _) = request,
                    [ManagerSelector.fetchRequest, ManagerSelector.fetchRequestWithSubentities].contains(name)
                {
                    mentions -= 1
                }
                if case .keyPath(.variable("manager"), _) = context { mentions -= 1 }
            default: break
            }
        }
        return mentions > 0
    }

    /// Whether it reads nothing but the source row and what that row leads to.
    package var readsSourceAlone: Bool { Self.areSourceAlone { visit($0) } }

    /// Variables of Core Data's own, which a SUBQUERY may hide.
    private static let known: Set<String> = [
        "source", "destination", "manager", "entityPolicy", "entityMapping", "propertyMapping",
    ]

    fileprivate static func areSourceAlone(_ visit: ((Expression) -> Void) -> Void) -> Bool {
        var (read, bound): (Set<String>, Set<String>) = ([], [])
        visit {
            switch $0 {
            case .variable(let name): read.insert(name)
            case .subquery(_, let variable, _): bound.insert(variable)
            default: break
            }
        }
        return bound.isDisjoint(with: known) && read.subtracting(bound).isSubset(of: ["source"])
    }

    /// Names of the source row's own properties, where it reads nothing else; nil where it does.
    package var keysOfSourceRow: Set<String>? { keysOfSourceRow() }

    /// The same where code may be called.
    ///
    /// - Parameter variables: what stands for code, and counts as nothing that is read.
    /// - Returns: nil where it reads more.
    package func keysOfSourceRow(besides variables: Set<String> = []) -> Set<String>? {
        Self.keysOfSourceRow(besides: variables) { visit($0) }
    }

    fileprivate static func keysOfSourceRow(
        besides variables: Set<String>, _ visit: ((Expression) -> Void) -> Void
    ) -> Set<String>? {
        var keys: Set<String> = []
        // Mentions of the row itself, but for those that read a property of it.
        var mentions = 0
        visit {
            switch $0 {
            case .variable(let name) where variables.contains(name): break
            case .variable, .evaluatedObject, .subquery, .fetch: mentions += 1
            case .keyPath(.variable("source"), let path), .keyPath(.evaluatedObject, let path):
                keys.insert(path)
                mentions -= 1
            case .function(.variable("source")?, "valueForKey:", let arguments):
                guard arguments.count == 1, let key = arguments[0].text else { break }
                keys.insert(key)
                mentions -= 1
            default: break
            }
        }
        return mentions == 0 ? keys : nil
    }

    var text: String? { if case .constant(.string(let text)) = self { text } else { nil } }

    /// The expression itself and all its parts, those in predicates included. Recurses as deep as the expression is.
    func visit(_ body: (Expression) -> Void) {
        body(self)
        switch self {
        case .evaluatedObject, .constant, .variable: break
        case .keyPath(let operand, _): operand.visit(body)
        case .function(let operand, _, let arguments):
            operand?.visit(body)
            for argument in arguments { argument.visit(body) }
        case .aggregate(let elements):
            for element in elements { element.visit(body) }
        case .subquery(let collection, _, let predicate):
            collection.visit(body)
            predicate.visit(body)
        case .fetch(let request, let context, _):
            request.visit(body)
            context.visit(body)
        case .set(_, let left, let right):
            left.visit(body)
            right.visit(body)
        case .conditional(let predicate, let then, let otherwise):
            predicate.visit(body)
            then.visit(body)
            otherwise.visit(body)
        }
    }
}

extension Predicate {
    /// Whether it reads nothing but the source row and what that row leads to.
    package var readsSourceAlone: Bool { Expression.areSourceAlone { visit($0) } }

    /// Names of the source row's own properties, where it reads nothing else; nil where it does.
    package var keysOfSourceRow: Set<String>? { keysOfSourceRow() }

    /// The same where code may be called, for which these variables stand.
    package func keysOfSourceRow(besides variables: Set<String> = []) -> Set<String>? {
        Expression.keysOfSourceRow(besides: variables) { visit($0) }
    }

    /// The expressions in the predicate with all their parts.
    func visit(_ body: (Expression) -> Void) {
        switch self {
        case .literal: break
        case .comparison(let comparison):
            comparison.left.visit(body)
            comparison.right.visit(body)
        case .not(let term): term.visit(body)
        case .and(let terms), .or(let terms):
            for term in terms { term.visit(body) }
        }
    }
}
