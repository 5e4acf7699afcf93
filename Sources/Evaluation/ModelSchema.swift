package import CausewayModel

/// A property's name in one model, resolved once: used instead of strings to read rows.
package struct PropertyHandle: Hashable, Sendable {
    /// Index into `ModelSchema.names`.
    package let index: Int

    package init(index: Int) {
        self.index = index
    }
}

/// A model prepared for reading rows by number: entities by Z_ENT, properties by handle.
package struct ModelSchema: Sendable {
    package enum Property: Hashable, Sendable {
        /// An attribute that isn't composite, or a composite's leaf (its name is `composite.leaf`).
        case attribute(Attribute)
        case composite(Attribute)
        case relationship(Relationship)
        case fetched(FetchedProperty)
    }

    package let model: ManagedObjectModel
    /// Entity names; the first has Z_ENT 1.
    package let entities: [String]
    /// Every property name of the model, leaf paths of composites included, sorted; a handle is a place in this list.
    package let names: [String]
    private let handles: [String: Int]
    /// By Z_ENT − 1, then by handle.
    private let properties: [[Property?]]

    package init(_ model: ManagedObjectModel) {
        self.model = model
        entities = model.entitiesInStoreOrder()
        var byEntity: [[String: Property]] = []
        for entity in entities {
            var found: [String: Property] = [:]
            // From the root down, so that a subentity's own declaration wins.
            for ancestor in model.lineage(of: entity).reversed() {
                for attribute in ancestor.attributes { Self.add(attribute, path: attribute.name, to: &found) }
                for relationship in ancestor.relationships { found[relationship.name] = .relationship(relationship) }
                for fetched in ancestor.fetchedProperties { found[fetched.name] = .fetched(fetched) }
            }
            byEntity.append(found)
        }
        let names = Set(byEntity.flatMap(\.keys)).sorted()
        self.names = names
        handles = Dictionary(zip(names, 0...), uniquingKeysWith: { first, _ in first })
        properties = byEntity.map { found in names.map { found[$0] } }
    }

    private static func add(_ attribute: Attribute, path: String, to found: inout [String: Property]) {
        guard attribute.type == .composite else {
            found[path] = .attribute(attribute)
            return
        }
        found[path] = .composite(attribute)
        for element in attribute.elements { add(element, path: "\(path).\(element.name)", to: &found) }
    }

    /// nil for a name that no entity has.
    package func handle(of name: String) -> PropertyHandle? {
        handles[name].map(PropertyHandle.init(index:))
    }

    /// Whether a handle is this name's: one of another model is an index into another list.
    package func isName(_ name: String, of handle: PropertyHandle) -> Bool {
        handle.index < names.count && names[handle.index] == name
    }

    /// The property as the entity with this Z_ENT sees it; nil where it has none of that name.
    package func property(_ handle: PropertyHandle, of entity: Int) -> Property? {
        guard properties.indices.contains(entity - 1), names.indices.contains(handle.index) else { return nil }
        return properties[entity - 1][handle.index]
    }

    /// Z_ENT by name; nil for an entity that the model lacks.
    package func number(of entity: String) -> Int? {
        entities.firstIndex(of: entity).map { $0 + 1 }
    }
}
