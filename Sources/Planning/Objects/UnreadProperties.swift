package import CausewayExpressions
import CausewayMapping
import CausewayModel

/// What explicit mapping models drop: stored properties of migrated entities that none of their expressions reads.
struct UnreadProperties {
    let resolved: [ResolvedMapping]
    let source: ManagedObjectModel

    /// What one entity loses, unless these policies read it.
    struct Unread {
        var entity: String
        var names: [String]
        var policies: [String]
    }

    /// One sentence for each entity that loses something.
    var sentences: [String] {
        entities.map { unread in
            let policies = unread.policies.joined(separator: ", ")
            let unless = policies.isEmpty ? "" : ", unless \(policies) reads them"
            return "\(unread.entity): \(unread.names.joined(separator: ", ")), which no expression reads\(unless)"
        }
    }

    /// Every entity that loses something.
    var entities: [Unread] {
        var readers: [String: [ResolvedEntityMapping]] = [:]
        for mapping in resolved.flatMap(\.entityMappings) where mapping.mapping.kind != .remove {
            if let entity = mapping.mapping.sourceEntity { readers[entity, default: []].append(mapping) }
        }
        return readers.sorted { $0.key < $1.key }.compactMap { entity, mappings in
            var read: Set<String> = []
            for property in mappings.flatMap({ $0.mapping.attributeMappings + $0.mapping.relationshipMappings }) {
                property.expression?.collectKeys(into: &read)
            }
            let names = stored(entity).filter { name in !read.contains(name) }
            guard !names.isEmpty else { return nil }
            let policies = Set(mappings.compactMap(\.mapping.policyClassName)).sorted()
            return Unread(entity: entity, names: names, policies: policies)
        }
    }

    private func stored(_ entity: String) -> [String] {
        var names: [String] = []
        for ancestor in source.lineage(of: entity).reversed() {
            names += ancestor.attributes.filter { !$0.isTransient && $0.derivation == nil }.map(\.name)
            // A to-many's links are its inverse's, which is counted where it is stored.
            names += ancestor.relationships.filter { !$0.isTransient && !$0.isToMany }.map(\.name)
        }
        return names
    }
}

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
