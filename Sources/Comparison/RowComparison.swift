import CausewaySQLite
import CausewayStores

/// The rows of two tables, matched by entity name and primary key: both are read once, in the order of their keys.
///
/// Memory: one row of each store, and the counts.
struct RowComparison {
    let a: ComparedStore
    let b: ComparedStore
    /// Counts by entity name.
    private(set) var tallies: [String: StoreComparison.Entity] = [:]
    var external: ExternalContent
    private let count: RowCount

    /// Rows of one entity in both stores, while two tables are read.
    private struct Matched {
        var entity: StoreComparison.Entity
        let pairs: [PropertyPairing.Pair]
        var properties: [StoreComparison.Property]
    }

    init(_ a: ComparedStore, _ b: ComparedStore, _ count: RowCount) {
        (self.a, self.b, self.count) = (a, b, count)
        external = ExternalContent(a.store.location, b.store.location)
        for name in Set(a.entityNames + b.entityNames) { tallies[name] = Self.empty(name) }
    }

    private static func empty(_ name: String) -> StoreComparison.Entity {
        StoreComparison.Entity(name: name, rowsInA: 0, rowsInB: 0)
    }

    // MARK: - Tables

    /// Compares all tables.
    mutating func run() throws {
        let (tables, others) = (a.tables, b.tables)
        for unit in TablePairing(a, tables, b, others).units {
            count.begin("rows of \(unit.entity ?? unit.a?.name ?? unit.b?.name ?? "")")
            try compare(unit)
        }
    }

    private mutating func compare(_ unit: TablePairing.Unit) throws {
        let (first, second) = (unit.a, unit.b)
        let none = "SELECT NULL, NULL WHERE 0"
        var rows = try a.store.connection.prepare(try first?.sql(onlyEntity: unit.numberInA) ?? none)
        var others = try b.store.connection.prepare(try second?.sql(onlyEntity: unit.numberInB) ?? none)
        var matched: [String: Matched] = [:]
        for table in [first, second] {
            for entity in table?.entities.values.map(\.name) ?? [] where unit.entity == nil || unit.entity == entity {
                matched[entity] = matching(entity, first, second)
            }
        }
        var (hasA, hasB) = (try rows.step(), try others.step())
        while hasA || hasB {
            let (key, otherKey) = (hasA ? rows.int64(at: 0) : .max, hasB ? others.int64(at: 0) : .max)
            let takesA = hasA && (!hasB || key <= otherKey)
            let takesB = hasB && (!hasA || otherKey <= key)
            let name = takesA ? a.name(ofEntity: rows.int64(at: 1)) : nil
            let otherName = takesB ? b.name(ofEntity: others.int64(at: 1)) : nil
            for name in [name, otherName].compactMap(\.self) where matched[name] == nil {
                matched[name] = matching(name, first, second)
            }
            if let name { matched[name]?.entity.rowsInA += 1 }
            if let otherName { matched[otherName]?.entity.rowsInB += 1 }
            if let name, name == otherName {
                try compareCells(rows, others, key, &matched[name])
            } else {
                if let name { matched[name]?.entity.onlyInA.add(key) }
                if let otherName { matched[otherName]?.entity.onlyInB.add(otherKey) }
            }
            count.add((takesA ? 1 : 0) + (takesB ? 1 : 0))
            if takesA { hasA = try rows.step() }
            if takesB { hasB = try others.step() }
        }
        for (name, found) in matched {
            var entity = found.entity
            entity.properties = found.properties.filter { $0.rows.count > 0 }
            tallies[name] = entity
        }
    }

    /// An entity with the properties that it has in both tables.
    private func matching(_ name: String, _ first: ComparedTable?, _ second: ComparedTable?) -> Matched {
        let pairing = PropertyPairing(of: name, first, second)
        var entity = tallies[name] ?? Self.empty(name)
        (entity.propertiesOnlyInA, entity.propertiesOnlyInB) = (pairing.onlyInA, pairing.onlyInB)
        return Matched(
            entity: entity, pairs: pairing.pairs,
            properties: pairing.pairs.map {
                StoreComparison.Property(name: $0.identity.name, kind: $0.identity.kind)
            })
    }

    // MARK: - Cells

    private mutating func compareCells(
        _ row: borrowing Statement, _ other: borrowing Statement, _ key: Int64, _ matched: inout Matched?
    ) throws {
        guard let pairs = matched?.pairs else { return }
        for (place, pair) in pairs.enumerated() {
            let verdict: CellVerdict =
                switch pair.identity.kind {
                case .external: try external.verdict(row, pair.a.column, other, pair.b.column)
                case .toOne: toOne(row, pair.a, other, pair.b)
                case .entityNumber: entityNumber(row, pair.a.column, other, pair.b.column)
                case .attribute, .place, .column:
                    CellComparison.verdict(row, pair.a.column, other, pair.b.column)
                }
            switch verdict {
            case .equal: continue
            case .different: break
            case .differentClass: matched?.properties[place].storageClasses += 1
            }
            matched?.properties[place].rows.add(key)
        }
    }

    /// A to-one leads to the same row if the keys and, where both stores have them, the targets' entities are the same.
    private func toOne(
        _ row: borrowing Statement, _ mine: ComparedProperty, _ other: borrowing Statement, _ theirs: ComparedProperty
    ) -> CellVerdict {
        let keys = CellComparison.verdict(row, mine.column, other, theirs.column)
        guard case .equal = keys, let first = mine.entityColumn, let second = theirs.entityColumn else { return keys }
        return entityNumber(row, first, other, second)
    }

    /// Numbers that stand for entities are the same where the entities' names are.
    private func entityNumber(
        _ row: borrowing Statement, _ first: Int, _ other: borrowing Statement, _ second: Int
    ) -> CellVerdict {
        guard row.type(at: first) == .integer, other.type(at: second) == .integer else {
            return CellComparison.verdict(row, first, other, second)
        }
        let (left, right) = (row.int64(at: first), other.int64(at: second))
        return a.name(ofEntity: left) == b.name(ofEntity: right) ? .equal : .different
    }
}
