package import CausewayExpressions

extension Expression {
    /// The first keys of all key paths on the source object, and every string: `valueForKey:` takes keys as strings.
    package func collectKeys(into keys: inout Set<String>) {
        switch self {
        case .keyPath(let operand, let path):
            keys.insert(path.split(separator: ".").first.map(String.init) ?? path)
            operand.collectKeys(into: &keys)
        case .constant(.string(let text)): keys.insert(text)
        case .function(let operand, _, let arguments):
            operand?.collectKeys(into: &keys)
            for argument in arguments { argument.collectKeys(into: &keys) }
        case .aggregate(let members):
            for member in members { member.collectKeys(into: &keys) }
        case .subquery(let collection, _, let predicate):
            collection.collectKeys(into: &keys)
            predicate.collectKeys(into: &keys)
        case .set(_, let left, let right):
            left.collectKeys(into: &keys)
            right.collectKeys(into: &keys)
        case .conditional(let predicate, let yes, let no):
            predicate.collectKeys(into: &keys)
            yes.collectKeys(into: &keys)
            no.collectKeys(into: &keys)
        case .fetch, .evaluatedObject, .variable, .constant: return
        }
    }
}

extension Predicate {
    fileprivate func collectKeys(into keys: inout Set<String>) {
        switch self {
        case .literal: return
        case .comparison(let comparison):
            comparison.left.collectKeys(into: &keys)
            comparison.right.collectKeys(into: &keys)
        case .not(let predicate): predicate.collectKeys(into: &keys)
        case .and(let terms), .or(let terms):
            for term in terms { term.collectKeys(into: &keys) }
        }
    }
}
