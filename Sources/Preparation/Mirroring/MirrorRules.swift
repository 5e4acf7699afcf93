import CausewayMapping
import CausewayModel

/// What a step may not do to a store that CloudKit mirrors. A CloudKit schema in production only grows: there are no
/// new names and no new types for what is there, and a record's type is its root entity's name (InsideCoreDataMigration
/// §11).
///
/// What is removed here stays in the cloud, and so may be removed.
struct MirrorRules {
    let step: InferredStep

    /// Every reason against the step, each once, in the order of the entities' names.
    var refusals: [String] {
        var found: Set<String> = []
        for mapping in step.mapping.entityMappings {
            guard let from = mapping.source, let to = mapping.destination else { continue }
            if from != to {
                found.insert("the entity \(from) becomes \(to)")
                continue
            }
            let (before, after) = (step.source.root(of: from), step.destination.root(of: to))
            if before != after {
                found.insert("\(from) moves from the hierarchy of \(before) to that of \(after)")
            }
            for attribute in mapping.attributes { if let text = refusal(attribute, of: to) { found.insert(text) } }
            for relationship in mapping.relationships {
                if let text = refusal(relationship, of: to) { found.insert(text) }
            }
        }
        return found.sorted()
    }

    /// Reasons against what an earlier version had, too: the cloud still has it as it was. `earlier` are the versions
    /// of the path before the step's source, the oldest first.
    func returns(after earlier: [ManagedObjectModel]) -> [String] {
        var found: Set<String> = []
        for entity in step.destination.entities.keys {
            for (path, attribute) in step.destination.storedAttributes(of: entity)
            where step.source.storedLeaf(path, of: entity) == nil {
                guard let before = earlier.lazy.reversed().compactMap({ $0.storedLeaf(path, of: entity) }).first,
                    before.type != attribute.type
                else { continue }
                let name = String(path.prefix { $0 != "." })
                let owner = step.destination.owner(ofAttribute: name, seenBy: entity) ?? entity
                found.insert("the attribute \(owner).\(path) comes back with another type")
            }
        }
        return found.sorted()
    }

    private func refusal(_ attribute: AttributeMapping, of entity: String) -> String? {
        guard case .carried(let from, _, _) = attribute.value else { return nil }
        let name = attribute.destination
        let owner = step.destination.owner(ofAttribute: String(name.prefix { $0 != "." }), seenBy: entity) ?? entity
        guard from == name else { return "the attribute \(owner).\(from) becomes \(owner).\(name)" }
        guard let before = step.source.storedLeaf(from, of: entity),
            let after = step.destination.storedLeaf(name, of: entity)
        else { return nil }
        if before.type != after.type { return "the attribute \(owner).\(name) gets another type" }
        guard before.allowsCloudEncryption != after.allowsCloudEncryption else { return nil }
        return "the attribute \(owner).\(name) "
            + (after.allowsCloudEncryption ? "gets encrypted in the cloud" : "is no longer encrypted in the cloud")
    }

    /// By name: where no link can be carried, the mapping is as for a new relationship.
    private func refusal(_ mapping: RelationshipMapping, of entity: String) -> String? {
        guard let after = step.destination.relationship(mapping.destination, of: entity) else { return nil }
        let place = "\(after.owner).\(mapping.destination)"
        guard let before = step.source.relationship(mapping.destination, of: entity)?.relationship else {
            // A new side of a relationship that was there before is one more property.
            guard let links = mapping.links, !links.isInverted else { return nil }
            return "the relationship \(after.owner).\(links.relationship) becomes \(place)"
        }
        if before.isToMany != after.relationship.isToMany {
            return "the relationship \(place) becomes a to-\(after.relationship.isToMany ? "many" : "one")"
        }
        if before.destination != after.relationship.destination {
            return
                "the relationship \(place) leads to \(after.relationship.destination) instead of \(before.destination)"
        }
        return nil
    }
}
