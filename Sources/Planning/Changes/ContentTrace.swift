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
        guard let origins else { return .links(Set([stored(relationship, of: entity)].compactMap(\.self))) }
        var found: Set<StoreContent.StoredLinks> = []
        for name in source.entityAndSubentities(of: entity) {
            for mapping in origins[name] ?? [] {
                guard let links = mapping.relationship(relationship)?.links,
                    let stored = stored(links.relationship, of: links.entity)
                else { continue }
                found.insert(stored)
            }
        }
        return .links(found)
    }

    /// Both ends of one set of links give the same answer.
    private func stored(_ relationship: String, of entity: String) -> StoreContent.StoredLinks? {
        guard let found = store.relationship(relationship, of: entity) else { return nil }
        let this = [found.owner, found.relationship.name]
        guard let inverse = store.inverse(of: found.relationship), !inverse.relationship.isTransient else {
            return .init(entity: this[0], relationship: this[1])
        }
        let other = [inverse.owner, inverse.relationship.name]
        let first = other.lexicographicallyPrecedes(this) ? other : this
        return .init(entity: first[0], relationship: first[1])
    }
}
