import Synchronization

/// Inheritance in a model, computed once from its entities: it is looked up for every column of every entity, and an
/// entity is large to copy.
struct HierarchyIndex: Hashable, Sendable {
    struct Facts: Sendable {
        /// By entity.
        var parents: [String: String] = [:]
        var roots: [String: String] = [:]
        /// Direct subentities, in no order.
        var children: [String: [String]] = [:]
        /// Places among an entity's own properties, by entity and name.
        var attributes: [String: [String: Int]] = [:]
        var relationships: [String: [String: Int]] = [:]
    }

    private final class Memory: Sendable {
        let facts = Mutex<Facts?>(nil)
    }

    private let memory = Memory()

    /// Of the entities of the model that the index is a part of.
    func facts(of entities: [String: Entity]) -> Facts {
        memory.facts.withLock { known in
            if let known { return known }
            let made = Facts(entities)
            known = made
            return made
        }
    }

    /// It depends on the entities, which are compared.
    static func == (left: HierarchyIndex, right: HierarchyIndex) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}

extension HierarchyIndex.Facts {
    fileprivate init(_ entities: [String: Entity]) {
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
}
