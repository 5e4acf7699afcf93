import CausewayModel

extension MappingInference {
    /// The relationship mappings of a destination entity that has a source.
    ///
    /// The links of a relationship and of its inverse are one set: where only one side is found in the source (the
    /// other was renamed without an identifier, or is new), the links come through that side.
    mutating func relationships(of entity: String, from origin: String) -> [RelationshipMapping] {
        destination.storedRelationships(of: entity).map { relationship in
            let (links, asked) = links(of: relationship, entity: entity, origin: origin)
            oblige(relationship, asked, entity: entity)
            var result = RelationshipMapping(destination: relationship.name, links: links)
            if let found = matched(relationship, of: entity, origin: origin),
                isOutvoted(relationship, found, entity: entity, origin: origin)
            {
                result.outvoted = LinkSource(
                    entity: origin, relationship: found.name, isInverted: false, changesForm: true)
            }
            return result
        }
    }

    /// - Returns: the carried links, and the links that a mandatory relationship's demand is about: the same, or links
    ///   that all end.
    private mutating func links(
        of relationship: Relationship, entity: String, origin: String
    ) -> (LinkSource?, asked: LinkSource?) {
        guard let found = matched(relationship, of: entity, origin: origin) else {
            let links = inverseLinks(of: relationship, seenBy: entity, origin: origin)
            if links == nil, source.attribute(relationship.renamingIdentifier ?? relationship.name, of: origin) != nil,
                !startsEmpty(relationship.name, in: entity)
            {
                refuse(.attributeBecameRelationship, entity, relationship.name)
            }
            return (links, links)
        }
        if isOutvoted(relationship, found, entity: entity, origin: origin) {
            let links = inverseLinks(of: relationship, seenBy: entity, origin: origin)
            return (links, links)
        }
        var links = LinkSource(entity: origin, relationship: found.name, isInverted: false, changesForm: false)
        let fate = fate(of: found, becoming: relationship)
        if !fate.ended.isEmpty, relationship.isToMany || relationship.isOptional {
            let owner = destination.relationship(relationship.name, of: entity)?.owner ?? entity
            endings.append(
                LinkEnding(
                    step: step, entity: owner, relationship: relationship.name, leadsTo: relationship.destination,
                    links: links, targets: fate.ended))
        }
        links.ended = fate.ended.union(dropped(kindOf: found.destination))
        // If none of its links can stay, the relationship counts as new.
        if fate.targets > 0, fate.ended.count == fate.targets {
            let others = inverseLinks(of: relationship, seenBy: entity, origin: origin)
            return (others, others ?? links)
        }
        if form(found, in: source).isManyToMany, form(relationship, in: destination).isOneToOne {
            refuse(.manyToManyBecameOneToOne, entity, relationship.name, from: found.name)
        }
        if form(relationship, in: destination).isOneToOne, let other = otherPartner(of: relationship, found, origin) {
            refuse(.inverseContinuesOther(other), entity, relationship.name, from: found.name)
        }
        let several = several(inverseTo: relationship, leadingTo: origin)
        links.isPartial = !several.isEmpty
        // A to-one's cell is the only place for its links.
        if links.isPartial, !relationship.isToMany {
            refuse(.severalLinks(several), entity, relationship.name, from: found.name)
        }
        links.changesForm = form(found, in: source) != form(relationship, in: destination)
        let room = destination.room(for: relationship)
        links.narrowings = LinkNarrowing.between(source.room(for: found), room)
        links.countsFarColumn = source.countsFarColumn(of: found, movingTo: room)
        links.keepsFirst = keepsFirst(relationship, otherEnd: source.inverse(of: found)?.relationship)
        return (links, links)
    }

    /// Whether only the first of several rows with a link to one object keeps it (`LinkSource.keepsFirst`); `otherEnd`
    /// is the source's relationship at that object.
    func keepsFirst(_ relationship: Relationship, otherEnd: Relationship?) -> Bool {
        guard !relationship.isToMany, let inverse = destination.inverse(of: relationship)?.relationship,
            !inverse.isToMany, !inverse.isTransient
        else { return false }
        return otherEnd.map { $0.isToMany || $0.isTransient } ?? true
    }

    /// Whether it was settled that a property is new, though the source has one of its name of another kind.
    mutating func startsEmpty(_ property: String, in entity: String) -> Bool {
        guard settledOrigin(of: property, in: entity) == "" else { return false }
        noteSettled(property, in: entity)
        return true
    }

