/// Finds names of a model without a definition, whatever form it was read from. Everything above the readers relies on
/// it: a model that passes has no dangling name and no cycle.
struct ModelConsistency {
    /// A place in the source, for messages.
    struct Place: Hashable {
        var entity: String
        var property: String?
    }

    private let model: ManagedObjectModel
    private let lines: [Place: Int]
    private var problems: [ModelError.Problem] = []

    /// The contradictions of a model, by entity name.
    static func problems(of model: ManagedObjectModel, lines: [Place: Int] = [:]) -> [ModelError.Problem] {
        if model.entities.count > ModelLimits.entities {
            return [.init("The model has \(model.entities.count) entities; at most \(ModelLimits.entities) are read.")]
        }
        if let deepest = deepest(model.entities.mapValues(\.parent)) {
            let line = lines[Place(entity: deepest)]
            return [
                .init(
                    "The entity has \(ModelLimits.inheritanceDepth) ancestors or more; at most "
                        + "\(ModelLimits.inheritanceDepth) levels of inheritance are read.", entity: deepest, line: line
                )
            ]
        }
        if let problem = tooManyColumns(model) { return [problem] }
        var check = ModelConsistency(model: model, lines: lines)
        for name in model.entities.keys.sorted(by: ManagedObjectModel.compareOrder) {
            if let entity = model.entities[name] { check.check(entity) }
        }
        for (name, members) in model.configurations.sorted(by: { $0.key < $1.key }) {
            for member in members where model.entities[member] == nil {
                check.problems.append(
                    .init("The configuration “\(name)” has a member “\(member)”, but there is no such entity."))
            }
        }
        return check.problems
    }

    /// An entity below the last level that is read, of all entities with their parents; nil where there is none. Visits
    /// each entity once, so that deep hierarchies are refused before they are walked. Cycles are found later.
    static func deepest(_ parents: [String: String?]) -> String? {
        var children: [String: [String]] = [:]
        var level: [String] = []
        for (name, parent) in parents {
            if let parent, parents[parent] != nil {
                children[parent, default: []].append(name)
            } else {
                level.append(name)
            }
        }
        for _ in 0..<ModelLimits.inheritanceDepth {
            level = level.flatMap { children[$0] ?? [] }
            if level.isEmpty { return nil }
        }
        return level.min(by: ManagedObjectModel.compareOrder)
    }

    /// Hierarchies with too many entities times columns; nil if there are none. Visits each property once. A to-one
    /// counts as the three columns that it can have.
    private static func tooManyColumns(_ model: ManagedObjectModel) -> ModelError.Problem? {
        var hierarchies: [String: (entities: Int, columns: Int)] = [:]
        for (name, entity) in model.entities {
            var columns = 0
            for attribute in entity.attributes where !attribute.isTransient { columns += leaves(of: attribute) }
            for relationship in entity.relationships where !relationship.isTransient {
                if !relationship.isToMany {
                    columns += 3
                } else if relationship.inverse == nil {
                    // The other end's rows hold the key, and their place.
                    hierarchies[root(of: relationship.destination, in: model), default: (0, 0)].columns += 2
                }
            }
            let root = root(of: name, in: model)
            hierarchies[root, default: (0, 0)].entities += 1
            hierarchies[root, default: (0, 0)].columns += columns
        }
        func pairs(_ hierarchy: (entities: Int, columns: Int)) -> Int {
            hierarchy.entities * min(hierarchy.columns, ModelLimits.tableColumns)
        }
        let count = hierarchies.values.reduce(0) { $0 + pairs($1) }
        guard count > ModelLimits.entityColumns,
            let largest = hierarchies.max(by: { (pairs($0.value), $1.key) < (pairs($1.value), $0.key) })
        else { return nil }
        return .init(
            "The model's hierarchies have \(count) pairs of an entity and a column of its table; at most "
                + "\(ModelLimits.entityColumns) are read. The largest is this entity's, with "
                + "\(largest.value.entities) entities.", entity: largest.key)
    }

    /// Ends in a cycle too, which is found later.
    private static func root(of name: String, in model: ManagedObjectModel) -> String {
        var root = name
        for _ in 0..<ModelLimits.inheritanceDepth {
            guard let parent = model.entities[root]?.parent, model.entities[parent] != nil else { break }
            root = parent
        }
        return root
    }

