import CausewayModel
import CausewayStoreFormat

/// How many rows of which entities a sound store can have: a mandatory attribute that must be unique has only so many
/// values, and a mandatory to-one needs a target, often one that no other row has.
struct RowLimits {
    /// The rows of `entities` together are bounded.
    private struct Limit {
        let entities: [String]
        let bound: Bound
    }

    private enum Bound {
        case rows(Int)
        /// So many for each row of these entities together.
        case each([String], Int)
        /// They come in pairs.
        case even
    }

    /// Rounds in which each entity keeps a row where it can; without an end two limits could take turns for long.
    private static let gentleRounds = 32

    private var limits: [Limit] = []
    private let concrete: [String]
    private let layout: StoreLayout

    init(_ layout: StoreLayout, unique: UniqueRoles) {
        self.layout = layout
        concrete = layout.entities.filter { layout.model.entities[$0]?.isAbstract == false }
        for (owner, capacity) in unique.capacities {
            limits.append(Limit(entities: kinds(of: owner), bound: .rows(capacity)))
        }
        for name in layout.entities {
            for relationship in layout.model.entities[name]?.relationships ?? []
            where !relationship.isToMany && !relationship.isTransient && !relationship.isOptional {
                addLimit(of: relationship, declaredBy: name, unique)
            }
        }
    }

    private mutating func addLimit(of relationship: Relationship, declaredBy name: String, _ unique: UniqueRoles) {
        let (rows, targets) = (kinds(of: name), kinds(of: relationship.destination))
        let inverse = layout.model.mutualInverse(of: relationship, declaredBy: name)
        var each = Int.max
        if unique.roles.contains(.toOne(entity: name, relationship: relationship.name)) { each = 1 }
        if let inverse {
            if !inverse.relationship.isToMany {
                each = 1
            } else if inverse.relationship.maxCount > 0 {
                each = min(each, inverse.relationship.maxCount)
            }
            if inverse.owner == name, inverse.relationship.name == relationship.name {
                limits.append(Limit(entities: rows, bound: .even))
            }
        }
        limits.append(Limit(entities: rows, bound: .each(targets, each)))
    }

    private func kinds(of entity: String) -> [String] { concrete.filter { layout.model.isKind($0, of: entity) } }

    /// Takes rows away until every limit is kept, and gives what is left of `rows` to an entity that has none.
    func apply(to counts: inout [String: Int], rows: Int) {
        guard !limits.isEmpty else { return }
        var round = 0
        while reduce(&counts, leaving: round < Self.gentleRounds ? 1 : 0) { round += 1 }
        let left = rows - counts.values.reduce(0, +)
        let limited = Set(limits.flatMap(\.entities))
        if left > 0, let free = concrete.last(where: { !limited.contains($0) }) { counts[free, default: 0] += left }
    }

    /// - Returns: whether anything was taken away.
    private func reduce(_ counts: inout [String: Int], leaving least: Int) -> Bool {
        var hasChanged = false
        for limit in limits {
            let sum = total(limit.entities, counts)
            var excess: Int
            switch limit.bound {
            case .rows(let bound): excess = sum - bound
            case .even: excess = sum % 2
            case .each(let others, let factor):
                let (bound, overflows) = total(others, counts).multipliedReportingOverflow(by: factor)
                excess = overflows ? 0 : sum - bound
            }
            for kept in Set([least, 0]).sorted(by: >) {
                for entity in limit.entities.reversed() where excess > 0 {
                    let taken = min(excess, max(0, (counts[entity] ?? 0) - kept))
                    counts[entity, default: 0] -= taken
                    excess -= taken
                    if taken > 0 { hasChanged = true }
                }
            }
        }
        return hasChanged
    }

    private func total(_ entities: [String], _ counts: [String: Int]) -> Int {
        entities.reduce(0) { $0 + (counts[$1] ?? 0) }
    }
}
