import CausewaySQLite
import CausewayStores

/// Compares two stores by what their rows hold, whatever keys these have.
///
/// Colour refinement: a row's first colour is the digest of its entity and its own values. In each round it becomes the
/// digest of the colours at the other ends of its links, with relationship and place. Two stores are equal if each
/// entity has the same colours equally often, and still has when no round makes rows more distinct. Then the links of
/// both can't be told apart by following them.
///
/// Cost of a round: one sort of the links and one of the rows, on the disk.
struct ContentComparison {
    let a: ComparedStore
    let b: ComparedStore
    let tables: [ComparedTable]
    let others: [ComparedTable]
    /// Names of the entities of both stores; the database has their places.
    let entities: [String]
    private(set) var external: ExternalContent
    private(set) var tallies: [StoreComparison.Entity]
    private(set) var relationships: [String: StoreComparison.Links] = [:]
    private let count: RowCount
    /// Rows whose Z_ENT no entity of their table has, by entity and table.
    private var strangers: [String: StoreComparison.Entity] = [:]

    /// Values whose files can't be read.
    var unreadable: Int { external.unreadable }

    /// Rounds after which it ends in any case. Real stores take three to six; a list of rows that are all alike takes
    /// as many as it has rows.
    static let mostRounds = 32

    init(_ a: ComparedStore, _ b: ComparedStore, _ count: RowCount) throws {
        (self.a, self.b, self.count) = (a, b, count)
        (tables, others) = (a.tables, b.tables)
        external = ExternalContent(a.store.location, b.store.location)
        entities = Set(a.entityNames + b.entityNames).sorted()
        tallies = entities.map { StoreComparison.Entity(name: $0, rowsInA: 0, rowsInB: 0) }
    }

    mutating func run(_ report: inout StoreComparison) throws {
        var work = try ContentWork(in: TemporaryFolder.path)
        try addRows(to: work, isFirst: true)
        try addRows(to: work, isFirst: false)
        count.begin("links", isCounted: false)
        try addLinks(to: work)
        let colours = try compareColours(work, \.onlyInA, \.onlyInB)
        if tallies.contains(where: { $0.onlyInA.count > 0 || $0.onlyInB.count > 0 }) {
            try findProperties()
            report.rounds = 0
            report.notes.append("rows differ in their own values, so links were counted but not followed")
        } else {
            report.rounds = try follow(&work, colours, &report)
        }
        if !strangers.isEmpty {
            report.notes.append(
                "rows of no entity of their table were counted only: "
                    + strangers.keys.sorted().joined(separator: ", "))
        }
        report.entities = tallies + strangers.values.map(Self.counted).sorted { $0.name < $1.name }
        report.relationships = relationships.values.sorted { $0.name < $1.name }
    }

    // MARK: - Rows

    private mutating func addRows(to work: borrowing ContentWork, isFirst: Bool) throws {
        let store = isFirst ? a : b
        var insert = try work.insertRow()
        for (place, table) in (isFirst ? tables : others).enumerated() {
            let found = plans(of: table, isFirst: isFirst)
            count.begin("rows of \(table.name)")
            var rows = try store.store.connection.prepare(try table.sql(onlyEntity: nil))
            var buffer = ContentBuffer()
            while try rows.step() {
                count.add(1)
                guard let plan = found[rows.int64(at: 1)] else {
                    addStranger(rows.int64(at: 1), key: rows.int64(at: 0), in: table, isFirst: isFirst)
                    continue
                }
                if isFirst { tallies[plan.entity].rowsInA += 1 } else { tallies[plan.entity].rowsInB += 1 }
                buffer.clear()
                buffer.add(entities[plan.entity])
                for property in plan.properties { try add(property, of: rows, to: &buffer, isFirst: isFirst) }
                try insert.bind(place * 2 + (isFirst ? 0 : 1), at: 1)
                try insert.bind(column: 0, of: rows, at: 2)
                try insert.bind(plan.entity, at: 3)
                try insert.bind(buffer.digest.bytes, at: 4)
                try insert.run()
            }
        }
    }

