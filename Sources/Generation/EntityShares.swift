import CausewayModel
import CausewayStoreFormat

/// How many rows each concrete entity gets.
///
/// The sides of a to-many that hold the keys get more rows than others. Entities linked by a mandatory one-to-one get
/// equally many, so that every row finds its partner.
struct EntityShares {
    /// A child of one owner has this many times the share of its owner …
    private static let childFactor = 4
    /// … and no entity more than this: several factors multiplied would leave the others nothing.
    private static let largestWeight = 16

    /// By entity; abstract ones are missing.
    let counts: [String: Int]
    let weights: [String: Int]

    init(_ layout: StoreLayout, rows: Int, unique: UniqueRoles) {
        let concrete = layout.entities.filter { layout.model.entities[$0]?.isAbstract == false }
        let groups = EntityShares.groups(concrete, in: layout.model)
        var weights: [String: Int] = [:]
        let listed = Set(
            layout.model.entities.values.flatMap(\.relationships).filter {
                $0.isToMany && !$0.isTransient && layout.model.inverse(of: $0) == nil
            }.map(\.destination))
        for group in groups {
            let weight = group.map { EntityShares.weight(of: $0, in: layout.model, listed: listed) }.max() ?? 1
            for entity in group { weights[entity] = weight }
        }
        self.weights = weights
        var counts = EntityShares.counts(groups, weights: weights, rows: rows)
        RowLimits(layout, unique: unique).apply(to: &counts, rows: rows)
        self.counts = counts
    }

    /// 1, or more where the entity is the many side; `listed` are the destinations of to-manys without inverse.
    private static func weight(of entity: String, in model: ManagedObjectModel, listed: Set<String>) -> Int {
        var weight = 1
        for ancestor in model.lineage(of: entity) {
            for relationship in ancestor.relationships where !relationship.isToMany && !relationship.isTransient {
                if model.inverse(of: relationship)?.relationship.isToMany == true { weight *= childFactor }
            }
            if listed.contains(ancestor.name) { weight *= childFactor }
            weight = min(weight, largestWeight)
        }
        return weight
    }

    /// Entities that must have equal counts together, everything else alone; in Z_ENT order of their first entity.
    private static func groups(_ concrete: [String], in model: ManagedObjectModel) -> [[String]] {
        var places: [String: Int] = [:]
        for (number, entity) in concrete.enumerated() { places[entity] = number }
        // Each entity's way to the first of its group.
        var leaders = Array(concrete.indices)
        func leader(of place: Int) -> Int {
            var leader = place
            while leaders[leader] != leader { leader = leaders[leader] }
            leaders[place] = leader
            return leader
        }
        func join(_ a: Int, _ b: Int) {
            let (a, b) = (leader(of: a), leader(of: b))
            leaders[max(a, b)] = min(a, b)
        }
        for (place, entity) in concrete.enumerated() {
            for ancestor in model.lineage(of: entity) {
                for relationship in ancestor.relationships where !relationship.isToMany && !relationship.isTransient {
                    guard let inverse = model.inverse(of: relationship)?.relationship, !inverse.isToMany,
                        !relationship.isOptional || !inverse.isOptional
                    else { continue }
                    for partner in concrete where model.isKind(partner, of: relationship.destination) {
                        if let other = places[partner] { join(place, other) }
                    }
                }
            }
        }
        let members = Dictionary(grouping: concrete.indices, by: leader(of:))
        return members.sorted { $0.key < $1.key }.map { $0.value.map { concrete[$0] } }
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
