import CausewayModel

/// The differences of two entities, as texts short enough for the message of a failed test.
enum EntityDifference {
    static func between(_ a: Entity, _ b: Entity) -> [String] {
        if a == b { return [] }
        return lines("entity", without(a), without(b)) + lists("attribute", a.attributes, b.attributes)
            + lists("relationship", a.relationships, b.relationships) + lists("index", a.fetchIndexes, b.fetchIndexes)
            + lists("fetched property", a.fetchedProperties, b.fetchedProperties)
    }

    private static func without(_ entity: Entity) -> Entity {
        var entity = entity
        entity.attributes = []
        entity.relationships = []
        entity.fetchIndexes = []
        entity.fetchedProperties = []
        return entity
    }

    private static func lists<Value>(_ kind: String, _ a: [Value], _ b: [Value]) -> [String] {
        if a.count != b.count { return ["\(kind)s: \(a.count) and \(b.count)"] }
        return zip(a, b).flatMap { lines(kind, $0, $1) }
    }

    private static func lines(_ kind: String, _ a: Any, _ b: Any) -> [String] {
        zip(Mirror(reflecting: a).children, Mirror(reflecting: b).children).compactMap { left, right in
            let (x, y) = ("\(left.value)", "\(right.value)")
            return x == y ? nil : "\(kind) \(left.label ?? ""): \(x) | \(y)"
        }
    }
}
