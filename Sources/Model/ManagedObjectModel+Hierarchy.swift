/// Questions about inheritance and inverses. An entity that isn't in the model gives the empty answer: the readers
/// refuse models with dangling names (`ModelError`), so that above them a missing name is a programming error.
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
    package func root(of name: String) -> String {
        var root = name
        var steps = 0
        while let parent = entities[root]?.parent, steps <= entities.count {
            root = parent
            steps += 1
        }
        return root
    }

    /// Names of the direct subentities, sorted as Core Data numbers them.
    package func subentities(of name: String) -> [String] {
        entities.values.filter { $0.parent == name }.map(\.name).sorted(by: ManagedObjectModel.entityOrder)
    }

    /// All entities in Z_ENT order: roots sorted without regard to case, each followed depth first by its subentities.
    /// The first has Z_ENT 1 (store-format.md §2).
    package func entitiesInStoreOrder() -> [String] {
        var children: [String: [String]] = [:]
        var roots: [String] = []
        for entity in entities.values {
            if let parent = entity.parent {
                children[parent, default: []].append(entity.name)
            } else {
                roots.append(entity.name)
            }
        }
        var result: [String] = []
        func visit(_ name: String) {
            result.append(name)
            for child in (children[name] ?? []).sorted(by: ManagedObjectModel.entityOrder) { visit(child) }
        }
        for root in roots.sorted(by: ManagedObjectModel.entityOrder) { visit(root) }
        return result
    }

    /// Entity names compared as Core Data compares them for numbering: lower-cased, then as they are.
    package static func entityOrder(_ a: String, _ b: String) -> Bool {
        let (lowerA, lowerB) = (a.lowercased(), b.lowercased())
        return lowerA == lowerB ? compareOrder(a, b) : compareOrder(lowerA, lowerB)
    }

    /// Code-unit order, `-[NSString compare:]` for ASCII (version-hash.md §1).
    package static func compareOrder(_ a: String, _ b: String) -> Bool {
        a.utf16.lexicographicallyPrecedes(b.utf16)
    }

    /// The relationship `name` as `entity` sees it, with the entity that declares it.
    package func relationship(_ name: String, of entity: String) -> (owner: String, relationship: Relationship)? {
        for ancestor in lineage(of: entity) {
            if let found = ancestor.relationships.first(where: { $0.name == name }) { return (ancestor.name, found) }
        }
        return nil
    }

    /// The attribute `name` as `entity` sees it, with the entity that declares it.
    package func attribute(_ name: String, of entity: String) -> (owner: String, attribute: Attribute)? {
        for ancestor in lineage(of: entity) {
            if let found = ancestor.attributes.first(where: { $0.name == name }) { return (ancestor.name, found) }
        }
        return nil
    }

    /// The inverse of a relationship, with the entity that declares it; nil where there is none.
    package func inverse(of relationship: Relationship) -> (owner: String, relationship: Relationship)? {
        guard let inverse = relationship.inverse else { return nil }
        return self.relationship(inverse, of: relationship.inverseEntity ?? relationship.destination)
    }

    /// Whether `entity` is `ancestor` or inherits from it.
    package func isKind(_ entity: String, of ancestor: String) -> Bool {
        var next: String? = entity
        var steps = 0
        while let name = next, steps <= entities.count {
            if name == ancestor { return entities[name] != nil }
            next = entities[name]?.parent
            steps += 1
        }
        return false
    }
}
