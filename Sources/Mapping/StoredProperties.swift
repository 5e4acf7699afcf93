package import CausewayModel

extension ManagedObjectModel {
    /// The attributes that have columns in `entity`'s rows, inherited ones included, composites replaced by their
    /// leaves (`composite.leaf`), sorted by path. Transient and undefined ones aren't stored.
    package func storedAttributes(of entity: String) -> [(path: String, attribute: Attribute)] {
        var result: [(path: String, attribute: Attribute)] = []
        var seen = Set<String>()
        for ancestor in lineage(of: entity) {
            for attribute in ancestor.attributes where seen.insert(attribute.name).inserted {
                appendLeaves(of: attribute, prefix: "", into: &result)
            }
        }
        return result.sorted { ManagedObjectModel.compareOrder($0.path, $1.path) }
    }

    /// The attribute, or the leaf of a composite, that `path` names among `storedAttributes(of:)`.
    package func storedLeaf(_ path: String, of entity: String) -> Attribute? {
        let name = String(path.prefix { $0 != "." })
        guard let attribute = attribute(name, of: entity)?.attribute else { return nil }
        var leaves: [(path: String, attribute: Attribute)] = []
        appendLeaves(of: attribute, prefix: "", into: &leaves)
        return leaves.first { $0.path == path }?.attribute
    }

    /// Attributes by name as `entity` sees them, transient ones included.
    package func allAttributes(of entity: String) -> [String: Attribute] {
        var result: [String: Attribute] = [:]
        for ancestor in lineage(of: entity) {
            for attribute in ancestor.attributes where result[attribute.name] == nil {
                result[attribute.name] = attribute
            }
        }
        return result
    }

    /// The relationships that have columns or join rows, inherited ones included, sorted by name.
    package func storedRelationships(of entity: String) -> [Relationship] {
        var result: [String: Relationship] = [:]
        for ancestor in lineage(of: entity) {
            for relationship in ancestor.relationships where result[relationship.name] == nil {
                result[relationship.name] = relationship
            }
        }
        return result.values.filter { !$0.isTransient }.sorted { ManagedObjectModel.compareOrder($0.name, $1.name) }
    }

    private func appendLeaves(
        of attribute: Attribute, prefix: String, into result: inout [(path: String, attribute: Attribute)]
    ) {
        guard !attribute.isTransient, attribute.type != .undefined else { return }
        if attribute.type == .composite {
            for element in attribute.elements {
                appendLeaves(of: element, prefix: prefix + attribute.name + ".", into: &result)
            }
        } else {
            result.append((prefix + attribute.name, attribute))
        }
    }
}
