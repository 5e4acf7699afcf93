package import CausewayMapping
package import CausewayModel

/// What a step with mapping models changes, as far as these say it: a policy may do anything with its rows.
package struct ObjectChanges {
    private let step: Int
    private let resolved: [ResolvedMapping]
    private let source: ManagedObjectModel
    private let destination: ManagedObjectModel
    private let isOfStore: Bool
    private var found: [StepChange] = []

    /// - Parameters:
    ///   - step: the step's position on the path.
    ///   - resolved: its mapping models, in the order in which they run.
    ///   - source: the version before.
    ///   - destination: the version after.
    ///   - isOfStore: whether the step reads the store itself: what is dropped can be counted then.
    package init(
        step: Int, _ resolved: [ResolvedMapping], source: ManagedObjectModel, destination: ManagedObjectModel,
        isOfStore: Bool = false
    ) {
        self.step = step
        self.resolved = resolved
        self.source = source
        self.destination = destination
        self.isOfStore = isOfStore
        for entity in resolved.flatMap(\.entityMappings) { append(entity.mapping) }
        appendDropped()
    }

    /// In the order of the entities, each with everything that changes.
    package var changes: [StepChange] { found.groupedByEntity() }

    private mutating func add(
        _ entity: String, _ property: String?, _ kind: StepChange.Kind, from: String? = nil, to: String? = nil,
        value: String? = nil, content: StoreContent? = nil
    ) {
        let change = StepChange(
            step: step, entity: entity, property: property, kind, from: from, to: to, value: value,
            content: isOfStore ? content : nil)
        if !found.contains(change) { found.append(change) }
    }

    private mutating func append(_ mapping: EntityMappingDescription) {
        guard let to = mapping.destinationEntity, mapping.kind != .remove else { return }
        guard let from = mapping.sourceEntity else {
            if source.entities[to] == nil { add(to, nil, .added, to: "entity") }
            if let policy = mapping.policyClassName { add(to, nil, .custom, value: policy) }
            return
        }
        if let policy = mapping.policyClassName {
            add(to, nil, .custom, from: from, to: to, value: policy)
        } else if from != to {
            add(to, nil, source.entities[to] == nil ? .renamed : .transformed, from: from, to: to)
        }
        for property in mapping.attributeMappings { append(property, from, to) }
        for property in mapping.relationshipMappings { append(property, from, to) }
    }

    private mutating func append(_ property: PropertyMappingDescription, _ from: String, _ to: String) {
        let (name, leaf) = (property.name, destination.storedLeaf(property.name, of: to))
        guard let expression = property.expression else {
            // A new object has the default, unless a policy sets the property.
            if source.storedLeaf(name, of: from) == nil, source.relationship(name, of: from) == nil {
                add(to, name, .added, to: typeText(name, of: to), value: leaf?.defaultText)
            }
            return
        }
        let origin = LinkPlanning.reading(expression)?.relationship ?? LinkPlanning.sourceKey(expression)
        guard let origin else { return add(to, name, .transformed, value: property.value) }
        if origin != name { add(to, name, .renamed, from: origin, to: name) }
        if let old = source.storedLeaf(origin, of: from), let new = leaf, old.type != new.type {
            add(to, name, .converted, from: old.type.modelName, to: new.type.modelName)
        }
    }

    private func typeText(_ property: String, of entity: String) -> String? {
        destination.storedLeaf(property, of: entity)?.type.modelName
            ?? destination.relationship(property, of: entity).map { $0.relationship.words }
    }

    private mutating func appendDropped() {
        for notice in MappingNotice.losses(of: resolved, from: source) {
            add(notice.entity, nil, .dropped, from: "entity", content: .rows([notice.entity]))
        }
        for unread in UnreadProperties(resolved: resolved, source: source).entities {
            // A policy can read what no expression does.
            let policies = unread.policies.isEmpty ? nil : "unless \(unread.policies.joined(separator: ", ")) reads it"
            for name in unread.names {
                let attribute = source.attribute(name, of: unread.entity)?.attribute
                let relationship = source.relationship(name, of: unread.entity)
                let isPlain = policies == nil && attribute != nil && attribute?.type != .composite
                add(
                    unread.entity, name, .dropped,
                    from: attribute?.type.modelName ?? relationship.map { $0.relationship.words },
                    value: policies,
                    content: isPlain ? .values([.init(entity: unread.entity, path: name)]) : nil)
            }
        }
    }
}
