import CausewayMapping
import CausewayModel

extension InferredChanges {
    mutating func compare(_ relationship: RelationshipMapping, _ from: String, _ to: String) {
        guard let (owner, new) = destination.relationship(relationship.destination, of: to) else { return }
        guard let links = relationship.links else { return begin(new, owner, from, to) }
        guard let found = source.relationship(links.relationship, of: links.entity) else { return }
        guard let (oldOwner, old) = links.isInverted ? source.inverse(of: found.relationship) : found else {
            // Only the other side existed.
            if owner == to {
                add(
                    owner, new.name, .added, to: new.words,
                    value: "the links of \(found.owner).\(found.relationship.name)")
            }
            return
        }
        continued.insert([oldOwner, old.name])
        let isMoved = successor(of: oldOwner) != owner
        guard isMoved || owner == to else { return }
        if isMoved { add(owner, new.name, .moved, from: oldOwner, to: owner) }
        if old.name != new.name { add(owner, new.name, .renamed, from: old.name, to: new.name) }
        compare(old, new, owner)
    }

    /// A relationship without links: new, or none of its links can stay.
    private mutating func begin(_ new: Relationship, _ owner: String, _ from: String, _ to: String) {
        let origin = new.renamingIdentifier ?? new.name
        let old = source.relationship(origin, of: from) ?? source.relationship(new.name, of: from)
        if let old, !old.relationship.isTransient, successor(of: old.relationship.destination) != new.destination {
            continued.insert([old.owner, old.relationship.name])
            add(
                owner, new.name, .destination, from: old.relationship.destination, to: new.destination,
                value: "its links end", content: trace?.links(of: old.relationship.name, declaredBy: old.owner))
        } else if moved.contains([owner, new.name]) {
            // What is moved is told once.
        } else if owner == to || mapping.mapping(to: owner)?.source == nil {
            add(owner, new.name, .added, to: new.words)
        }
    }

    private mutating func compare(_ old: Relationship, _ new: Relationship, _ owner: String) {
        let name = new.name
        if let before = successor(of: old.destination), before != new.destination {
            add(
                owner, name, .destination, from: old.destination, to: new.destination,
                value: destination.isKind(before, of: new.destination) ? nil : "links to other objects end")
        }
        if old.cardinality != new.cardinality {
            add(owner, name, .cardinality, from: old.cardinality, to: new.cardinality)
        }
        if old.isOptional, !new.isOptional { add(owner, name, .mandatory) }
        if !old.isOptional, new.isOptional { add(owner, name, .optional) }
        let (before, after) = (source.inverse(of: old), destination.inverse(of: new))
        if (before == nil) != (after == nil) {
            add(
                owner, name, .inverse, from: before.map { "\($0.owner).\($0.relationship.name)" },
                to: after.map { "\($0.owner).\($0.relationship.name)" })
        }
        if old.deleteRule != new.deleteRule {
            add(owner, name, .deleteRule, from: old.deleteRule.word, to: new.deleteRule.word)
        }
        if old.versionHashModifier != new.versionHashModifier {
            add(owner, name, .hashModifier, from: old.versionHashModifier, to: new.versionHashModifier)
        }
    }

    // MARK: - What has no place in the new version

    mutating func appendDropped() {
        // Without the mapping of earlier steps: what they added is dropped, too, though no store has it.
        let report = LossReport("", mapping: mapping, source: source, destination: destination, trace: trace)
        var links: [[String]: StoreContent] = [:]
        for loss in report.losses {
            switch loss.kind {
            case .entity(let entity): add(entity, nil, .dropped, from: "entity", content: loss.content)
            case .attribute(let entity, let path):
                add(
                    successor(of: entity) ?? entity, path, .dropped,
                    from: source.storedLeaf(path, of: entity)?.type.modelName, content: loss.content)
            case .relationship(let ends):
                for end in ends {
                    links[[end]] = loss.content
                    let entity = Self.head(end)
                    let name = String(end.dropFirst(entity.count + 1))
                    // Others of the kind keep it.
                    guard let found = source.relationship(name, of: entity),
                        found.owner != entity || continued.contains([entity, name])
                    else { continue }
                    add(
                        successor(of: entity) ?? entity, name, .dropped, from: found.relationship.words,
                        content: loss.content)
                }
            case .filtered, .furtherLinks, .furtherOwners, .unconfirmed, .order, .unreadOrder, .other: break
            }
        }
        for name in source.entitiesInStoreOrder() {
            guard let entity = source.entities[name] else { continue }
            guard let to = successor(of: name) else {
                if entity.isAbstract { add(name, nil, .dropped, from: "abstract entity") }
                continue
            }
            appendDerived(entity, to)
            for relationship in entity.relationships
            where !relationship.isTransient && !continued.contains([name, relationship.name]) {
                add(
                    to, relationship.name, .dropped, from: relationship.words,
                    content: links[["\(name).\(relationship.name)"]])
            }
        }
    }

    /// Derived attributes hold nothing of their own, and so are no loss.
    private mutating func appendDerived(_ entity: Entity, _ to: String) {
        for attribute in entity.attributes
        where attribute.derivation != nil && destination.attribute(attribute.name, of: to) == nil {
            add(to, attribute.name, .dropped, from: "derived \(attribute.type.modelName)")
        }
    }
}
