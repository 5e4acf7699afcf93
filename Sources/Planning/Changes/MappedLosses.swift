package import CausewayMapping
package import CausewayModel

/// What a step with mapping models drops of the store's content: rows that none of them reads, and properties of the
/// rows that are read which none of their expressions reads. A policy may read those. How many rows a filter leaves
/// out, only the step finds out.
package struct MappedLosses {
    package private(set) var losses: [Loss] = []

    /// For people: `V1 → V2`.
    private let step: String
    private let source: ManagedObjectModel
    private let destination: ManagedObjectModel
    /// Where the store has what the step reads; nil where it can't be followed.
    private let trace: ContentTrace?
    /// What is read of rows, by the entities that have rows.
    private let readings: [String: Reading]

    private struct Reading {
        /// Attributes and relationships.
        var properties: Set<String> = []
        /// Which may read any other.
        var policies: Set<String> = []
        /// Of the mappings that read the rows; without nil, none reads all of them.
        var filters: [String?] = []
    }

    /// `step` is its versions as the sentences name it; `resolved` are its mapping models; `trace` finds the store's
    /// content.
    package init(
        _ step: String, _ resolved: [ResolvedMapping], source: ManagedObjectModel, destination: ManagedObjectModel,
        trace: ContentTrace? = nil
    ) {
        self.step = step
        (self.source, self.destination) = (source, destination)
        self.trace = trace
        readings = Self.readings(resolved, source)
        for notice in MappingNotice.losses(of: resolved, from: source) {
            add(.entity(notice.entity), trace?.rows(of: notice.entity))
        }
        for entity in source.entitiesInStoreOrder() {
            guard let filters = readings[entity]?.filters, !filters.contains(nil) else { continue }
            let predicates = Set(filters.compactMap(\.self))
            add(.filtered(entity: entity, by: predicates.map { "`\($0)`" }.sorted()), nil)
        }
        appendAttributes()
        appendLinks()
        appendOrders(resolved.flatMap(\.entityMappings).map(\.mapping))
    }

    /// Whether the mapping models read a property of an entity or its subentities, links from either side; with nil the
    /// entity's own rows.
    func isRead(_ property: String?, of entity: String) -> Bool {
        guard let property else { return readings[entity] != nil }
        if isNamed(property, in: entity) { return true }
        return source.relationship(property, of: entity).flatMap { source.inverse(of: $0.relationship) }
            .map { isNamed($0.relationship.name, in: $0.owner) } ?? false
    }

    private func isNamed(_ property: String, in entity: String) -> Bool {
        rows(of: entity).contains { readings[$0]?.properties.contains(InferredChanges.head(property)) == true }
    }

    private static func readings(_ resolved: [ResolvedMapping], _ source: ManagedObjectModel) -> [String: Reading] {
        var readings: [String: Reading] = [:]
        for entity in resolved.flatMap(\.entityMappings) where entity.mapping.kind != .remove {
            guard let origin = entity.mapping.sourceEntity else { continue }
            var properties: Set<String> = []
            for property in entity.mapping.attributeMappings + entity.mapping.relationshipMappings {
                property.expression?.collectKeys(into: &properties)
            }
            let fetch = entity.mapping.sourceExpression.flatMap { SourceFetch($0) }
            let filter = entity.filter == nil ? nil : fetch?.filter
            var entities = [origin]
            if entity.rows.includesSubentities { entities = source.entityAndSubentities(of: origin) }
            for name in entities where source.entities[name]?.isAbstract == false {
                readings[name, default: Reading()].properties.formUnion(properties)
                if let policy = entity.mapping.policyClassName { readings[name]?.policies.insert(policy) }
                readings[name]?.filters.append(filter)
            }
        }
        return readings
    }

    /// The entities of this kind whose rows are read.
    private func rows(of entity: String) -> [String] {
        source.entityAndSubentities(of: entity).filter { readings[$0] != nil }
    }

    private func policies(of entities: [String]) -> [String] {
        entities.reduce(into: Set<String>()) { $0.formUnion(readings[$1]?.policies ?? []) }.sorted()
    }

    private mutating func add(_ kind: Loss.Kind, policies: [String] = [], _ content: StoreContent?) {
        // Nobody can tell how much of it a policy reads.
        var loss = Loss(step: step, kind, content: policies.isEmpty ? content : nil)
        loss.policies = policies
        losses.append(loss)
    }

    /// An attribute is named once: by the entity that declares it if all its rows lose it alike, else by those that do.
    private mutating func appendAttributes() {
        for owner in source.entitiesInStoreOrder() {
            let rows = rows(of: owner)
            for stored in source.storedAttributes(of: owner) where stored.attribute.derivation == nil {
                let name = InferredChanges.head(stored.path)
                guard source.owner(ofAttribute: name, seenBy: owner) == owner else { continue }
                let losing = rows.filter { readings[$0]?.properties.contains(name) == false }
                guard !losing.isEmpty else { continue }
                let isAlike = losing.count == rows.count && Set(losing.map { policies(of: [$0]) }).count == 1
                for (entity, rows) in isAlike ? [(owner, losing)] : losing.map({ ($0, [$0]) }) {
                    add(
                        .attribute(entity: entity, path: stored.path), policies: policies(of: rows),
                        trace?.values(of: stored.path, in: rows))
                }
            }
        }
    }

    /// Both sides of a relationship are one set of links: they are kept if either is read. Links that are dropped with
    /// the rows at their other end are told with these.
    private mutating func appendLinks() {
        var told: Set<[String]> = []
        for owner in source.entitiesInStoreOrder() {
            for relationship in source.entities[owner]?.relationships ?? []
            where !relationship.isTransient && told.insert([owner, relationship.name]).inserted {
                let (rows, others) = (rows(of: owner), rows(of: relationship.destination))
                let inverse = source.inverse(of: relationship).flatMap { $0.relationship.isTransient ? nil : $0 }
                if let inverse { told.insert([inverse.owner, inverse.relationship.name]) }
                guard !others.isEmpty, inverse.map({ !isNamed($0.relationship.name, in: $0.owner) }) ?? true
                else { continue }
                let losing = rows.filter { readings[$0]?.properties.contains(relationship.name) == false }
                guard !losing.isEmpty else { continue }
                let policies = policies(of: losing + (inverse == nil ? [] : others))
                guard losing.count == rows.count else {
                    for entity in losing {
                        add(
                            .relationship(["\(entity).\(relationship.name)"]), policies: policies,
                            trace?.links(of: relationship.name, in: [entity]))
                    }
                    continue
                }
                var ends = ["\(owner).\(relationship.name)"]
                if let inverse { ends.append("\(inverse.owner).\(inverse.relationship.name)") }
                if ends.count == 2, ends[0] == ends[1] { ends.removeLast() }
                add(.relationship(ends), policies: policies, trace?.links(of: relationship.name, declaredBy: owner))
            }
        }
    }

    /// Order is of an ordered relationship alone: its inverse says nothing of it.
    private mutating func appendOrders(_ mappings: [EntityMappingDescription]) {
        var told: Set<String> = []
        for mapping in mappings where mapping.kind != .remove {
            guard let from = mapping.sourceEntity, let to = mapping.destinationEntity else { continue }
            for property in mapping.relationshipMappings {
                guard let origin = property.expression.flatMap({ LinkPlanning.reading($0) })?.relationship,
                    let before = source.relationship(origin, of: from),
                    let after = destination.relationship(property.name, of: to)
                else { continue }
                let place = "\(after.owner).\(property.name)"
                if before.relationship.isOrdered, after.relationship.isToMany, !after.relationship.isOrdered,
                    told.insert(place).inserted
                {
                    add(.order(place), nil)
                }
                appendUnreadOrder(before.relationship, &told)
            }
        }
    }

    /// Of the inverse of a relationship that is read.
    private mutating func appendUnreadOrder(_ read: Relationship, _ told: inout Set<String>) {
        guard let inverse = source.inverse(of: read), inverse.relationship.isOrdered,
            !isNamed(inverse.relationship.name, in: inverse.owner), policies(of: rows(of: inverse.owner)).isEmpty
        else { return }
        let place = "\(inverse.owner).\(inverse.relationship.name)"
        if told.insert(place).inserted { add(.unreadOrder(place), nil) }
    }
}