    private mutating func addStranger(_ number: Int64, key: Int64, in table: ComparedTable, isFirst: Bool) {
        let name = "\((isFirst ? a : b).name(ofEntity: number)) in \(table.name)"
        var found = strangers[name] ?? StoreComparison.Entity(name: name, rowsInA: 0, rowsInB: 0)
        if isFirst {
            found.rowsInA += 1
            found.onlyInA.add(key)
        } else {
            found.rowsInB += 1
            found.onlyInB.add(key)
        }
        strangers[name] = found
    }

    /// As many in both stores count as equal: what they hold isn't known.
    private static func counted(_ entity: StoreComparison.Entity) -> StoreComparison.Entity {
        guard entity.rowsInA == entity.rowsInB else { return entity }
        return StoreComparison.Entity(name: entity.name, rowsInA: entity.rowsInA, rowsInB: entity.rowsInB)
    }

    private mutating func add(
        _ property: ComparedProperty, of row: borrowing Statement, to buffer: inout ContentBuffer, isFirst: Bool
    ) throws {
        guard property.kind == .external, row.type(at: property.column) == .blob else {
            buffer.add(row, property.column)
            return
        }
        if let digest = try external.digest(of: row, property.column, isFirst: isFirst) {
            buffer.add(externalDigest: digest)
        } else {
            buffer.add(row, property.column)
        }
    }

    /// What is digested of an entity's rows: the values that both stores have.
    private struct Plan {
        let entity: Int
        let properties: [ComparedProperty]
    }

    /// By Z_ENT.
    private mutating func plans(of table: ComparedTable, isFirst: Bool) -> [Int64: Plan] {
        var plans: [Int64: Plan] = [:]
        for (number, entity) in table.entities {
            guard let place = entities.firstIndex(of: entity.name) else { continue }
            let pairing = pairing(of: entity.name)
            (tallies[place].propertiesOnlyInA, tallies[place].propertiesOnlyInB) = (pairing.onlyInA, pairing.onlyInB)
            let values = pairing.pairs.filter { [.attribute, .external, .column].contains($0.identity.kind) }
            plans[number] = Plan(entity: place, properties: values.map { isFirst ? $0.a : $0.b })
        }
        return plans
    }

    private func pairing(of entity: String) -> PropertyPairing {
        func table(_ tables: [ComparedTable]) -> ComparedTable? {
            tables.first { $0.entities.values.contains { $0.name == entity } }
        }
        return PropertyPairing(of: entity, table(tables), table(others))
    }

    /// The properties whose values differ as multisets, of entities with as many rows in both stores.
    private mutating func findProperties() throws {
        for (place, tally) in tallies.enumerated() where tally.onlyInA.count > 0 && tally.rowsInA == tally.rowsInB {
            let pairs = pairing(of: tally.name).pairs.filter {
                [.attribute, .external, .column].contains($0.identity.kind)
            }
            let mine = try sums(of: pairs.map(\.a), entity: tally.name, isFirst: true)
            let theirs = try sums(of: pairs.map(\.b), entity: tally.name, isFirst: false)
            for (number, pair) in pairs.enumerated() where mine[number] != theirs[number] {
                tallies[place].properties.append(
                    StoreComparison.Property(name: pair.identity.name, kind: pair.identity.kind))
            }
        }
    }

    private mutating func sums(
        of properties: [ComparedProperty], entity: String, isFirst: Bool
    ) throws -> [ContentDigest] {
        var sums = properties.map { _ in ContentDigest.zero }
        let store = isFirst ? a : b
        guard let number = store.number(ofEntity: entity),
            let table = (isFirst ? tables : others).first(where: { $0.entities[number]?.name == entity })
        else { return sums }
        var rows = try store.store.connection.prepare(try table.sql(onlyEntity: number))
        var buffer = ContentBuffer()
        while try rows.step() {
            for (place, property) in properties.enumerated() {
                buffer.clear()
                try add(property, of: rows, to: &buffer, isFirst: isFirst)
                sums[place].add(buffer.digest)
            }
        }
        return sums
    }

    // MARK: - Links

