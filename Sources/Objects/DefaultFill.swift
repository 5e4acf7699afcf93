import CausewayPlanning

/// What the default policy fills a mapping's rows with, prepared once for a session. Every row takes it in hand: one
/// reference is counted, not that of each array.
final class DefaultFill {
    /// In the mapping's order: an expression may read what was filled before it.
    enum Step {
        /// These of `carried`.
        case carry(Range<Int>)
        /// This of the plan's attributes.
        case compute(Int)
    }

    let steps: [Step]
    let carried: [CarriedColumn]
    /// To-ones whose keys are copied.
    let keys: [KeyCarrying]

    /// Whether expressions are evaluated.
    let computes: Bool

    init(_ plan: EntityMappingPlan) {
        keys = plan.keys.map { KeyCarrying($0) }
        var (steps, carried, computes) = ([Step](), [CarriedColumn](), false)
        for (index, fill) in plan.attributes.enumerated() {
            switch fill.origin {
            case .carry(let cell):
                carried.append(CarriedColumn(cell: Int32(cell), column: fill.column))
                if case .carry(let range)? = steps.last {
                    steps[steps.count - 1] = .carry(range.lowerBound..<carried.count)
                } else {
                    steps.append(.carry(carried.count - 1..<carried.count))
                }
            case .compute:
                steps.append(.compute(index))
                computes = true
            }
        }
        (self.steps, self.carried, self.computes) = (steps, carried, computes)
    }
}

/// What of a `KeyFill` every row needs.
struct KeyCarrying {
    let name: String
    let key: Int
    let entity: Int?
    let place: Int?
    let numbers: [Int32: Int32]
    let declared: Int32
    let column: Int
    let entityColumn: Int?
    let placeColumn: Int?

    init(_ fill: EntityMappingPlan.KeyFill) {
        name = fill.relationship.name
        (key, entity, place, numbers, declared) = (fill.key, fill.entity, fill.place, fill.numbers, fill.declared)
        (column, entityColumn, placeColumn) = (fill.column, fill.entityColumn, fill.placeColumn)
    }
}
