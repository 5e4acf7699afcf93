package import CausewayMapping
package import CausewayModel

/// What a step with mapping models changes: what the two versions differ in, and what the mapping models do about it. A
/// policy may do anything with its rows.
package struct ObjectChanges {
    private let step: Int
    private let resolved: [ResolvedMapping]
    private let source: ManagedObjectModel
    private let destination: ManagedObjectModel
    /// What continues what by names and renaming identifiers.
    private let closest: MappingModel
    private let lost: MappedLosses
    private var told: Set<StepChange> = []
    private var found: [StepChange] = []

    /// - Parameters:
    ///   - step: the step's position on the path.
    ///   - resolved: its mapping models, in the order in which they run.
    ///   - source: the version before.
    ///   - destination: the version after.
    ///   - trace: finds what is dropped in the store; nil where there is no store, or where it can't be followed.
    package init(
        step: Int, _ resolved: [ResolvedMapping], source: ManagedObjectModel, destination: ManagedObjectModel,
        trace: ContentTrace? = nil
    ) {
        self.step = step
        self.resolved = resolved
        self.source = source
        self.destination = destination
        closest = MappingInference.closest(from: source, to: destination)
        lost = MappedLosses("", resolved, source: source, destination: destination, trace: trace)
        for entity in resolved.flatMap(\.entityMappings) { append(entity.mapping) }
        appendDropped()
        prependDifferences()
    }

    /// In the order of the entities, each with everything that changes.
    package var changes: [StepChange] { found.groupedByEntity() }

    private mutating func add(
        _ entity: String, _ property: String?, _ kind: StepChange.Kind, from: String? = nil, to: String? = nil,
        value: String? = nil, content: StoreContent? = nil
    ) {
        let change = StepChange(
            step: step, entity: entity, property: property, kind, from: from, to: to, value: value, content: content)
        if told.insert(change).inserted { found.append(change) }
    }

    // MARK: - What the mapping models do

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
        // By the entity that declares it, as the versions' difference names it.
        let owner =
            destination.owner(ofAttribute: InferredChanges.head(name), seenBy: to)
            ?? destination.relationship(name, of: to)?.owner ?? to
        guard let expression = property.expression else {
            // A new object has the default, unless a policy sets the property.
            if source.storedLeaf(name, of: from) == nil, source.relationship(name, of: from) == nil {
                add(owner, name, .added, to: typeText(name, of: to), value: leaf?.defaultText)
            }
            return
        }
        let origin = LinkPlanning.reading(expression)?.relationship ?? LinkPlanning.sourceKey(expression)
        guard let origin else { return add(to, name, .transformed, value: property.value) }
        if origin != name { add(owner, name, .renamed, from: origin, to: name) }
        if let old = source.storedLeaf(origin, of: from), let new = leaf, old.type != new.type {
            add(owner, name, .converted, from: old.type.modelName, to: new.type.modelName)
        }
    }

    private func typeText(_ property: String, of entity: String) -> String? {
        destination.storedLeaf(property, of: entity)?.type.modelName
            ?? destination.relationship(property, of: entity).map { $0.relationship.words }
    }

    private mutating func appendDropped() {
        for loss in lost.losses {
            switch loss.kind {
            case .entity(let entity): add(entity, nil, .dropped, from: "entity", content: loss.content)
            case .attribute(let entity, let path):
                add(
                    successor(of: entity) ?? entity, path, .dropped,
                    from: source.storedLeaf(path, of: entity)?.type.modelName, value: loss.exception,
                    content: loss.content)
            case .relationship(let ends):
                for end in ends {
                    let entity = InferredChanges.head(end)
                    let name = String(end.dropFirst(entity.count + 1))
                    add(
                        successor(of: entity) ?? entity, name, .dropped,
                        from: source.relationship(name, of: entity)?.relationship.words, value: loss.exception,
                        content: loss.content)
                }
            case .filtered, .furtherLinks, .furtherOwners, .unconfirmed, .order, .unreadOrder, .other: break
            }
        }
    }

    private func successor(of entity: String) -> String? { closest.mapping(from: entity)?.destination }

    // MARK: - What the versions differ in

    private mutating func prependDifferences() {
        let differences = InferredChanges(step: step, mapping: closest, source: source, destination: destination)
        let places = Dictionary(grouping: found) { [$0.entity, $0.property ?? ""] }
        var before: [StepChange] = []
        for change in differences.changes {
            if let change = ofVersions(change, beside: places[[change.entity, change.property ?? ""]] ?? []) {
                before.append(change)
            }
        }
        found = before + found
    }

    /// Whether nothing but the model says what rows of an entity get.
    private func isLeftToDefault(_ property: String, of entity: String) -> Bool {
        resolved.flatMap(\.entityMappings).map(\.mapping).allSatisfy { mapping in
            guard mapping.kind != .remove, let made = mapping.destinationEntity, destination.isKind(made, of: entity)
            else { return true }
            return mapping.policyClassName == nil
                && !(mapping.attributeMappings + mapping.relationshipMappings).contains {
                    $0.expression != nil && ($0.name == property || $0.name == InferredChanges.head(property))
                }
        }
    }

    /// Whether a mapping model gives what is dropped another name: a renaming without an identifier.
    private func isRenamed(_ change: StepChange) -> Bool {
        found.contains {
            guard $0.kind == .renamed else { return false }
            return change.property == nil
                ? $0.property == nil && $0.from == change.entity
                : $0.entity == change.entity && $0.property != nil && $0.from == change.property
        }
    }

    /// A difference without what inferred rows would get; nil where the mapping models say the same or more.
    private mutating func ofVersions(_ change: StepChange, beside others: [StepChange]) -> StepChange? {
        var change = change
        switch change.kind {
        case .added:
            if others.contains(where: { $0.kind == .added || $0.kind == .renamed }) { return nil }
            if let property = change.property, !isLeftToDefault(property, of: change.entity) { change.value = nil }
        case .dropped:
            if others.contains(where: { $0.kind == .dropped }) || isRenamed(change) { return nil }
            let entity = closest.mapping(to: change.entity)?.source ?? change.entity
            if lost.isRead(change.property, of: entity) { change.value = "read by the mapping model" }
        case .mandatory, .destination: change.value = nil
        case .moved:
            change.value = nil
            guard let property = change.property else { break }
            let origin = others.first { $0.kind == .renamed }?.from ?? property
            guard lost.isRead(origin, of: change.from ?? change.entity) else {
                // Rows don't keep it, so it is as new.
                if others.contains(where: { $0.kind == .added }) { return nil }
                (change.kind, change.from) = (.added, nil)
                change.to = typeText(property, of: change.entity)
                break
            }
            found.removeAll { $0.kind == .added && $0.entity == change.entity && $0.property == property }
        default: break
        }
        return told.contains(change) ? nil : change
    }
}
