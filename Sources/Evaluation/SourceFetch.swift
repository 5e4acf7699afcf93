package import CausewayExpressions

/// Which rows an entity mapping reads: the meaning of its source expression,
/// `FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", entity, filter), context, NO)`
/// (InsideCoreDataMigration §3).
package struct SourceFetch: Hashable, Sendable {
    package var entity: String
    package var predicate: Predicate
    /// False for Xcode's form: an inheritance tree has one mapping per entity.
    package var includesSubentities: Bool

    package init(entity: String, predicate: Predicate = .literal(true), includesSubentities: Bool = false) {
        self.entity = entity
        self.predicate = predicate
        self.includesSubentities = includesSubentities
    }

    /// - Throws: `CompilationError` for another expression than that, and for a filter that can't be parsed.
    package init(_ expression: Expression) throws(CompilationError) {
        do throws(CompilationError) {
            self = try Self.reading(expression)
        } catch {
            throw error.located(in: expression.formatString)
        }
    }

    private static func reading(_ expression: Expression) throws(CompilationError) -> SourceFetch {
        guard case .fetch(let request, _, countOnly: false) = expression else { throw notUnderstood }
        guard case .function(.variable("manager")?, let selector, let arguments) = request else { throw notUnderstood }
        switch (selector, arguments.count) {
        case ("fetchRequestForSourceEntityNamed:predicateString:", 2),
            ("fetchRequestForSourceEntityNamed:predicateString:includesSubentities:", 3):
            break
        default:
            throw CompilationError(
                .unknownFunction,
                "The function `\(selector)` is the app's own, and its fetch can't be known: "
                    + "give the mapping an entity and a filter", name: selector)
        }
        guard case .constant(.string(let entity)) = arguments[0], case .constant(let filter) = arguments[1] else {
            throw notUnderstood
        }
        var fetch = SourceFetch(entity: entity)
        switch filter {
        case .null: break
        case .string(let text):
            do throws(ExpressionSyntaxError) {
                fetch.predicate = try Predicate(parsing: text)
            } catch {
                throw CompilationError(.unsupported, "The filter “\(text)” can't be read: \(error)")
            }
        default: throw notUnderstood
        }
        if arguments.count == 3 {
            switch arguments[2] {
            case .constant(.boolean(let flag)): fetch.includesSubentities = flag
            case .constant(.integer(let flag)): fetch.includesSubentities = flag != 0
            default: throw notUnderstood
            }
        }
        return fetch
    }

    private static let notUnderstood = CompilationError(
        .unsupported,
        "The source expression isn't a fetch of one entity with a filter: give the mapping an entity and "
            + "a filter")
}