    /// The fate of links, by their old targets and the relationship's new destination.
    private mutating func fate(of found: Relationship, becoming relationship: Relationship) -> LinkFate {
        let place = LinkFate.Place(before: found.destination, after: relationship.destination)
        if let known = fates[place] { return known }
        let targets = targets(of: found)
        let ended = targets.filter { !destination.isKind($0.target, of: relationship.destination) }.map(\.origin)
        let fate = LinkFate(targets: targets.count, ended: Set(ended))
        fates[place] = fate
        return fate
    }

    /// A mandatory to-one needs a link in every row, one that stays. If the source's relationship was a mandatory
    /// to-one, its rows have one. To-manys aren't checked: the app checks their minimum when it saves.
    private mutating func oblige(_ relationship: Relationship, _ links: LinkSource?, entity: String) {
        guard !relationship.isToMany, !relationship.isOptional else { return }
        var obligation = Obligation(
            step: step, entity: entity, property: relationship.name, leadsTo: relationship.destination, .newToOne,
            demand: .noRows)
        if let links {
            let old = source.relationship(links.relationship, of: links.entity)?.relationship
            let mine = links.isInverted ? old.flatMap { source.inverse(of: $0)?.relationship } : old
            if mine.map({ $0.isOptional || $0.isToMany }) ?? true {
                (obligation.change, obligation.demand) = (.tightenedToOne, .noMissing(links: links))
            } else if links.keepsFirst {
                (obligation.change, obligation.demand) = (.sharedToOne, .noMissing(links: links))
            } else {
                guard !links.ended.isEmpty else { return }
                (obligation.change, obligation.demand) = (.cutToOne, .noEnding(links: links))
            }
        }
        obligations.append(obligation)
    }

    /// The source relationship that matches by name or renaming identifier, if it is stored.
    mutating func matched(_ relationship: Relationship, of entity: String, origin: String) -> Relationship? {
        let known = relationshipMatches[entity] ?? relationshipMatch(of: entity, from: origin)
        relationshipMatches[entity] = known
        for conflict in known.match.conflicts where conflict.destinations.contains(relationship.name) {
            refuse(
                .ambiguousRenaming(source: conflict.source, claimants: conflict.destinations), entity,
                relationship.name)
        }
        return known.sources[relationship.name]
    }

    mutating func relationshipMatch(of entity: String, from origin: String) -> RelationshipMatch {
        let result = RelationshipMatch(
            source, origin, destination, entity, settled: { settledOrigin(of: $0, in: entity) })
        for name in result.match.settled { noteSettled(name, in: entity) }
        return result
    }

    func form(_ relationship: Relationship, in model: ManagedObjectModel) -> LinkForm {
        let inverse = model.inverse(of: relationship)?.relationship
        return LinkForm(
            isToMany: relationship.isToMany, isOrdered: relationship.isOrdered,
            inverseIsToMany: inverse?.isToMany, inverseIsOrdered: inverse?.isOrdered)
    }
}

/// The fate of a relationship's links.
struct LinkFate {
    struct Place: Hashable {
        var before: String
        var after: String
    }

    /// Entities whose rows it may hold.
    var targets: Int
    /// Those among them to which links end.
    var ended: Set<String>
}

/// What determines how a set of links is stored.
struct LinkForm: Hashable {
    var isToMany: Bool
    var isOrdered: Bool
    var inverseIsToMany: Bool?
    var inverseIsOrdered: Bool?

    var isManyToMany: Bool { isToMany && inverseIsToMany == true }
    var isOneToOne: Bool { !isToMany && inverseIsToMany == false }

    /// The same links seen from the other side; a missing inverse counts as an unordered to-many.
    var flipped: LinkForm {
        LinkForm(
            isToMany: inverseIsToMany ?? true, isOrdered: inverseIsOrdered ?? false, inverseIsToMany: isToMany,
            inverseIsOrdered: isOrdered)
    }
}

/// The stored relationships of one destination entity with those of its source that they continue.
struct RelationshipMatch {
    let match: RenamingMatch
    /// By the destination's name.
    let sources: [String: Relationship]

    init(
        _ source: ManagedObjectModel, _ origin: String, _ destination: ManagedObjectModel, _ entity: String,
        settled: (String) -> String?
    ) {
        let before = source.storedRelationships(of: origin)
        let match = RenamingMatch(
            source: before.map { .init($0) },
            destination: destination.storedRelationships(of: entity).map { .init($0) }, origin: settled)
        self.match = match
        let byName = Dictionary(before.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        sources = match.sources.compactMapValues { byName[$0] }
    }
}
