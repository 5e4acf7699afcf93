/// Which entity's row has which key in a table that several entities share: an arithmetic rule, so that keys of any
/// number of rows need no table of their own.
///
/// The entities take turns in a fixed pattern, each as often as its weight says; rows that the pattern leaves over
/// follow entity by entity.
struct KeySpace {
    /// The concrete entities with their rows, in Z_ENT order.
    let entities: [(name: String, number: Int, count: Int)]
    let rowCount: Int

    private let weights: [Int]
    /// Place in `entities` by slot of the pattern.
    private let pattern: [Int]
    /// How many slots before it belong to the same entity, by slot.
    private let turns: [Int]
    /// An entity's slots in the pattern.
    private let slots: [[Int]]
    private let periods: Int
    /// First index of each entity's left-over rows; one more at the end.
    private let rests: [Int]

    init(_ entities: [(name: String, number: Int, count: Int, weight: Int)]) {
        self.entities = entities.map { ($0.name, $0.number, $0.count) }
        rowCount = entities.reduce(0) { $0 + $1.count }
        let weights = entities.map(\.weight)
        self.weights = weights
        let length = weights.reduce(0, +)
        var pattern: [Int] = []
        var turns: [Int] = []
        var slots: [[Int]] = entities.map { _ in [] }
        for slot in 0..<length {
            // The entity that lags most behind its share.
            let next = entities.indices.max { a, b in
                weights[a] * (slot + 1) - slots[a].count * length < weights[b] * (slot + 1) - slots[b].count * length
            }
            guard let next else { break }
            pattern.append(next)
            turns.append(slots[next].count)
            slots[next].append(slot)
        }
        // The lag rule gives each entity exactly its weight; rounding could not matter, but the formulas rest on it.
        precondition(zip(slots, weights).allSatisfy { $0.count == $1 })
        self.pattern = pattern
        self.turns = turns
        self.slots = slots
        periods = entities.map { $0.count / $0.weight }.min() ?? 0
        var rests = [periods * length]
        for (entity, weight) in zip(entities, weights) {
            rests.append(rests[rests.count - 1] + entity.count - periods * weight)
        }
        self.rests = rests
    }

    /// The entity (its place in `entities`) whose row has the key `index + 1`, and the row's number among that
    /// entity's.
    func row(at index: Int) -> (entity: Int, ordinal: Int) {
        if index < rests[0] {
            let slot = index % pattern.count
            let entity = pattern[slot]
            return (entity, index / pattern.count * weights[entity] + turns[slot])
        }
        var entity = 0
        while index >= rests[entity + 1] { entity += 1 }
        return (entity, periods * weights[entity] + index - rests[entity])
    }

    /// Z_PK of an entity's row.
    func key(of entity: Int, _ ordinal: Int) -> Int {
        let weight = weights[entity]
        if ordinal < periods * weight {
            return ordinal / weight * pattern.count + slots[entity][ordinal % weight] + 1
        }
        return rests[entity] + ordinal - periods * weight + 1
    }
}

/// The rows of an entity and its subentities, numbered from 0: what a relationship can point to.
struct Population {
    let count: Int
    let keys: KeySpace
    /// Places in `keys.entities` with the first index of each.
    private let members: [(place: Int, base: Int)]

    init(keys: KeySpace, isMember: (String) -> Bool) {
        self.keys = keys
        var members: [(place: Int, base: Int)] = []
        var count = 0
        for (place, candidate) in keys.entities.enumerated() where candidate.count > 0 && isMember(candidate.name) {
            members.append((place, count))
            count += candidate.count
        }
        self.members = members
        self.count = count
    }

    /// Index of the entity's first row; nil where the entity has no rows here.
    func base(of place: Int) -> Int? {
        members.first { $0.place == place }?.base
    }

    /// Z_PK and Z_ENT of the row with the given index, which must be below `count`.
    func row(at index: Int) -> (key: Int, number: Int) {
        var low = 0
        var high = members.count - 1
        while low < high {
            let middle = (low + high + 1) / 2
            if members[middle].base <= index { low = middle } else { high = middle - 1 }
        }
        let member = members[low]
        return (keys.key(of: member.place, index - member.base), keys.entities[member.place].number)
    }

    /// Whether both are the same rows under the same numbers.
    func isSame(as other: Population) -> Bool {
        count == other.count
            && zip(members, other.members).allSatisfy { $0.place == $1.place }
            && keys.entities.first?.number == other.keys.entities.first?.number
    }
}
