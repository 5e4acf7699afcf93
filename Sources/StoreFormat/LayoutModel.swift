import CausewayModel

/// A model as the layout sees it: checked, numbered, every inverse resolved once.
struct LayoutModel {
    /// A relationship by the entity that declares it and its place there.
    struct RelationshipID: Hashable {
        let entity: Int
        let place: Int
    }

    /// Elements of composites nest at most this deep; real models don't nest them at all.
    private static let deepestComposite = 16

    let model: ManagedObjectModel
    /// In Z_ENT order; the entity at index i has Z_ENT i + 1.
    let entities: [Entity]
    let indexes: [String: Int]
    /// Each entity's ancestors and itself, root first.
    let lineages: [[Int]]
    /// Index of the last entity of each subtree; the entity itself where it has no subentities.
    let lastDescendants: [Int]
    let inverses: [RelationshipID: RelationshipID]
    /// Names of each entity's stored properties, inherited ones included, in Core Data's dictionary order.
    let propertyOrders: [[String]]
    private var virtual: [Int: [RelationshipID]] = [:]

    init(_ model: ManagedObjectModel, width: HashWidth = .bits64) throws(StoreFormatError) {
        self.model = model
        let names = model.entitiesInStoreOrder()
        guard names.count == model.entities.count else {
            throw StoreFormatError(
                .unusableModel,
                "the model's entities inherit from each other or from an entity that it lacks: repair it")
        }
        let entities = names.compactMap { model.entities[$0] }
        let indexes = Dictionary(zip(names, 0...), uniquingKeysWith: { first, _ in first })
        for entity in entities { try LayoutModel.check(entity, in: model) }
        try LayoutModel.checkTableNames(entities)
        var lineages: [[Int]] = []
        var last = Array(names.indices)
        for (number, entity) in entities.enumerated() {
            // A parent precedes its children in store order.
            let above = entity.parent.flatMap { indexes[$0] }.map { lineages[$0] } ?? []
            lineages.append(above + [number])
            for ancestor in above { last[ancestor] = number }
        }
        let inverses = LayoutModel.inverses(entities, indexes: indexes, lineages: lineages)
        propertyOrders = lineages.map { lineage in
            LayoutModel.propertyOrder(
                lineage.map { ($0, entities[$0]) }, inverses: inverses, entities: entities,
                hasSubentities: { name in indexes[name].map { last[$0] != $0 } ?? false }, width: width)
        }
        self.entities = entities
        self.indexes = indexes
        self.lineages = lineages
        self.inverses = inverses
        lastDescendants = last
        virtual = findVirtual()
    }

    func number(_ entity: Int) -> Int { entity + 1 }
    func hasSubentities(_ entity: Int) -> Bool { lastDescendants[entity] != entity }
    func root(of entity: Int) -> Int { lineages[entity][0] }
    func isRoot(_ entity: Int) -> Bool { lineages[entity].count == 1 }
    func relationship(_ id: RelationshipID) -> Relationship { entities[id.entity].relationships[id.place] }

    func inverse(of id: RelationshipID) -> (id: RelationshipID, relationship: Relationship)? {
        inverses[id].map { ($0, relationship($0)) }
    }

    /// Names of everything that the entity declares and inherits: the content of Core Data's dictionary for it.
    func propertyNames(of entity: Int) -> Set<String> {
        let lineage = lineages[entity].map { entities[$0] }
        let stored = lineage.flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) }
        return Set(stored + lineage.flatMap { $0.fetchedProperties.map(\.name) })
    }

    /// The relationship that `entity` declares or inherits under this name.
    func relationship(named name: String, of entity: Int) -> RelationshipID? {
        Self.relationship(named: name, in: lineages[entity], of: entities)
    }

    private static func relationship(
        named name: String, in lineage: [Int], of entities: [Entity]
    ) -> RelationshipID? {
        lineage.reversed().lazy.compactMap { ancestor in
            entities[ancestor].relationships.firstIndex { $0.name == name }
                .map { RelationshipID(entity: ancestor, place: $0) }
        }.first
    }

    /// Whether the relationship has a join table of its own.
    func isManyToMany(_ id: RelationshipID) -> Bool {
        let relationship = relationship(id)
        guard !relationship.isTransient, relationship.isToMany, let inverse = inverse(of: id) else { return false }
        return inverse.relationship.isToMany
    }

    /// The to-many relationships without inverse that point to `destination`.
    func virtualRelationships(to destination: Int) -> [RelationshipID] { virtual[destination] ?? [] }

    /// By destination, in Z_ENT order of the owners, then in the owner's dictionary order.
    private func findVirtual() -> [Int: [RelationshipID]] {
        var result: [Int: [RelationshipID]] = [:]
        for (owner, entity) in entities.enumerated() {
            let ids = entity.relationships.indices.map { RelationshipID(entity: owner, place: $0) }.filter { id in
                let relationship = relationship(id)
                return !relationship.isTransient && relationship.isToMany && inverses[id] == nil
            }
            let order = propertyOrders[owner]
            let ordered = ids.map { (order.firstIndex(of: relationship($0).name) ?? 0, $0) }
                .sorted { ($0.0, $0.1.place) < ($1.0, $1.1.place) }
            for (_, id) in ordered {
                guard let destination = indexes[relationship(id).destination] else { continue }
                result[destination, default: []].append(id)
            }
        }
        return result
    }

    /// The stored columns of an attribute: itself, or a composite's leaves in the model's order
    /// (InsideStoreFormat §4.2).
    static func storedLeaves(of attribute: Attribute) -> [(path: String, leaf: Attribute)] {
        guard !attribute.isTransient else { return [] }
        guard attribute.type == .composite else {
            return attribute.type.sqlType == nil ? [] : [(attribute.name, attribute)]
        }
        return attribute.elements.flatMap { element in
            storedLeaves(of: element).map { (attribute.name + "." + $0.path, $0.leaf) }
        }
    }
}

