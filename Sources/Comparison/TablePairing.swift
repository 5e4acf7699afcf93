/// Which tables of two stores are read beside each other.
///
/// Entities of one table in the first store usually share one table in the second: then both tables are read once.
/// Where an entity has moved to another hierarchy, each entity of the tables that this joins is read by itself.
struct TablePairing {
    struct Unit {
        let a: ComparedTable?
        let b: ComparedTable?
        /// The only entity that is read; nil reads all rows.
        var entity: String?
        var numberInA: Int64?
        var numberInB: Int64?
    }

    private(set) var units: [Unit] = []

    init(_ a: ComparedStore, _ tables: [ComparedTable], _ b: ComparedStore, _ others: [ComparedTable]) {
        if a.binding == nil || b.binding == nil {
            pairByName(tables, others)
        } else {
            pairByEntities(a, tables, b, others)
        }
    }

    private mutating func pairByName(_ tables: [ComparedTable], _ others: [ComparedTable]) {
        let theirs = Dictionary(others.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        let mine = Set(tables.map { $0.name.lowercased() })
        units = tables.map { Unit(a: $0, b: theirs[$0.name.lowercased()]) }
        units += others.filter { !mine.contains($0.name.lowercased()) }.map { Unit(a: nil, b: $0) }
    }

    private mutating func pairByEntities(
        _ a: ComparedStore, _ tables: [ComparedTable], _ b: ComparedStore, _ others: [ComparedTable]
    ) {
        let (mine, theirs) = (Self.places(tables), Self.places(others))
        let partners = tables.map { table in Set(table.entities.values.compactMap { theirs[$0.name] }) }
        let partnersInB = others.map { table in Set(table.entities.values.compactMap { mine[$0.name] }) }
        for (place, table) in tables.enumerated() {
            guard let partner = partners[place].first else {
                units.append(Unit(a: table, b: nil))
                continue
            }
            if partners[place].count == 1, partnersInB[partner] == [place] {
                units.append(Unit(a: table, b: others[partner]))
                continue
            }
            for entity in table.entities.values.map(\.name).sorted() {
                units.append(
                    Unit(
                        a: table, b: theirs[entity].map { others[$0] }, entity: entity,
                        numberInA: a.number(ofEntity: entity), numberInB: b.number(ofEntity: entity)))
            }
        }
        let read = Set(units.compactMap { $0.entity == nil ? $0.b?.name : nil })
        for table in others where !read.contains(table.name) {
            let own = table.entities.values.map(\.name)
            guard own.contains(where: { mine[$0] != nil }) else {
                units.append(Unit(a: nil, b: table))
                continue
            }
            for entity in own.filter({ mine[$0] == nil }).sorted() {
                units.append(Unit(a: nil, b: table, entity: entity, numberInB: b.number(ofEntity: entity)))
            }
        }
    }

    /// Place of each entity's table.
    private static func places(_ tables: [ComparedTable]) -> [String: Int] {
        var places: [String: Int] = [:]
        for (place, table) in tables.enumerated() {
            for entity in table.entities.values { places[entity.name] = place }
        }
        return places
    }
}
