import CausewayModel

/// Links that are found through the inverse.
extension MappingInference {
    /// Links found through the inverse: the inverse has a source relationship which itself leads to this entity's
    /// source. If it leads to subentities only, rows of the source itself have no such link, even if the cell has
    /// content.
    ///
    /// The entity that declares the inverse may be new, or get it from a subentity: then its subentities tell what it
    /// continues.
    mutating func inverseLinks(of relationship: Relationship, seenBy entity: String, origin: String) -> LinkSource? {
        guard let inverse = destination.inverse(of: relationship), !inverse.relationship.isTransient else { return nil }
        let found = continued(by: inverse, leadingTo: origin).filter { found in
            // Matched from the other side by its own inverse: then those links belong to another relationship.
            guard let old = source.inverse(of: found.relationship)?.relationship, !old.isTransient else { return true }
            return !claims(old, inverse, besides: relationship)
        }
        // A to-many with an inverse has no cells of its own: the inverse's rows tell each its own links, in this step.
        // A later one must not take `first` for all of them (`isPartial`).
        if found.count > 1, !relationship.isToMany {
            refuse(
                .severalLinks(found.map { "\($0.owner).\($0.relationship.name)" }.sorted()), entity, relationship.name)
        }
        guard let first = found.first else { return nil }
        var links = LinkSource(
            entity: first.entity, relationship: first.relationship.name, isInverted: true,
            changesForm: form(first.relationship, in: source).flipped != form(relationship, in: destination),
            ended: dropped(kindOf: first.owner).union(left(kindOf: first.owner, by: inverse.owner)),
            isPartial: found.count > 1)
        let room = destination.room(for: inverse.relationship)
        links.narrowings = LinkNarrowing.between(source.room(for: first.relationship), room)
        links.countsFarColumn = source.countsFarColumn(of: first.relationship, movingTo: room)
        links.keepsFirst = keepsFirst(relationship, otherEnd: first.relationship)
        return links
    }

    /// The source relationships that the inverse of `relationship` continues, if they are several: the subentities' own
    /// ones, which became one of their parent.
    mutating func several(inverseTo relationship: Relationship, leadingTo origin: String) -> [String] {
        guard let inverse = destination.inverse(of: relationship), !inverse.relationship.isTransient else { return [] }
        let found = continued(by: inverse, leadingTo: origin)
        return found.count > 1 ? found.map { "\($0.owner).\($0.relationship.name)" }.sorted() : []
    }

    /// A source relationship, with the entity that declares it and one through which it is seen.
    private struct Continued {
        var owner: String
        var entity: String
        var relationship: Relationship
    }

    /// The source relationships that a destination relationship continues and that lead to an entity: that of the
    /// declaring entity, else those of its subentities.
    private mutating func continued(
        by inverse: (owner: String, relationship: Relationship), leadingTo origin: String
    ) -> [Continued] {
        if let other = entityMatch.sources[inverse.owner],
            let found = matched(inverse.relationship, of: inverse.owner, origin: other)
        {
            guard source.isKind(origin, of: found.destination) else { return [] }
            let owner = source.relationship(found.name, of: other)?.owner ?? other
            return [Continued(owner: owner, entity: other, relationship: found)]
        }
        var result: [Continued] = []
        for name in destination.entityAndSubentities(of: inverse.owner).sorted() {
            guard let other = entityMatch.sources[name],
                destination.relationship(inverse.relationship.name, of: name)?.owner == inverse.owner,
                let found = matched(inverse.relationship, of: name, origin: other),
                source.isKind(origin, of: found.destination),
                let owner = source.relationship(found.name, of: other)?.owner,
                !result.contains(where: { $0.owner == owner && $0.relationship.name == found.name })
            else { continue }
            result.append(Continued(owner: owner, entity: owner, relationship: found))
        }
        return result
    }

    /// For a one-to-one relationship: the source relationship that its inverse continues, if that isn't the other side
    /// of the links that it continues itself. Each side would keep a link that the other doesn't have.
    mutating func otherPartner(of relationship: Relationship, _ found: Relationship, _ origin: String) -> String? {
        guard let partner = source.inverse(of: found), !partner.relationship.isTransient,
            let inverse = destination.inverse(of: relationship)
        else { return nil }
        for theirs in continued(by: inverse, leadingTo: origin)
        where theirs.owner != partner.owner || theirs.relationship.name != partner.relationship.name {
            return "\(theirs.owner).\(theirs.relationship.name)"
        }
        return nil
    }

    /// Whether the links of a relationship's new inverse count instead of its own: both had no inverse, and now they
    /// are one set of links. Unless it was settled, those of the to-one count, whose rows have a column; else those of
    /// the first by name.
    mutating func isOutvoted(
        _ relationship: Relationship, _ found: Relationship, entity: String, origin: String
    ) -> Bool {
        guard let inverse = destination.inverse(of: relationship), !inverse.relationship.isTransient,
            let owner = destination.relationship(relationship.name, of: entity)?.owner,
            (owner, relationship.name) != (inverse.owner, inverse.relationship.name),
            hadNoInverse(found), let theirs = continued(by: inverse, leadingTo: origin).first,
            hadNoInverse(theirs.relationship),
            continued(by: (owner, relationship), leadingTo: theirs.entity).first?.relationship == found
        else { return false }
        for (name, entity, isOwn) in [
            (relationship.name, owner, true), (inverse.relationship.name, inverse.owner, false),
        ] {
            guard let settled = settledOrigin(of: name, in: entity),
                settled == (isOwn ? found : theirs.relationship).name
            else { continue }
            noteSettled(name, in: entity)
            return !isOwn
        }
        guard relationship.isToMany == inverse.relationship.isToMany else { return relationship.isToMany }
        return (inverse.owner, inverse.relationship.name) < (owner, relationship.name)
    }

    private func hadNoInverse(_ relationship: Relationship) -> Bool {
        source.inverse(of: relationship).map(\.relationship.isTransient) ?? true
    }

    /// Whether another destination relationship than `relationship` and its inverse continues the source relationship
    /// `old`, and may hold objects of the inverse's owner.
    private mutating func claims(
        _ old: Relationship, _ inverse: (owner: String, relationship: Relationship), besides relationship: Relationship
    ) -> Bool {
        let known = claimants ?? findClaimants()
        claimants = known
        return (known[old.name] ?? []).contains { claimant in
            claimant.relationship.name != relationship.name && claimant.relationship != inverse.relationship
                && claimant.continues == old
                && (destination.isKind(inverse.owner, of: claimant.relationship.destination)
                    || destination.isKind(claimant.relationship.destination, of: inverse.owner))
        }
    }

    private mutating func findClaimants() -> [String: Set<Claimant>] {
        var result: [String: Set<Claimant>] = [:]
        for (name, origin) in entityMatch.sources {
            for candidate in destination.storedRelationships(of: name) {
                guard let found = matched(candidate, of: name, origin: origin) else { continue }
                result[found.name, default: []].insert(Claimant(relationship: candidate, continues: found))
            }
        }
        return result
    }
}

/// A destination relationship with the source relationship that it continues. Inherited ones occur once.
struct Claimant: Hashable {
    var relationship: Relationship
    var continues: Relationship
}
