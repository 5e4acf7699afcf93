import CausewayMapping
import CausewayModel

/// What a mapping leaves behind, a sentence each: nothing is dropped in silence.
struct LossReport {
    private(set) var sentences: [String] = []

    init(mapping: MappingModel, source: ManagedObjectModel, destination: ManagedObjectModel) {
        for entity in mapping.entityMappings {
            guard let from = entity.source else { continue }
            guard entity.destination != nil else {
                sentences.append("entity \(from) is gone: its rows and the links to them are dropped")
                continue
            }
            let kept = Set(
                entity.attributes.compactMap { attribute -> String? in
                    guard case .carried(let origin, _, _) = attribute.value else { return nil }
                    return origin
                })
            let attributes = source.storedAttributes(of: from).filter { !kept.contains($0.path) }
            if !attributes.isEmpty, declares(attributes.map(\.path), from, source) {
                sentences.append("\(from): dropped attributes: \(attributes.map(\.path).joined(separator: ", "))")
            }
        }
        appendLinks(mapping, source: source, destination: destination)
    }

    /// Whether the entity itself, not an ancestor, declares one of the properties: inherited ones are reported once.
    private func declares(_ paths: [String], _ entity: String, _ model: ManagedObjectModel) -> Bool {
        paths.contains { path in
            let name = path.split(separator: ".").first.map(String.init) ?? path
            return model.attribute(name, of: entity)?.owner == entity
        }
    }

    private mutating func appendLinks(
        _ mapping: MappingModel, source: ManagedObjectModel, destination: ManagedObjectModel
    ) {
        var kept: Set<[String]> = []
        for entity in mapping.entityMappings {
            guard let to = entity.destination else { continue }
            for relationship in entity.relationships {
                guard let links = relationship.links,
                    let found = source.relationship(links.relationship, of: links.entity)
                else { continue }
                kept.insert([found.owner, found.relationship.name])
                if let inverse = source.inverse(of: found.relationship) {
                    kept.insert([inverse.owner, inverse.relationship.name])
                }
                appendNarrowing(links, found.relationship, to: to, relationship.destination, source, destination)
            }
        }
        for name in source.entitiesInStoreOrder() {
            guard mapping.mapping(from: name)?.destination != nil else { continue }
            for relationship in source.entities[name]?.relationships ?? []
            where !relationship.isTransient && !kept.contains([name, relationship.name]) {
                sentences.append("\(name).\(relationship.name): the links are dropped")
            }
        }
    }

    private func isManyToMany(_ relationship: Relationship, in model: ManagedObjectModel) -> Bool {
        relationship.isToMany && model.inverse(of: relationship)?.relationship.isToMany ?? false
    }

    private mutating func appendNarrowing(
        _ links: LinkSource, _ old: Relationship, to entity: String, _ name: String, _ source: ManagedObjectModel,
        _ destination: ManagedObjectModel
    ) {
        guard links.changesForm, destination.relationship(name, of: entity)?.owner == entity,
            let new = destination.relationship(name, of: entity)?.relationship
        else { return }
        let wasToMany = links.isInverted ? source.inverse(of: old)?.relationship.isToMany ?? true : old.isToMany
        if isManyToMany(old, in: source), new.isToMany, destination.inverse(of: new) == nil {
            sentences.append(
                "\(entity).\(name): loses its inverse; where an object has several owners, the first keeps it")
        }
        if wasToMany, !new.isToMany {
            sentences.append("\(entity).\(name): becomes a to-one; where there are several links, the first is kept")
        }
        let wasOrdered = links.isInverted ? source.inverse(of: old)?.relationship.isOrdered ?? false : old.isOrdered
        if wasOrdered, !new.isOrdered {
            sentences.append("\(entity).\(name): is no longer ordered; the order is dropped")
        }
    }
}
