import CausewayModel
import CausewayStoreFormat

/// Which columns carry the uniqueness constraints: one property of each gets a different value in every row of the
/// table, so that the constraint holds whatever the others are.
enum UniqueRoles {
    /// The sooner a type stands here, the better it carries uniqueness.
    private static let types: [AttributeType] = [
        .string, .uuid, .integer64, .integer32, .uri, .decimal, .double, .date, .binary, .float,
    ]
    /// Types with few values: rows beyond get NULL, which a unique index doesn't compare. A to-one is better.
    private static let narrowTypes: [AttributeType] = [.integer16, .boolean]

    static func roles(in layout: StoreLayout) -> Set<ColumnRole> {
        var result: Set<ColumnRole> = []
        for entity in layout.entities {
            for constraint in layout.model.entities[entity]?.uniquenessConstraints ?? [] {
                let ranked = constraint.compactMap { rank($0, of: entity, in: layout.model) }
                if let best = ranked.min(by: { $0.rank < $1.rank }) { result.insert(best.role) }
            }
        }
        return result
    }

    private static func rank(
        _ property: String, of entity: String, in model: ManagedObjectModel
    ) -> (rank: Int, role: ColumnRole)? {
        if let (owner, attribute) = model.attribute(property, of: entity) {
            let role = ColumnRole.attribute(entity: owner, path: property)
            if let place = types.firstIndex(of: attribute.type) { return (place, role) }
            return narrowTypes.firstIndex(of: attribute.type).map { (types.count + 1 + $0, role) }
        }
        guard let (owner, relationship) = model.relationship(property, of: entity), !relationship.isToMany else {
            return nil
        }
        return (types.count, .toOne(entity: owner, relationship: property))
    }
}
