import CausewayEvaluation

/// New rows that have members already, by the column that holds the members' links. Most are never asked about: they
/// enter the set when one is.
struct LinkedOwners {
    /// Links in a row that are remembered without looking for the same owner.
    private static let capacity = 8_192

    private var pending: [ObjectContext.LinkedOwner] = []
    private var known: Set<ObjectContext.LinkedOwner> = []

    mutating func insert(_ owner: ObjectContext.LinkedOwner) {
        if pending.last != owner { pending.append(owner) }
        if pending.count >= Self.capacity { gather() }
    }

    private mutating func gather() {
        known.formUnion(pending)
        pending.removeAll(keepingCapacity: true)
    }

    mutating func contains(_ owner: ObjectContext.LinkedOwner) -> Bool {
        gather()
        return known.contains(owner)
    }

    mutating func removeAll() {
        pending.removeAll(keepingCapacity: true)
        if !known.isEmpty { known.removeAll(keepingCapacity: true) }
    }
}