    private static func leaves(of attribute: Attribute) -> Int {
        attribute.elements.isEmpty ? 1 : attribute.elements.reduce(0) { $0 + leaves(of: $1) }
    }

    private mutating func check(_ entity: Entity) {
        if let parent = entity.parent {
            if model.entities[parent] == nil {
                report("The parent entity “\(parent)” is not in the model.", entity)
            } else if isInCycle(entity) {
                report("The entity is its own ancestor; change its parent entity.", entity)
            }
        }
        let inherited = Set(
            model.lineage(of: entity.name).dropFirst().filter { $0.name != entity.name }.flatMap(\.propertyNames))
        var own: Set<String> = []
        for name in entity.propertyNames {
            if !own.insert(name).inserted {
                report("The entity has two properties of this name.", entity, name)
            } else if inherited.contains(name) {
                report("A parent entity already has a property of this name; remove it here.", entity, name)
            }
        }
        for relationship in entity.relationships { check(relationship, of: entity) }
        for constraint in entity.uniquenessConstraints {
            for name in constraint
            where model.attribute(name, of: entity.name) == nil && model.relationship(name, of: entity.name) == nil {
                report("A uniqueness constraint names “\(name)”, but there is no such property.", entity)
            }
        }
    }

    private mutating func check(_ relationship: Relationship, of entity: Entity) {
        guard model.entities[relationship.destination] != nil else {
            let text =
                relationship.destination.isEmpty
                ? "The relationship has no destination entity."
                : "The destination entity “\(relationship.destination)” is not in the model."
            return report(text, entity, relationship.name)
        }
        guard let inverse = relationship.inverse else { return }
        let owner = relationship.inverseEntity ?? relationship.destination
        if model.relationship(inverse, of: owner) == nil {
            report("The inverse “\(owner).\(inverse)” is not in the model.", entity, relationship.name)
        }
    }

    private func isInCycle(_ entity: Entity) -> Bool {
        var next = entity.parent
        for _ in 0...model.entities.count {
            guard let name = next else { return false }
            if name == entity.name { return true }
            next = model.entities[name]?.parent
        }
        // The walk got into a cycle of ancestors, which are reported themselves.
        return false
    }

    private mutating func report(_ message: String, _ entity: Entity, _ property: String? = nil) {
        let line = lines[Place(entity: entity.name, property: property)] ?? lines[Place(entity: entity.name)]
        problems.append(.init(message, entity: entity.name, property: property, line: line))
    }
}

extension Entity {
    var propertyNames: [String] {
        attributes.map(\.name) + relationships.map(\.name) + fetchedProperties.map(\.name)
    }

    /// Brings properties into one order, so that equal models are equal values: the order means nothing, and archives
    /// have that of a hash table.
    mutating func sortProperties() {
        attributes.sort { ManagedObjectModel.compareOrder($0.name, $1.name) }
        relationships.sort { ManagedObjectModel.compareOrder($0.name, $1.name) }
        fetchedProperties.sort { ManagedObjectModel.compareOrder($0.name, $1.name) }
    }
}

extension ManagedObjectModel {
    /// Takes members without an entity out of configurations, which real models have after an entity was removed: no
    /// store and no hash depends on configurations.
    mutating func forgetUnknownMembers() {
        configurations = configurations.mapValues { $0.filter { entities[$0] != nil } }
    }

    /// Forgets the entity that a source names for an inverse where the destination leads to the same relationship, so
    /// that equal models are equal values: XML names the destination or an ancestor of it, archives the declaring one.
    /// Elsewhere the declaring entity stays.
    mutating func canonicaliseInverses() {
        var canonical = entities
        for (name, entity) in entities {
            for (position, relationship) in entity.relationships.enumerated() {
                guard let inverse = relationship.inverse, let owner = relationship.inverseEntity else { continue }
                let declared = self.relationship(inverse, of: owner)?.owner
                let found = self.relationship(inverse, of: relationship.destination)?.owner
                canonical[name]?.relationships[position].inverseEntity = declared == found ? nil : declared ?? owner
            }
        }
        entities = canonical
    }
}
