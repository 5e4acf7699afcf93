package import CausewayMapping
package import CausewayModel

/// Finds in the store what a step of the path reads, through the inferred steps before it.
package struct ContentTrace: Sendable {
    /// The version that the store has.
    private let store: ManagedObjectModel
    /// The version that the step reads.
    private let source: ManagedObjectModel
    /// How the store's entities became the step's, by the latter's name; nil where the step reads the store itself.
    private let origins: [String: [EntityMapping]]?

    /// - Parameters:
    ///   - store: the version that the store has.
    ///   - source: the version that the step reads.
    ///   - before: maps one to the other; nil where they are the same.
    package init(store: ManagedObjectModel, source: ManagedObjectModel, before: MappingModel?) {
        self.store = store
        self.source = source
        origins = before.map { before in
            Dictionary(grouping: before.entityMappings.filter { $0.source != nil }) { $0.destination ?? "" }
        }
    }

    /// The rows of an entity itself.
    func rows(of entity: String) -> StoreContent {
        guard let origins else { return .rows([entity]) }
        return .rows(Set((origins[entity] ?? []).compactMap(\.source)))
    }

    /// The values of an attribute in rows of these entities; those that earlier steps fill in aren't the store's.
    func values(of path: String, in entities: [String]) -> StoreContent {
        guard let origins else { return .values(Set(entities.map { .init(entity: $0, path: path) })) }
        let found = entities.flatMap { origins[$0] ?? [] }.compactMap { mapping -> StoreContent.StoredValue? in
            guard let entity = mapping.source, case .carried(let from, _, _)? = mapping.attribute(path)?.value else {
                return nil
            }
            return .init(entity: entity, path: from)
        }
        return .values(Set(found))
    }

    /// The links of a relationship.
    func links(of relationship: String, declaredBy entity: String) -> StoreContent {
        .links(Set(stored(relationship, declaredBy: entity).map(\.links)))
    }

    /// Those that rows of some entities have, of the relationship that they share.
    func links(of relationship: String, in entities: [String]) -> StoreContent {
        .links(Set(ofRows(relationship, entities)))
    }

    private func ofRows(_ relationship: String, _ entities: [String]) -> [StoreContent.StoredLinks] {
        func ofRows(_ stored: Stored, _ entity: String) -> StoreContent.StoredLinks {
            // One end's column may be the only one by now.
            var links = stored.links.isAlone ? stored.links : stored.own(in: store)
            links.rows = .init(entities: [entity], areFar: stored.isInverted && links == stored.links)
            return links
        }
        guard let origins else {
            return entities.compactMap { entity in stored(relationship, of: entity).map { ofRows($0, entity) } }
        }
        return entities.flatMap { entity in
            (origins[entity] ?? []).compactMap { mapping -> StoreContent.StoredLinks? in
                guard let origin = mapping.source, let stored = stored(relationship, through: mapping) else {
                    return nil
                }
                return ofRows(stored, origin)
            }
        }
    }

    /// Its links beyond the first one of each object at an end.
    package func furtherLinks(of relationship: String, declaredBy entity: String, isFar: Bool) -> StoreContent {
        .furtherLinks(
            Set(
                stored(relationship, declaredBy: entity).map {
                    .init(links: $0.links, isFar: $0.isInverted != isFar)
                }))
    }

    /// The links of a relationship that its inverse's don't have: none where an earlier step has made both from one
    /// set.
    func links(
        of relationship: String, declaredBy entity: String, lackedBy inverse: String, of other: String
    ) -> StoreContent {
        let others = stored(inverse, declaredBy: other)
        return .unconfirmed(
            Set(
                stored(relationship, declaredBy: entity).flatMap { links in
                    others.compactMap { other in
                        let pair = StoreContent.Unconfirmed(links: links.own(in: store), inverse: other.own(in: store))
                        return pair.links == pair.inverse ? nil : pair
                    }
                }))
    }

    /// Links of the store's, under the name of their first end.
    private struct Stored {
        var links: StoreContent.StoredLinks
        /// Seen from the other end.
        var isInverted: Bool
        /// An earlier step stores them otherwise.
        var changesForm: Bool

        /// Under the name of the end from which they are seen, where it has a column of its own.
        func own(in store: ManagedObjectModel) -> StoreContent.StoredLinks {
            isInverted && !changesForm ? links.inverseToOne(in: store) ?? links : links
        }
    }

    private func stored(_ relationship: String, declaredBy entity: String) -> [Stored] {
        guard let origins else { return [stored(relationship, of: entity)].compactMap(\.self) }
        return source.entityAndSubentities(of: entity).flatMap { origins[$0] ?? [] }.compactMap {
            stored(relationship, through: $0)
        }
    }

    /// What the store has of a relationship of the step's source, through an earlier mapping.
    private func stored(_ relationship: String, through mapping: EntityMapping) -> Stored? {
        guard let links = mapping.relationship(relationship)?.links,
            var stored = stored(links.relationship, of: links.entity)
        else { return nil }
        if let countsFar = links.countsFarColumn {
            if stored.isInverted != countsFar {
                stored.links = stored.links.inverseToOne(in: store) ?? stored.links
            }
            stored.isInverted = countsFar
            stored.links.isAlone = true
        }
        stored.links.narrowings = links.narrowings.map { stored.isInverted ? $0.turned : $0 }
        stored.isInverted = stored.isInverted != links.isInverted
        stored.changesForm = links.changesForm
        return stored
    }

    /// Both ends of one set of links give the same name.
    private func stored(_ relationship: String, of entity: String) -> Stored? {
        guard let found = store.relationship(relationship, of: entity) else { return nil }
        let this = StoreContent.StoredLinks(entity: found.owner, relationship: found.relationship.name)
        guard let inverse = store.inverse(of: found.relationship), !inverse.relationship.isTransient else {
            return Stored(links: this, isInverted: false, changesForm: false)
        }
        let other = StoreContent.StoredLinks(entity: inverse.owner, relationship: inverse.relationship.name)
        return Stored(links: min(this, other), isInverted: other < this, changesForm: false)
    }
}
