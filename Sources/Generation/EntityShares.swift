import CausewayModel
import CausewayStoreFormat

/// How many rows each concrete entity gets.
///
/// The sides of a to-many that hold the keys get more rows than others. Entities that a mandatory one-to-one ties
/// together get equally many, so that every row finds its partner.
struct EntityShares {
    /// A child of one owner has this many times the share of its owner …
    private static let childFactor = 4
    /// … and no entity more than this: several factors multiplied would leave the others nothing.
    private static let largestWeight = 16

    /// By entity; abstract ones are missing.
    let counts: [String: Int]
    let weights: [String: Int]

    init(_ layout: StoreLayout, rows: Int) {
        let concrete = layout.entities.filter { layout.model.entities[$0]?.isAbstract == false }
        let groups = EntityShares.groups(concrete, in: layout.model)
        var weights: [String: Int] = [:]
        for group in groups {
            let weight = group.map { EntityShares.weight(of: $0, in: layout.model) }.max() ?? 1
            for entity in group { weights[entity] = weight }
        }
        self.weights = weights
        counts = EntityShares.counts(groups, weights: weights, rows: rows)
    }

    /// 1, or more where the entity is the many side.
    private static func weight(of entity: String, in model: ManagedObjectModel) -> Int {
        var weight = 1
        for ancestor in model.lineage(of: entity) {
            for relationship in ancestor.relationships where !relationship.isToMany && !relationship.isTransient {
                if model.inverse(of: relationship)?.relationship.isToMany == true { weight *= childFactor }
            }
            let isListed = model.entities.values.contains { owner in
                owner.relationships.contains {
                    $0.isToMany && !$0.isTransient && $0.destination == ancestor.name && model.inverse(of: $0) == nil
                }
            }
            if isListed { weight *= childFactor }
        }
        return min(weight, largestWeight)
    }

    /// Entities that must have equal counts together, everything else alone; in Z_ENT order of their first entity.
    private static func groups(_ concrete: [String], in model: ManagedObjectModel) -> [[String]] {
        var groupOf: [String: Int] = [:]
        for (number, entity) in concrete.enumerated() { groupOf[entity] = number }
        func join(_ a: Int, _ b: Int) {
            for (entity, group) in groupOf where group == max(a, b) { groupOf[entity] = min(a, b) }
        }
        for entity in concrete {
            for ancestor in model.lineage(of: entity) {
                for relationship in ancestor.relationships where !relationship.isToMany && !relationship.isTransient {
                    guard let inverse = model.inverse(of: relationship)?.relationship, !inverse.isToMany,
                        !relationship.isOptional || !inverse.isOptional
                    else { continue }
                    let partners = concrete.filter { model.isKind($0, of: relationship.destination) }
                    for partner in partners {
                        if let a = groupOf[entity], let b = groupOf[partner], a != b { join(a, b) }
                    }
                }
            }
        }
        return concrete.indices.compactMap { number in
            let members = concrete.filter { groupOf[$0] == number }
            return members.isEmpty ? nil : members
        }
    }

    /// One row each where there are enough, the rest by weight; what doesn't divide goes to whole groups first.
    private static func counts(_ groups: [[String]], weights: [String: Int], rows: Int) -> [String: Int] {
        let entities = groups.flatMap(\.self)
        guard !entities.isEmpty, rows > entities.count else {
            return Dictionary(uniqueKeysWithValues: entities.enumerated().map { ($1, $0 < rows ? 1 : 0) })
        }
        let total = entities.reduce(0) { $0 + (weights[$1] ?? 1) }
        let scale = (rows - entities.count) / total
        var counts: [String: Int] = [:]
        for entity in entities { counts[entity] = 1 + scale * (weights[entity] ?? 1) }
        var left = rows - entities.count - scale * total
        // Heaviest first; each group may take up to its weight, as the next full share would give it.
        let order = groups.enumerated().sorted {
            let (a, b) = (weights[$0.element[0]] ?? 1, weights[$1.element[0]] ?? 1)
            return a == b ? $0.offset < $1.offset : a > b
        }
        for (_, group) in order {
            let each = min(left / group.count, weights[group[0]] ?? 1)
            for entity in group { counts[entity, default: 0] += each }
            left -= each * group.count
        }
        if left > 0, let last = order.last(where: { $0.element.count == 1 })?.element[0] ?? entities.last {
            counts[last, default: 0] += left
        }
        return counts
    }
}
