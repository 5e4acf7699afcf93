/// Questions about inheritance and inverses. An unknown entity gives the empty answer: the readers refuse models with
/// dangling names (`ModelError`), so above them a missing name is a programming error.
extension ManagedObjectModel {
    /// The entity and its ancestors, nearest first. A parent cycle, which the readers refuse, ends the walk.
    package func lineage(of name: String) -> [Entity] {
        var result: [Entity] = []
        var next: String? = name
        while let name = next, let entity = entities[name], result.count <= entities.count {
            result.append(entity)
            next = entity.parent
        }
        return result
    }

    /// The topmost ancestor: the entity whose table holds the rows.
    package func root(of name: String) -> String { facts.roots[name] ?? name }

    private var facts: HierarchyFacts { hierarchy.value { HierarchyFacts(entities) } }

    /// Names of the direct subentities, sorted as Core Data numbers them.
    package func subentities(of name: String) -> [String] {
        entities.values.filter { $0.parent == name }.map(\.name).sorted(by: ManagedObjectModel.entityOrder)
    }

    /// All entities in Z_ENT order: roots sorted without regard to case, each followed depth first by its subentities.
    /// The first has Z_ENT 1 (InsideStoreFormat §2).
    package func entitiesInStoreOrder() -> [String] {
        let children = Dictionary(grouping: entities.values, by: \.parent)
        var result: [String] = []
        func visitChildren(of parent: String?) {
            for name in (children[parent] ?? []).map(\.name).sorted(by: ManagedObjectModel.entityOrder) {
                result.append(name)
                visitChildren(of: name)
            }
        }
        visitChildren(of: nil)
        return result
    }

    /// Entity names compared as Core Data compares them for numbering: lower-cased, then as they are.
    package static func entityOrder(_ a: String, _ b: String) -> Bool {
        let (lowerA, lowerB) = (a.lowercased(), b.lowercased())
        return lowerA == lowerB ? compareOrder(a, b) : compareOrder(lowerA, lowerB)
    }

    /// Code-unit order, `-[NSString compare:]` for ASCII (InsideVersionHashes §2).
    package static func compareOrder(_ a: String, _ b: String) -> Bool {
        a.utf16.lexicographicallyPrecedes(b.utf16)
    }

    /// The relationship `name` as `entity` sees it, with the entity that declares it.
    package func relationship(_ name: String, of entity: String) -> (owner: String, relationship: Relationship)? {
        let facts = facts
        guard let (owner, place) = facts.nearest(to: entity, { facts.relationships[$0]?[name] }) else { return nil }
        return entities[owner].map { (owner, $0.relationships[place]) }
    }

    /// The attribute `name` as `entity` sees it, with the entity that declares it.
    package func attribute(_ name: String, of entity: String) -> (owner: String, attribute: Attribute)? {
        let facts = facts
        guard let (owner, place) = facts.nearest(to: entity, { facts.attributes[$0]?[name] }) else { return nil }
        return entities[owner].map { (owner, $0.attributes[place]) }
    }

    /// The entity that declares the attribute `name` as `entity` sees it.
    package func owner(ofAttribute name: String, seenBy entity: String) -> String? {
        let facts = facts
        return facts.nearest(to: entity) { facts.attributes[$0]?[name] }?.owner
    }

    /// The inverse of a relationship, with the entity that declares it; nil where there is none.
    package func inverse(of relationship: Relationship) -> (owner: String, relationship: Relationship)? {
        guard let inverse = relationship.inverse else { return nil }
        return self.relationship(inverse, of: relationship.inverseEntity ?? relationship.destination)
    }

    /// Whether `entity` is `ancestor` or inherits from it.
    package func isKind(_ entity: String, of ancestor: String) -> Bool {
        facts.nearest(to: entity) { $0 == ancestor ? 0 : nil } != nil && entities[ancestor] != nil
    }

    /// The name of a configuration that has exactly these entities, fewer than the model.
    package func configuration(of names: Set<String>) -> String? {
        guard !names.isEmpty, names.count < entities.count else { return nil }
        return configurations.sorted { $0.key < $1.key }.first { Set($0.value) == names }?.key
    }

    /// The entity and all entities that inherit from it, in no order.
    package func entityAndSubentities(of name: String) -> [String] {
        let facts = facts
        guard facts.roots[name] != nil else { return [] }
        var (result, next) = ([name], 0)
        // A cycle, which the readers refuse, ends the walk.
        while next < result.count, result.count <= entities.count {
            result += facts.children[result[next]] ?? []
            next += 1
        }
        return result
    }

    /// The names of the entity and its ancestors, nearest first.
    package func kinds(of entity: String) -> [String] {
        let facts = facts
        var result: [String] = []
        _ = facts.nearest(to: entity) { (name: String) -> Int? in
            if facts.roots[name] != nil { result.append(name) }
            return nil
        }
        return result
    }
}
