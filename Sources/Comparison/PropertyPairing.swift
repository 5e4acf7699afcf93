/// The properties of one entity that both stores have, and those that only one has.
struct PropertyPairing {
    /// One property in both stores.
    struct Pair {
        let identity: ComparedProperty.Identity
        let a: ComparedProperty
        let b: ComparedProperty
    }

    /// By name.
    let pairs: [Pair]
    let onlyInA: [String]
    let onlyInB: [String]

    init(of entity: String, _ first: ComparedTable?, _ second: ComparedTable?) {
        func properties(_ table: ComparedTable?) -> [ComparedProperty.Identity: ComparedProperty] {
            let own = table?.entities.values.first { $0.name == entity }?.properties ?? table?.others ?? []
            return Dictionary(own.map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first })
        }
        let (mine, theirs) = (properties(first), properties(second))
        pairs = mine.keys.sorted().compactMap { identity in
            mine[identity].flatMap { a in theirs[identity].map { Pair(identity: identity, a: a, b: $0) } }
        }
        // Where a store has no such entity, its properties aren't what is missing.
        let areBoth = first != nil && second != nil
        onlyInA = areBoth ? mine.keys.filter { theirs[$0] == nil }.sorted().map(\.described) : []
        onlyInB = areBoth ? theirs.keys.filter { mine[$0] == nil }.sorted().map(\.described) : []
    }
}
