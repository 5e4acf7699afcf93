/// Inheritance in a model, computed once from its entities: it is looked up for every column of every entity, and an
/// entity is large to copy.
struct HierarchyFacts: Sendable {
    /// By entity.
    private(set) var parents: [String: String] = [:]
    private(set) var roots: [String: String] = [:]
    /// Direct subentities, in no order.
    private(set) var children: [String: [String]] = [:]
    /// Places among an entity's own properties, by entity and name.
    private(set) var attributes: [String: [String: Int]] = [:]
    private(set) var relationships: [String: [String: Int]] = [:]

    init(_ entities: [String: Entity]) {
        for (name, entity) in entities {
            parents[name] = entity.parent
            if let parent = entity.parent { children[parent, default: []].append(name) }
            attributes[name] = Dictionary(
                zip(entity.attributes.map(\.name), 0...), uniquingKeysWith: { first, _ in first })
            relationships[name] = Dictionary(
                zip(entity.relationships.map(\.name), 0...), uniquingKeysWith: { first, _ in first })
        }
        for name in entities.keys {
            var (root, steps) = (name, 0)
            while let parent = parents[root], steps <= entities.count {
                root = parent
                steps += 1
            }
            roots[name] = root
        }
    }

    /// The first result of the entity and its ancestors.
    func nearest(to entity: String, _ place: (String) -> Int?) -> (owner: String, place: Int)? {
        var next: String? = entity
        var steps = 0
        while let name = next, steps <= parents.count {
            if let place = place(name) { return (name, place) }
            next = parents[name]
            steps += 1
        }
        return nil
    }
}