    /// Writes every link in both directions, of the relationships that both stores have.
    private mutating func addLinks(to work: borrowing ContentWork) throws {
        let (mine, theirs) = (try ContentLinks.all(a), try ContentLinks.all(b))
        let shared = Set(mine.map(\.label)).intersection(theirs.map(\.label))
        for (links, isFirst) in [(mine, true), (theirs, false)] {
            var insert = try work.insertLink()
            for relationship in links {
                var found =
                    relationships[relationship.label]
                    ?? StoreComparison.Links(name: relationship.label, inverse: relationship.inverse)
                found.isMissing = !shared.contains(relationship.label)
                let count = try add(relationship, isFirst: isFirst, isFollowed: !found.isMissing, &insert)
                if isFirst { found.countInA += count } else { found.countInB += count }
                relationships[relationship.label] = found
            }
        }
    }

    /// Numbers of labels by name; the direction against the one of the key has the name with an arrow.
    private(set) var labels: [String: Int] = [:]

    private mutating func label(_ name: String) -> Int {
        if let number = labels[name] { return number }
        labels[name] = labels.count
        return labels.count - 1
    }

    private mutating func add(
        _ links: ContentLinks, isFirst: Bool, isFollowed: Bool, _ insert: inout Statement
    ) throws -> Int {
        // A relationship that is its own inverse has one name in both directions.
        let (forward, backward) = (
            label(links.label), label(links.inverse == links.label ? links.label : links.label + " ←")
        )
        let side = isFirst ? 0 : 1
        var rows = try (isFirst ? a : b).store.connection.prepare(links.sql)
        var count = 0
        while try rows.step() {
            count += 1
            guard isFollowed else { continue }
            let ends = [(links.first, 0, forward, 3, links.second, 1), (links.second, 1, backward, 2, links.first, 0)]
            for (table, key, label, place, other, otherKey) in ends {
                try insert.bind(table * 2 + side, at: 1)
                try insert.bind(column: key, of: rows, at: 2)
                try insert.bind(label, at: 3)
                try insert.bind(column: place, of: rows, at: 4)
                try insert.bind(other * 2 + side, at: 5)
                try insert.bind(column: otherKey, of: rows, at: 6)
                try insert.run()
            }
        }
        return count
    }

    // MARK: - Rounds

    /// Follows links until a round finds a difference, or makes no row more distinct.
    ///
    /// - Returns: the rounds.
    private mutating func follow(
        _ work: inout ContentWork, _ colours: Int, _ report: inout StoreComparison
    ) throws -> Int {
        try work.sortLinks()
        var before = colours
        for round in 1...Self.mostRounds {
            count.begin("links, round \(round)", isCounted: false)
            var sums = LabelSums(labels.count)
            try work.nextRound { work, insert in try ContentRound.run(work, &insert, &sums) }
            let now = try compareColours(work, \.linksOnlyInA, \.linksOnlyInB)
            if tallies.contains(where: { $0.linksOnlyInA.count > 0 || $0.linksOnlyInB.count > 0 }) {
                if !labels.values.contains(where: { sums.differ(at: $0) }) {
                    // Rows differ in which of their links they have together: each link has a counterpart, until rows
                    // are told apart by what this round has found.
                    sums = LabelSums(labels.count)
                    try work.nextRound { work, insert in try ContentRound.run(work, &insert, &sums) }
                }
                for (name, number) in labels where sums.differ(at: number) {
                    relationships[String(name.prefix { $0 != " " })]?.endsDiffer = true
                }
                return round
            }
            if now == before { return round }
            before = now
        }
        report.notes.append(
            "links were followed for \(Self.mostRounds) rounds, and rows far from each other may still differ in them")
        return Self.mostRounds
    }

    /// Counts rows of each entity whose colour one store has more often.
    ///
    /// - Returns: the number of colours.
    private mutating func compareColours(
        _ work: borrowing ContentWork,
        _ onlyInA: WritableKeyPath<StoreComparison.Entity, StoreComparison.Rows>,
        _ onlyInB: WritableKeyPath<StoreComparison.Entity, StoreComparison.Rows>
    ) throws -> Int {
        var groups = try work.groups()
        var count = 0
        while try groups.step() {
            count += 1
            let (entity, more) = (Int(groups.int64(at: 0)), Int(groups.int64(at: 1) - groups.int64(at: 2)))
            if more > 0 { tallies[entity][keyPath: onlyInA].add(more, smallest: groups.int64(at: 3)) }
            if more < 0 { tallies[entity][keyPath: onlyInB].add(-more, smallest: groups.int64(at: 4)) }
        }
        return count
    }
}
