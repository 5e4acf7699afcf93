package import CausewayModel

extension LayoutHints {
    /// Hints for a migration's destination from the source's real names: each join table keeps its naming side and its
    /// columns' clash numbers, renumbered for the new model; order keys keep their order (InsideStoreFormat §5.3).
    ///
    /// `source` holds the names that the store really has. `sourceOf` gives the source's relationship for one of the
    /// destination, each by the entity that declares it; nil for a new one. Throws as the destination's layout does.
    package init(
        carrying source: StoreLayout, to model: ManagedObjectModel, frameworkVersion: Int,
        sourceOf counterpart: @escaping (RelationshipName) -> RelationshipName?
    ) throws(StoreFormatError) {
        self.init()
        let blind = try StoreLayout(model: model, frameworkVersion: frameworkVersion)
        let carrier = JoinTableCarrier(source: source, destination: blind, counterpart: counterpart)
        (joinTables, chosenAmid) = carrier.joinTables()
        orderColumns = carryOrderColumns(from: source, to: blind, counterpart)
    }

    private mutating func carryOrderColumns(
        from source: StoreLayout, to destination: StoreLayout, _ counterpart: (RelationshipName) -> RelationshipName?
    ) -> [String: [String]] {
        var places: [RelationshipName: Int] = [:]
        for table in source.tables {
            for (place, column) in table.columns.enumerated() {
                guard case .orderKey(let entity, let relationship) = column.role else { continue }
                let name = RelationshipName(entity, relationship)
                if !source.newOrderKeys.contains(name) { places[name] = place }
            }
        }
        var result: [String: [String]] = [:]
        for table in destination.tables {
            let keys = table.columns.enumerated().compactMap {
                offset, column -> (place: Int, offset: Int, name: String)? in
                guard case .orderKey(let entity, let relationship) = column.role else { return nil }
                let name = RelationshipName(entity, relationship)
                let place = counterpart(name).flatMap { places[$0] }
                if place == nil { newOrderKeys.insert(name) }
                // New ones come last.
                return (place ?? Int.max, offset, column.name)
            }
            guard keys.count > 1 else { continue }
            result[table.name] = keys.sorted { ($0.place, $0.offset) < ($1.place, $1.offset) }.map(\.name)
        }
        return result
    }
}

/// Moves names of join tables and of their columns from a source's layout to a destination's.
private struct JoinTableCarrier {
    typealias Name = LayoutHints.RelationshipName

    let source: StoreLayout
    let destination: StoreLayout
    let counterpart: (Name) -> Name?

    /// A key column is named for one relationship and points to one entity.
    private struct KeyColumn {
        let relationship: Name
        let base: String
        /// The source's clash number; new columns come after all carried ones.
        let carried: Int
        let blind: Int
    }

    /// Names with their key columns, and the properties among which the names were chosen.
    func joinTables() -> (columns: [String: [String]], chosenAmid: [String: Set<String>]) {
        let carried = sourceNumbers()
        var tables: [(name: String, columns: [KeyColumn])] = []
        var chosenAmid: [String: Set<String>] = [:]
        for join in destination.joinTables where !join.isReflexive {
            let named = Name(join.owner, join.relationship)
            let inverse = Name(join.inverseOwner, join.inverse)
            let ownerKey = keyColumn(inverse, pointingTo: join.owner, blind: join.ownerColumn, carried)
            let destinationKey = keyColumn(named, pointingTo: join.inverseOwner, blind: join.destinationColumn, carried)
            let before = origin(of: named, inverse)
            if named.entity == inverse.entity, let before, before.isTurned {
                tables.append((table(inverse), [destinationKey, ownerKey]))
            } else {
                tables.append((table(named), [ownerKey, destinationKey]))
            }
            if let last = tables.last { chosenAmid[last.name] = before?.table.chosenAmid ?? [] }
        }
        let names = numbered(tables.flatMap(\.columns))
        let columns = Dictionary(
            tables.map { table in (table.name, table.columns.compactMap { names[$0.relationship] }) },
            uniquingKeysWith: { first, _ in first })
        return (columns, chosenAmid)
    }

    private func table(_ relationship: Name) -> String {
        SchemaNames.join(destination.entityNumbers[relationship.entity] ?? 0, relationship.relationship)
    }

    private func keyColumn(
        _ relationship: Name, pointingTo entity: String, blind: String, _ carried: [Name: Int]
    ) -> KeyColumn {
        let base = SchemaNames.join(destination.entityNumbers[entity] ?? 0, relationship.relationship)
        return KeyColumn(
            relationship: relationship, base: base,
            carried: counterpart(relationship).flatMap { carried[$0] } ?? Int.max,
            blind: SchemaNames.clashNumber(of: blind, base: base) ?? 0)
    }

    /// The source's join table of the same links, and whether the other side names it there. A name that an earlier
    /// step guessed is kept too, as it would be if the migration ended there and went on later; it stays a guess.
    private func origin(of named: Name, _ inverse: Name) -> (table: JoinTable, isTurned: Bool)? {
        guard let first = counterpart(named), let second = counterpart(inverse) else { return nil }
        for join in source.joinTables {
            let ends = [Name(join.owner, join.relationship), Name(join.inverseOwner, join.inverse)]
            if ends == [first, second] { return (join, false) }
            if ends == [second, first] { return (join, true) }
        }
        return nil
    }

    /// Clash numbers of the source's key columns, by the relationship that each is named for.
    private func sourceNumbers() -> [Name: Int] {
        var result: [Name: Int] = [:]
        for join in source.joinTables where !join.isReflexive {
            for (relationship, entity, column) in [
                (Name(join.inverseOwner, join.inverse), join.owner, join.ownerColumn),
                (Name(join.owner, join.relationship), join.inverseOwner, join.destinationColumn),
            ] {
                let base = SchemaNames.join(source.entityNumbers[entity] ?? 0, relationship.relationship)
                result[relationship] = SchemaNames.clashNumber(of: column, base: base)
            }
        }
        return result
    }

    /// Renumbers equal names without gaps, carried ones first in their old order.
    private func numbered(_ columns: [KeyColumn]) -> [Name: String] {
        var result: [Name: String] = [:]
        for (base, clashing) in Dictionary(grouping: columns, by: \.base) {
            let order = clashing.sorted { ($0.carried, $0.blind) < ($1.carried, $1.blind) }
            for (number, column) in order.enumerated() {
                result[column.relationship] = number == 0 ? base : base + String(number)
            }
        }
        return result
    }
}
