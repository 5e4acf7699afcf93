import CausewayExpressions
import CausewayModel

/// Derivations before and after their properties got other names.
extension MappingInference {
    /// Whether a derived attribute is derived as before: from the same properties, whatever they are called now. Then
    /// its values stay.
    mutating func isSame(_ old: Attribute.Derivation?, _ new: Attribute.Derivation, _ entity: String) -> Bool {
        guard let old else { return false }
        if old == new { return true }
        return old.filter == new.filter && isSame(old.expression, new.expression, from: origin, to: entity)
    }

    private mutating func isSame(_ old: Expression, _ new: Expression, from origin: String, to entity: String) -> Bool {
        switch (old, new) {
        case (.keyPath(let before, let oldPath), .keyPath(let after, let newPath)):
            return before == after && isSame(path: oldPath, newPath, from: origin, to: entity)
        case (.function(let before, let oldName, let oldArguments), .function(let after, let newName, let newArguments)):
            guard before == after, oldName == newName, oldArguments.count == newArguments.count else { return false }
            for (old, new) in zip(oldArguments, newArguments) {
                guard isSame(old, new, from: origin, to: entity) else { return false }
            }
            return true
        default: return old == new
        }
    }

    private mutating func isSame(path old: String, _ new: String, from origin: String, to entity: String) -> Bool {
        let (before, after) = (old.split(separator: ".").map(String.init), new.split(separator: ".").map(String.init))
        guard before.count == after.count else { return false }
        var place = (origin: origin, entity: entity)
        for (old, new) in zip(before, after) {
            if let relationship = destination.relationship(new, of: place.entity)?.relationship {
                guard let found = matched(relationship, of: place.entity, origin: place.origin), found.name == old,
                    entityMatch.sources[relationship.destination] == found.destination
                else { return false }
                place = (found.destination, relationship.destination)
            } else if destination.attribute(new, of: place.entity) != nil {
                let match = RenamingMatch(
                    source: source.allAttributes(of: place.origin).values.map { .init($0) },
                    destination: destination.allAttributes(of: place.entity).values.map { .init($0) })
                guard match.sources[new] == old else { return false }
            } else if old != new {
                return false
            }
        }
        return true
    }
}