extension LayoutModel {
    private static func check(_ entity: Entity, in model: ManagedObjectModel) throws(StoreFormatError) {
        try check(entity.name, "the entity's name", of: entity)
        for attribute in entity.attributes { try check(attribute, of: entity, depth: 0) }
        for relationship in entity.relationships {
            try check(relationship.name, "relationship “\(relationship.name)”", of: entity)
            guard model.entities[relationship.destination] != nil else {
                throw StoreFormatError(
                    .unusableModel,
                    "“\(relationship.name)” points to “\(relationship.destination)”, which the model lacks: repair it",
                    place: entity.name)
            }
        }
        for index in entity.fetchIndexes { try check(index.name, "fetch index “\(index.name)”", of: entity) }
    }

    private static func check(_ name: String, _ what: String, of entity: Entity) throws(StoreFormatError) {
        guard SchemaNames.isSafe(name) else {
            throw StoreFormatError(
                .unusableModel,
                "\(what) can't be part of an SQL name: Core Data takes letters, digits and underscores only; rename it",
                place: entity.name)
        }
    }

    private static func check(_ attribute: Attribute, of entity: Entity, depth: Int) throws(StoreFormatError) {
        try check(attribute.name, "attribute “\(attribute.name)”", of: entity)
        guard depth < deepestComposite else {
            throw StoreFormatError(
                .unusableModel, "composites nest more than \(deepestComposite) deep: flatten them", place: entity.name)
        }
        for element in attribute.elements { try check(element, of: entity, depth: depth + 1) }
    }

    private static func checkTableNames(_ entities: [Entity]) throws(StoreFormatError) {
        // SQLite compares table names without regard to case; Core Data's house tables count too.
        var owners = ["Z_PRIMARYKEY": "Core Data", "Z_METADATA": "Core Data", "Z_MODELCACHE": "Core Data"]
        for entity in entities where entity.parent == nil {
            let table = SchemaNames.table(entity.name)
            if let other = owners.updateValue(entity.name, forKey: table) {
                throw StoreFormatError(
                    .unusableModel, "its table \(table) is that of “\(other)” too: rename one of them",
                    place: entity.name)
            }
        }
    }

    private static func inverses(
        _ entities: [Entity], indexes: [String: Int], lineages: [[Int]]
    ) -> [RelationshipID: RelationshipID] {
        var result: [RelationshipID: RelationshipID] = [:]
        for (owner, entity) in entities.enumerated() {
            for (place, relationship) in entity.relationships.enumerated() {
                guard let name = relationship.inverse,
                    let side = indexes[relationship.inverseEntity ?? relationship.destination]
                else { continue }
                result[RelationshipID(entity: owner, place: place)] = self.relationship(
                    named: name, in: lineages[side], of: entities)
            }
        }
        return result
    }

    private static func propertyOrder(
        _ lineage: [(index: Int, entity: Entity)], inverses: [RelationshipID: RelationshipID], entities: [Entity],
        hasSubentities: (String) -> Bool, width: HashWidth
    ) -> [String] {
        var names: [String] = []
        // Z_PK, Z_ENT, Z_OPT
        var entries = 3
        for (index, entity) in lineage {
            names += entity.attributes.filter { !$0.isTransient }.map(\.name)
            for (place, relationship) in entity.relationships.enumerated() where !relationship.isTransient {
                names.append(relationship.name)
                guard !relationship.isToMany else { continue }
                entries += 1
                if hasSubentities(relationship.destination) { entries += 1 }
                if let inverse = inverses[RelationshipID(entity: index, place: place)],
                    entities[inverse.entity].relationships[inverse.place].isOrdered
                {
                    entries += 1
                }
            }
        }
        return PropertyOrder.sorted(names, entries: entries + names.count, width: width)
    }
}
