import CausewayEvaluation
import CausewayModel
import CausewayPlanning

/// Deleting, with the delete rules of the model.
extension ObjectContext {
    /// Objects that one deletion may reach through cascades: bounds memory; a larger tree is deleted from its leaves.
    private static let cascadeLimit = 100_000

    func delete(_ object: ObjectID) throws(ObjectError) {
        try requireChangeable(object)
        _ = try locate(object)
        let doomed = try cascade(from: object)
        let known = Set(doomed)
        // Before anything is changed: a deletion that is denied leaves no trace.
        for object in doomed { try requireAllowed(object, doomed: known) }
        for object in doomed { try endLinks(of: object) }
        for object in doomed { try erase(object) }
    }

    /// The object, and the objects that are deleted with it.
    private func cascade(from object: ObjectID) throws(ObjectError) -> [ObjectID] {
        var doomed: [ObjectID] = [object]
        var known: Set<ObjectID> = [object]
        var index = 0
        while index < doomed.count {
            for (place, relationship) in relationships(of: doomed[index]) where relationship.deleteRule == .cascade {
                for next in try members(of: place, doomed[index]) where known.insert(next).inserted {
                    doomed.append(next)
                }
            }
            guard doomed.count <= Self.cascadeLimit else {
                throw ObjectError(
                    .denied,
                    "\(name(object)): deleting it reaches more than \(Self.cascadeLimit) objects; delete them first")
            }
            index += 1
        }
        return doomed
    }

    private func requireAllowed(_ object: ObjectID, doomed: Set<ObjectID>) throws(ObjectError) {
        for (place, relationship) in relationships(of: object) where relationship.deleteRule == .deny {
            guard try members(of: place, object).allSatisfy({ doomed.contains($0) }) else {
                throw ObjectError(
                    .denied, "\(name(object)).\(relationship.name) has members, and its delete rule denies deleting it")
            }
        }
    }

    /// Other rows' keys become NULL, and links in join tables end, whatever the delete rule: the row was their other
    /// end.
    private func endLinks(of object: ObjectID) throws(ObjectError) {
        for (place, relationship) in relationships(of: object) {
            if case .join(let link) = place {
                linkChanges.append(.removeAll(link, mine: try reference(object)))
                continue
            }
            guard relationship.deleteRule != .noAction else { continue }
            if case .toOne(let link) = place, link.oneToOneInverse == nil { continue }
            for member in try members(of: place, object) { try removeMember(member, from: place, of: object) }
        }
    }

    private func relationships(of object: ObjectID) -> [(place: PropertyStorage, relationship: Relationship)] {
        map.schema.names.indices.compactMap { index in
            guard let place = map.place(of: .init(index: index), entity: object.entity),
                let relationship = place.relationship
            else { return nil }
            return (place, relationship)
        }
    }

    /// Existing members: a dangling key has nothing to end.
    private func members(of place: PropertyStorage, _ object: ObjectID) throws(ObjectError) -> [ObjectID] {
        guard case .toOne(let link) = place else { return try targets(of: place, in: object) }
        guard let target = try target(of: link, in: object) else { return [] }
        if statements != nil, try !exists(target) { return [] }
        return [target]
    }

    private func erase(_ object: ObjectID) throws(ObjectError) {
        let (table, row) = try locate(object)
        if case .writable(let keys, _) = mode, !tables[table].states[row].contains(.inserted) {
            keys.rowCounts[object.entity, default: 0] -= 1
        }
        tables[table].remove(row)
        deletions += 1
    }
}

extension PropertyStorage {
    var relationship: Relationship? {
        switch self {
        case .toOne(let link): link.relationship
        case .toMany(let link): link.relationship
        case .join(let link): link.relationship
        case .attribute, .composite, .none: nil
        }
    }
}
