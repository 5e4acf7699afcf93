package import CausewayMapping
package import CausewayModel

/// What one inferred step drops of the store's content: nothing is dropped silently. Content that a step in between
/// added isn't a loss.
package struct LossReport {
    package private(set) var losses: [Loss] = []
    private var told: Set<Loss.Kind> = []

    /// For people: `V1 → V2`.
    private let step: String
    private let mapping: MappingModel
    private let source: ManagedObjectModel
    private let destination: ManagedObjectModel
    /// How the store's own version became the step's source; nil where that is the store's version.
    private let before: MappingModel?
    /// Where the store has what the step reads; nil where it can't be followed.
    private let trace: ContentTrace?

    /// `step` is its versions as the sentences name it; `before` maps the store's own version to the step's source, nil
    /// if there are no earlier steps, and to name what they added, too; `trace` finds the store's content.
    package init(
        _ step: String, mapping: MappingModel, source: ManagedObjectModel, destination: ManagedObjectModel,
        before: MappingModel? = nil, trace: ContentTrace? = nil
    ) {
        self.step = step
        self.mapping = mapping
        self.source = source
        self.destination = destination
        self.before = before
        self.trace = trace
        for entity in mapping.entityMappings where entity.destination == nil {
            guard let name = entity.source, isOfStore(name), source.entities[name]?.isAbstract == false
            else { continue }
            add(.entity(name), trace?.rows(of: name))
        }
        appendAttributes()
        appendLinks()
    }

    private mutating func add(_ kind: Loss.Kind, _ content: StoreContent? = nil) {
        // Both sides of a relationship may give the same one.
        guard told.insert(kind).inserted else { return }
        losses.append(Loss(step: step, kind, content: content))
    }

    // MARK: - What is the store's own

    private func isOfStore(_ entity: String) -> Bool {
        before?.mapping(to: entity).map { $0.source != nil } ?? true
    }

    private func isOfStore(attribute path: String, of entity: String) -> Bool {
        guard let value = before?.mapping(to: entity)?.attribute(path)?.value else { return before == nil }
        return if case .carried = value { true } else { false }
    }

    private func isOfStore(relationship name: String, of entity: String) -> Bool {
        guard let before else { return true }
        return before.mapping(to: entity)?.relationship(name)?.links != nil
    }

    // MARK: - Attributes

    /// An attribute is named once: by the entity that declares it if all its rows lose it, else by those that do.
    private mutating func appendAttributes() {
        var dropped: [String: [(path: String, rows: [String])]] = [:]
        let rows = rowsByAncestor()
        for owner in source.entitiesInStoreOrder() {
            let rows = rows[owner] ?? []
            for stored in source.storedAttributes(of: owner) where stored.attribute.derivation == nil {
                let name = String(stored.path.prefix { $0 != "." })
                guard source.owner(ofAttribute: name, seenBy: owner) == owner else { continue }
                let losing = rows.filter {
                    !$0.kept.contains(stored.path) && isOfStore(attribute: stored.path, of: $0.entity)
                }
                guard !losing.isEmpty else { continue }
                let entities = losing.map(\.entity)
                if losing.count == rows.count {
                    dropped[owner, default: []].append((stored.path, entities))
                } else {
                    for entity in entities { dropped[entity, default: []].append((stored.path, [entity])) }
                }
            }
        }
        for entity in source.entitiesInStoreOrder() {
            for (path, rows) in dropped[entity] ?? [] {
                add(.attribute(entity: entity, path: path), trace?.values(of: path, in: rows))
            }
        }
    }

    /// The source's entities whose rows stay, and the attributes that they keep, by each of their ancestors.
    private func rowsByAncestor() -> [String: [(entity: String, kept: Set<String>)]] {
        var result: [String: [(entity: String, kept: Set<String>)]] = [:]
        for entity in mapping.entityMappings {
            guard let name = entity.source, entity.destination != nil, source.entities[name]?.isAbstract == false,
                isOfStore(name)
            else { continue }
            var kept: Set<String> = []
            for attribute in entity.attributes {
                if case .carried(let origin, _, _) = attribute.value { kept.insert(origin) }
            }
            for ancestor in source.kinds(of: name) { result[ancestor, default: []].append((name, kept)) }
        }
        return result
    }

    // MARK: - Links

    private mutating func appendLinks() {
        var kept: Set<[String]> = []
        for entity in mapping.entityMappings {
            guard let to = entity.destination else { continue }
            for relationship in entity.relationships {
                appendOutvoted(relationship, of: to, in: &kept)
                guard let links = relationship.links, let found = keep(links, in: &kept) else { continue }
                appendNarrowing(links, found, to: to, relationship.destination)
            }
            // Only the rows tell whether these lose anything: the check of the rows counts them.
            for ending in entity.endings { _ = keep(ending.links, in: &kept) }
            for obligation in entity.obligations {
                switch obligation.demand {
                case .noMissing(let links), .noEnding(let links): _ = keep(links, in: &kept)
                case .noRows, .noNulls: break
                }
            }
        }
        let targets = possibleTargets()
        for name in source.entitiesInStoreOrder() {
            guard mapping.mapping(from: name)?.destination != nil else { continue }
            for relationship in source.entities[name]?.relationships ?? []
            // Links that are dropped with the rows at their other end are reported with these.
            where !relationship.isTransient && !kept.contains([name, relationship.name])
                && targets.contains(relationship.destination) && isOfStore(relationship: relationship.name, of: name)
            {
                kept.insert([name, relationship.name])
                var ends = ["\(name).\(relationship.name)"]
                // Both sides are one set of links.
                if let inverse = source.inverse(of: relationship), !inverse.relationship.isTransient {
                    if kept.contains([inverse.owner, inverse.relationship.name]) { continue }
                    kept.insert([inverse.owner, inverse.relationship.name])
                    ends.append("\(inverse.owner).\(inverse.relationship.name)")
                }
                add(.relationship(ends), trace?.links(of: relationship.name, declaredBy: name))
            }
        }
        appendLeftBehind()
    }

    /// Links of entities that have a relationship no more, though others of its owner's kind keep it: it was pushed
    /// down, or they have left the hierarchy.
    private mutating func appendLeftBehind() {
        let carriers = LinkCarriers(mapping, source, destination)
        for owner in source.entitiesInStoreOrder() {
            for relationship in source.entities[owner]?.relationships ?? [] where !relationship.isTransient {
                let rows = source.entityAndSubentities(of: owner).filter { entity in
                    source.entities[entity]?.isAbstract == false && mapping.mapping(from: entity)?.destination != nil
                        && isOfStore(entity) && isOfStore(relationship: relationship.name, of: entity)
                }
                let fates = rows.map { carriers.fate(of: relationship, declaredBy: owner, in: $0) }
                // What all lose is told for the relationship.
                guard fates.contains(where: { $0 != .lost }) else { continue }
                let told = areToldElsewhere(relationship, carriers)
                for (entity, fate) in zip(rows, fates).sorted(by: { ManagedObjectModel.entityOrder($0.0, $1.0) })
                where fate == .lost || (fate == .ended && !told) {
                    add(
                        .relationship(["\(entity).\(relationship.name)"]),
                        trace?.links(of: relationship.name, in: [entity]))
                }
            }
        }
    }

    /// Whether the check of the rows counts all links that end, at their other end: each of its rows has them still,
    /// and one column holds them.
    private func areToldElsewhere(_ relationship: Relationship, _ carriers: LinkCarriers) -> Bool {
        guard let inverse = source.inverse(of: relationship), !inverse.relationship.isTransient,
            relationship.isToMany || inverse.relationship.isToMany
        else { return false }
        return source.entityAndSubentities(of: inverse.owner).allSatisfy { entity in
            source.entities[entity]?.isAbstract != false || mapping.mapping(from: entity)?.destination == nil
                || carriers.fate(of: inverse.relationship, declaredBy: inverse.owner, in: entity) == .kept
        }
    }

    /// Source entities whose rows stay as targets of links: those that are kept, with their ancestors.
    private func possibleTargets() -> Set<String> {
        var result: Set<String> = []
        for entity in mapping.entityMappings where entity.destination != nil {
            guard let name = entity.source, source.entities[name]?.isAbstract == false else { continue }
            result.formUnion(source.kinds(of: name))
        }
        return result
    }

    /// Marks both sides of a relationship of the source as kept.
    private func keep(_ links: LinkSource, in kept: inout Set<[String]>) -> Relationship? {
        guard let found = source.relationship(links.relationship, of: links.entity) else { return nil }
        kept.insert([found.owner, found.relationship.name])
        if let inverse = source.inverse(of: found.relationship) {
            kept.insert([inverse.owner, inverse.relationship.name])
        }
        return found.relationship
    }

    /// Tells where the destination has less room for a set of links than the source.
    private mutating func appendNarrowing(_ links: LinkSource, _ found: Relationship, to entity: String, _ name: String)
    {
        // It may have the links of subentities only, whose relationship has moved up: it's told once, for its owner.
        guard links.changesForm, let (entity, new) = destination.relationship(name, of: entity),
            isOfStore(relationship: links.relationship, of: links.entity)
        else { return }
        let inverse = destination.inverse(of: new).flatMap { $0.relationship.isTransient ? nil : $0 }
        let place = "\(entity).\(name)"
        for narrowing in links.narrowings {
            let kind: Loss.Kind =
                narrowing.isFar == links.isInverted
                ? .furtherLinks(place)
                : inverse.map { .furtherLinks("\($0.owner).\($0.relationship.name)") } ?? .furtherOwners(place)
            let trace = trace ?? ContentTrace(store: source, source: source, before: nil)
            let content = trace.furtherLinks(of: found.name, declaredBy: links.entity, isFar: narrowing.isFar)
            let isNew = !told.contains(kind)
            add(kind, self.trace == nil ? nil : content)
            if isNew, self.trace == nil { losses[losses.count - 1].contentOfStep = content }
        }
        appendUnconfirmed(links, found)
        let mine = links.isInverted ? source.inverse(of: found)?.relationship : found
        if mine?.isOrdered ?? false, !new.isOrdered { add(.order(place)) }
    }

    /// Two relationships without inverse are one set of links now: those of one count.
    private mutating func appendOutvoted(
        _ relationship: RelationshipMapping, of entity: String, in kept: inout Set<[String]>
    ) {
        guard let outvoted = relationship.outvoted, let links = relationship.links, keep(outvoted, in: &kept) != nil,
            isOfStore(relationship: outvoted.relationship, of: outvoted.entity),
            let (owner, new) = destination.relationship(relationship.destination, of: entity),
            let inverse = destination.inverse(of: new)
        else { return }
        add(
            .unconfirmed("\(owner).\(new.name)", inverse: "\(inverse.owner).\(inverse.relationship.name)"),
            trace?.links(
                of: outvoted.relationship, declaredBy: outvoted.entity, lackedBy: links.relationship, of: links.entity))
    }

    /// Both ends of a one-to-one have a column, which may disagree: the destination has the links of one.
    private mutating func appendUnconfirmed(_ links: LinkSource, _ found: Relationship) {
        guard let countsFar = links.countsFarColumn, let far = source.inverse(of: found),
            let near = source.relationship(found.name, of: links.entity)
        else { return }
        let (lost, kept) = countsFar ? (near, far) : (far, near)
        add(
            .unconfirmed(
                "\(lost.owner).\(lost.relationship.name)", inverse: "\(kept.owner).\(kept.relationship.name)"),
            trace?.links(
                of: lost.relationship.name, declaredBy: lost.owner, lackedBy: kept.relationship.name, of: kept.owner))
    }
}
