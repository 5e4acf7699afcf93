import CausewayModel
import CausewayStoreFormat

/// Which columns carry the uniqueness constraints: one property of each gets a different value in every row of the
/// table, so that the constraint holds whatever the others are.
struct UniqueRoles {
    /// The sooner a type stands here, the better it carries uniqueness.
    private static let types: [AttributeType] = [
        .string, .uuid, .integer64, .integer32, .uri, .decimal, .double, .date, .binary, .float,
    ]

    /// How well a property carries uniqueness: the first is best.
    private enum Rank: Int {
        case optionalToOne, integer16, mandatoryToOne, fewOptional, fewMandatory

        var place: Int { UniqueRoles.types.count + rawValue }
    }

    private struct Carrier {
        let rank: Int
        let role: ColumnRole
        /// The entity whose rows have the property.
        let owner: String
        /// Values that there are; nil: enough for all rows.
        var capacity: Int?
        var isOptional: Bool
    }

    private(set) var roles: Set<ColumnRole> = []
    /// Most rows that entities and their subentities can have, because a mandatory value is another in each.
    private(set) var capacities: [(owner: String, rows: Int)] = []

    /// `rows` are those of the whole store: no attribute needs more values.
    init(in layout: StoreLayout, rows: Int) {
        for entity in layout.entities {
            for constraint in layout.model.entities[entity]?.uniquenessConstraints ?? [] {
                let carriers = constraint.compactMap { UniqueRoles.carrier($0, of: entity, in: layout.model, rows) }
                let best = carriers.min { a, b in
                    a.rank == b.rank ? (a.capacity ?? .max) > (b.capacity ?? .max) : a.rank < b.rank
                }
                guard let best else {
                    // Values that are computed from other rows: nothing makes them different.
                    if !constraint.isEmpty { capacities.append((entity, 1)) }
                    continue
                }
                roles.insert(best.role)
                // Rows beyond get NULL, which a unique index doesn't compare.
                if let capacity = best.capacity, !best.isOptional { capacities.append((best.owner, capacity)) }
            }
        }
    }

    private static func carrier(
        _ property: String, of entity: String, in model: ManagedObjectModel, _ rows: Int
    ) -> Carrier? {
        if let (owner, attribute) = model.attribute(property, of: entity) {
            guard attribute.derivation == nil || attribute.isComputedByTime else { return nil }
            let role = ColumnRole.attribute(entity: owner, path: property)
            let capacity = capacity(of: attribute).flatMap { $0 < rows ? $0 : nil }
            let isFew = capacity != nil
            let few = attribute.isOptional ? Rank.fewOptional : Rank.fewMandatory
            let place = attribute.type == .integer16 ? Rank.integer16.place : types.firstIndex(of: attribute.type)
            guard let rank = isFew ? few.place : place ?? (attribute.type.isCounted ? Rank.integer16.place : nil) else {
                return nil
            }
            return Carrier(
                rank: rank, role: role, owner: owner, capacity: capacity, isOptional: attribute.isOptional)
        }
        guard let (owner, relationship) = model.relationship(property, of: entity), !relationship.isToMany else {
            return nil
        }
        // How many there can be is for the limits of mandatory to-ones.
        let rank = relationship.isOptional ? Rank.optionalToOne : .mandatoryToOne
        return Carrier(
            rank: rank.place, role: .toOne(entity: owner, relationship: property), owner: owner,
            isOptional: relationship.isOptional)
    }

    /// How many different values the generator has for an attribute; nil: for any number of rows.
    private static func capacity(of attribute: Attribute) -> Int? {
        let bounds = ValueBounds(attribute)
        switch attribute.type {
        case .boolean: return 2
        case .integer16, .integer32, .integer64:
            let range = ValueRecipe.integerRange(of: attribute, bounds)
            let (width, overflows) = range.upperBound.subtractingReportingOverflow(range.lowerBound)
            return overflows || width == .max ? nil : width + 1
        case .double, .float, .decimal, .date:
            guard let least = bounds.least, let most = bounds.most else { return nil }
            return most > least ? nil : 1
        case .string:
            if bounds.hasPattern, attribute.defaultValue != nil { return 1 }
            // Numbers from 1 on, of so many digits.
            guard let most = bounds.mostLength, most < 10 else { return nil }
            return (0..<max(0, most)).reduce(1) { product, _ in product * 10 } - (most > 0 ? 1 : 0)
        case .transformable: return SampleArchives.count
        case .uuid, .uri, .binary, .undefined, .objectID, .composite: return nil
        }
    }
}

extension AttributeType {
    /// Has a value for each of a few numbers.
    fileprivate var isCounted: Bool { self == .boolean || self == .transformable }
}
