import CausewayExpressions
package import CausewayMapping
package import CausewayModel

/// What an inferred step changes, entity by entity and property by property: the mapping's decisions in the words of
/// the two models. A property is named once, by the entity that declares it in the new version.
package struct InferredChanges {
    let step: Int
    let mapping: MappingModel
    let source: ManagedObjectModel
    let destination: ManagedObjectModel
    let trace: ContentTrace?
    /// Attributes of the new version, `[owner, path]`, that some rows bring along.
    private var carried: Set<[String]> = []
    /// Properties of the new version, `[owner, path]`, that another entity declared before.
    var moved: Set<[String]> = []
    /// What rows that don't bring such an attribute along get instead of NULL.
    private var fillings: [[String]: String] = [:]
    /// Relationships of the old version, `[owner, name]`, that continue in the new one.
    var continued: Set<[String]> = []
    private var told: Set<StepChange> = []
    private var found: [StepChange] = []

    /// - Parameters:
    ///   - step: the step's position on the path.
    ///   - mapping: the step's own.
    ///   - source: the version before.
    ///   - destination: the version after.
    ///   - trace: finds what is dropped in the store; nil where there is no store, or where it can't be followed.
    package init(
        step: Int, mapping: MappingModel, source: ManagedObjectModel, destination: ManagedObjectModel,
        trace: ContentTrace? = nil
    ) {
        self.step = step
        self.mapping = mapping
        self.source = source
        self.destination = destination
        self.trace = trace
        for entity in mapping.entityMappings where entity.source != nil { note(entity) }
        for entity in mapping.entityMappings {
            guard let to = entity.destination else { continue }
            guard let from = entity.source else {
                add(to, nil, .added, to: destination.entities[to]?.isAbstract == true ? "abstract entity" : "entity")
                continue
            }
            compareEntities(from, to)
            for attribute in entity.attributes { compare(attribute, from, to) }
            for relationship in entity.relationships { compare(relationship, from, to) }
        }
        appendDropped()
    }

    /// In the order of the entities, each with everything that changes.
    package var changes: [StepChange] { found.groupedByEntity() }

    /// Notes what an entity's rows bring along, and what they get.
    private mutating func note(_ entity: EntityMapping) {
        let (from, to) = (entity.source ?? "", entity.destination ?? "")
        for attribute in entity.attributes {
            guard let owner = owner(of: attribute.destination, in: to) else { continue }
            let place = [owner, attribute.destination]
            switch attribute.value {
            case .carried(let origin, _, _):
                carried.insert(place)
                guard let old = source.owner(ofAttribute: Self.head(origin), seenBy: from) else { continue }
                if successor(of: old) != owner { moved.insert(place) }
            case .constant(let value):
                if destination.entities[to]?.isAbstract == false { fillings[place] = Attribute.text(value) }
            case .derived: break
            }
        }
        for relationship in entity.relationships {
            guard let links = relationship.links, !links.isInverted,
                let owner = destination.relationship(relationship.destination, of: to)?.owner,
                let old = source.relationship(links.relationship, of: links.entity)?.owner
            else { continue }
            if successor(of: old) != owner { moved.insert([owner, relationship.destination]) }
        }
    }

    mutating func add(
        _ entity: String, _ property: String?, _ kind: StepChange.Kind, from: String? = nil, to: String? = nil,
        value: String? = nil, content: StoreContent? = nil
    ) {
        let change = StepChange(
            step: step, entity: entity, property: property, kind, from: from, to: to, value: value, content: content)
        if told.insert(change).inserted { found.append(change) }
    }

    // MARK: - Entities

    private mutating func compareEntities(_ from: String, _ to: String) {
        if from != to { add(to, nil, .renamed, from: from, to: to) }
        guard let old = source.entities[from], let new = destination.entities[to] else { return }
        if old.parent.flatMap(successor) != new.parent || (old.parent == nil) != (new.parent == nil) {
            add(to, nil, .moved, from: old.parent, to: new.parent)
        }
        if old.isAbstract != new.isAbstract {
            add(
                to, nil, .abstract, from: old.isAbstract ? "abstract" : "concrete",
                to: new.isAbstract ? "abstract" : "concrete")
        }
        let (before, after) = (Set(old.uniquenessConstraints), Set(new.uniquenessConstraints))
        for constraint in new.uniquenessConstraints where !before.contains(constraint) {
            add(to, nil, .constraint, to: constraint.joined(separator: ", "))
        }
        for constraint in old.uniquenessConstraints where !after.contains(constraint) {
            add(to, nil, .constraint, from: constraint.joined(separator: ", "))
        }
        compareIndexes(of: old, new)
        if old.versionHashModifier != new.versionHashModifier {
            add(to, nil, .hashModifier, from: old.versionHashModifier, to: new.versionHashModifier)
        }
    }

    /// Indexes go by their name, or else by their elements. What follows from a property's own change isn't told again:
    /// another name of its own index, or an index of it alone where it is new or gone.
    private mutating func compareIndexes(of old: Entity, _ new: Entity) {
        let renamed = renamedProperties(from: old.name, to: new.name)
        var before = old.fetchIndexes.map { $0.renaming(renamed) }
        var added: [FetchIndex] = []
        for index in new.fetchIndexes {
            guard let place = before.firstIndex(where: { $0.name == index.name }) else {
                added.append(index)
                continue
            }
            let was = before.remove(at: place)
            if was != index { add(new.name, nil, .index, from: was.words, to: index.words) }
        }
        for index in added {
            if let place = before.firstIndex(where: { $0.elements == index.elements }) {
                add(new.name, nil, .index, from: before.remove(at: place).words, to: index.words)
            } else if index.onlyProperty.map({ renamed.values.contains($0) }) ?? true {
                add(new.name, nil, .index, to: index.words)
            }
        }
        for index in before where index.onlyProperty.map({ renamed.values.contains($0) }) ?? true {
            add(new.name, nil, .index, from: index.words)
        }
    }

    /// The new names of the properties that go on, by the old ones.
    private func renamedProperties(from old: String, to new: String) -> [String: String] {
        guard let entity = mapping.mapping(to: new), entity.source == old else { return [:] }
        var result: [String: String] = [:]
        for attribute in entity.attributes {
            if case .carried(let origin, _, _) = attribute.value { result[origin] = attribute.destination }
        }
        for relationship in entity.relationships {
            if let links = relationship.links, !links.isInverted {
                result[links.relationship] = relationship.destination
            }
        }
        return result
    }

    /// The entity that continues one of the old version.
    func successor(of entity: String) -> String? { mapping.mapping(from: entity)?.destination }

    // MARK: - Attributes

    private mutating func compare(_ attribute: AttributeMapping, _ from: String, _ to: String) {
        let path = attribute.destination
        guard let owner = owner(of: path, in: to) else { return }
        switch attribute.value {
        case .carried(let origin, let replacement, _):
            guard let oldOwner = source.owner(ofAttribute: Self.head(origin), seenBy: from) else { return }
            let isMoved = successor(of: oldOwner) != owner
            // What is inherited in both versions is the parent's to tell.
            guard isMoved || owner == to, let old = source.storedLeaf(origin, of: from),
                let new = destination.storedLeaf(path, of: to)
            else { return }
            if isMoved { add(owner, path, .moved, from: oldOwner, to: owner, value: fillings[[owner, path]]) }
            if origin != path { add(owner, path, .renamed, from: origin, to: path) }
            compare(old, new, owner, path, replacement)
        case .constant(let value):
            let isElsewhere = carried.contains([owner, path])
            // What is moved is told once, with what other rows get.
            if isElsewhere, moved.contains([owner, path]) { return }
            // An abstract entity has no rows to fill.
            if isElsewhere, destination.entities[to]?.isAbstract == true { return }
            if owner != to, !isElsewhere, let parent = mapping.mapping(to: owner), parent.source != nil,
                case .constant? = parent.attribute(path)?.value
            {
                return
            }
            guard let new = destination.storedLeaf(path, of: to) else { return }
            add(isElsewhere ? to : owner, path, .added, to: new.type.modelName, value: Attribute.text(value))
        case .derived:
            guard owner == to, let new = destination.storedLeaf(path, of: to) else { return }
            let text = new.derivationText
            if let old = source.storedLeaf(path, of: from) {
                add(owner, path, .derivation, from: old.derivationText ?? "stored", to: text)
            } else {
                add(owner, path, .added, to: new.type.modelName, value: text)
            }
        }
    }

    private mutating func compare(
        _ old: Attribute, _ new: Attribute, _ owner: String, _ path: String, _ replacement: Constant?
    ) {
        if old.type != new.type {
            add(owner, path, .converted, from: old.type.modelName, to: new.type.modelName)
        }
        if old.isOptional, !new.isOptional { add(owner, path, .mandatory, value: Attribute.text(replacement)) }
        if !old.isOptional, new.isOptional { add(owner, path, .optional) }
        if old.derivation != nil, new.derivation == nil {
            add(owner, path, .derivation, from: old.derivationText, to: "stored")
        }
        let (before, after) = (old.defaultText, new.defaultText)
        if before != after, old.type == new.type { add(owner, path, .defaultValue, from: before, to: after) }
        if old.allowsExternalBinaryDataStorage != new.allowsExternalBinaryDataStorage {
            let places = ["in the row", "in external files where large"]
            add(
                owner, path, .storage, from: places[old.allowsExternalBinaryDataStorage ? 1 : 0],
                to: places[new.allowsExternalBinaryDataStorage ? 1 : 0])
        }
        if old.valueTransformerName != new.valueTransformerName {
            add(owner, path, .transformer, from: old.valueTransformerName, to: new.valueTransformerName)
        }
        if old.versionHashModifier != new.versionHashModifier {
            add(owner, path, .hashModifier, from: old.versionHashModifier, to: new.versionHashModifier)
        }
    }

    private func owner(of path: String, in entity: String) -> String? {
        destination.owner(ofAttribute: Self.head(path), seenBy: entity)
    }

    /// The attribute of a path: a composite for the path of its leaf.
    static func head(_ path: String) -> String { String(path.prefix { $0 != "." }) }
}
