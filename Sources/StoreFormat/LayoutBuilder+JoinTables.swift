import CausewayModel

extension LayoutBuilder {
    typealias RelationshipID = LayoutModel.RelationshipID

    /// Many-to-many relationships: which side names the table, its columns, and the order of the tables
    /// (InsideStoreFormat §5.3).
    mutating func joinTables() -> [JoinTable] {
        var done: Set<RelationshipID> = []
        var scopes = JoinColumnScopes()
        var found: [FoundJoinTable] = []
        // All entities flat by name, with what they inherit: the first side that is met names the table.
        let walk = outline.entities.indices.sorted {
            ManagedObjectModel.compareOrder(outline.entities[$0].name, outline.entities[$1].name)
        }
        for entity in walk {
            for name in outline.propertyOrders[entity] {
                guard let met = outline.relationship(named: name, of: entity), outline.isManyToMany(met),
                    !done.contains(met), let inverse = outline.inverses[met]
                else { continue }
                let named = namingSide(met, inverse)
                let other = named == met ? inverse : met
                done.insert(met)
                done.insert(inverse)
                let table = joinTable(named, other, walkedAt: entity, place: found.count, scopes: &scopes)
                found.append(FoundJoinTable(owner: named.entity, walkedAt: entity, table: table))
                noteOpenName(of: found[found.count - 1])
            }
        }
        noteOpenNumbers(scopes, found)
        return inCreationOrder(found)
    }

    /// A pair inside one entity whose table name no store has shown.
    private mutating func noteOpenName(of found: FoundJoinTable) {
        let table = found.table
        let properties = outline.propertyNames(of: found.walkedAt)
        guard table.isPairInOneEntity, table.chosenAmid != properties, !hints.seenTables.contains(table.name) else {
            return
        }
        let other = table.turned([table.owner: outline.number(found.owner)]).name
        let reason =
            table.chosenAmid.isEmpty
            ? "\(table.name), which is a guess, or \(other)"
            : "\(table.name), as in the store so far, or \(other), because the properties of "
                + "\(outline.entities[found.walkedAt].name) have changed"
        undecidable.append(
            OpenName(
                message:
                    "\(table.owner).\(table.relationship) and \(table.owner).\(table.inverse) share a join table that "
                    + "either may name: \(reason)",
                tables: [table.name, other]))
    }

    /// Columns that get equal names from one entity's properties, if no store has shown which of them has which number.
    private mutating func noteOpenNumbers(_ scopes: JoinColumnScopes, _ found: [FoundJoinTable]) {
        for clash in scopes.clashes {
            let properties = outline.propertyNames(of: clash.walkedAt)
            let tables = clash.columns.map { found[$0.table].table }
            guard tables.contains(where: { $0.chosenAmid != properties }) else { continue }
            let columns = zip(tables, clash.columns).map { table, column in
                "\(column.isOwner ? table.ownerColumn : table.destinationColumn) of \(table.name)"
            }
            let isCarried = tables.contains { !$0.chosenAmid.isEmpty }
            undecidable.append(
                OpenName(
                    message: "\(columns.joined(separator: ", ")): columns of equal names carry a number, and "
                        + (isCarried
                            ? "it may be another than in the store so far, because the properties of "
                                + "\(outline.entities[clash.walkedAt].name) have changed"
                            : "which column has which number is a guess"),
                    tables: []))
        }
    }

    /// By owner's Z_ENT, then in the owner's dictionary order.
    private func inCreationOrder(_ tables: [FoundJoinTable]) -> [JoinTable] {
        tables.enumerated()
            .map { offset, entry in
                let place = outline.propertyOrders[entry.owner].firstIndex(of: entry.table.relationship) ?? 0
                return (key: (entry.owner, place, offset), table: entry.table)
            }
            .sorted { $0.key < $1.key }
            .map(\.table)
    }

    /// The side that comes first, except for a pair inside one entity if a real store shows the other.
    private func namingSide(_ met: RelationshipID, _ inverse: RelationshipID) -> RelationshipID {
        guard met.entity == inverse.entity, met != inverse else { return met }
        let number = outline.number(met.entity)
        let names = [met, inverse].map { SchemaNames.join(number, outline.relationship($0).name) }
        return hints.joinTables[names[0]] == nil && hints.joinTables[names[1]] != nil ? inverse : met
    }

    /// `place` is the table's among those that the walk finds.
    private func joinTable(
        _ named: RelationshipID, _ other: RelationshipID, walkedAt entity: Int, place: Int,
        scopes: inout JoinColumnScopes
    ) -> JoinTable {
        let (relationship, inverse) = (outline.relationship(named), outline.relationship(other))
        let name = SchemaNames.join(outline.number(named.entity), relationship.name)
        let (owner, inverseOwner) = (outline.entities[named.entity].name, outline.entities[other.entity].name)
        guard named != other else {
            return JoinTable(
                name: name, owner: owner, relationship: relationship.name, inverseOwner: owner,
                inverse: relationship.name, ownerColumn: name, destinationColumn: SchemaNames.reflexive,
                ownerOrderColumn: nil, destinationOrderColumn: nil)
        }
        let bases = [
            SchemaNames.join(outline.number(named.entity), inverse.name),
            SchemaNames.join(outline.number(other.entity), relationship.name),
        ]
        var columns = zip([named.entity, other.entity], bases).enumerated().map { side, key in
            scopes.claim(key.1, pointingTo: key.0, walkedAt: entity, for: .init(table: place, isOwner: side == 0))
        }
        let hint = hints.joinTables[name]
        if let hint, hint.count == 2, zip(hint, bases).allSatisfy({ SchemaNames.clashNumber(of: $0, base: $1) != nil })
        {
            columns = hint
        }
        return JoinTable(
            name: name, owner: owner, relationship: relationship.name, inverseOwner: inverseOwner,
            inverse: inverse.name, ownerColumn: columns[0], destinationColumn: columns[1],
            ownerOrderColumn: inverse.isOrdered ? SchemaNames.joinOrderKey(columns[0]) : nil,
            destinationOrderColumn: relationship.isOrdered ? SchemaNames.joinOrderKey(columns[1]) : nil,
            chosenAmid: hint == nil ? [] : hints.chosenAmid[name] ?? outline.propertyNames(of: entity))
    }
}

/// A join table with the entity at which the walk found it.
private struct FoundJoinTable {
    let owner: Int
    let walkedAt: Int
    let table: JoinTable
}

/// Join columns that point to one entity share a name scope. The order is known between entities (by name), but guessed
/// within one (dictionary order).
private struct JoinColumnScopes {
    /// A key column of a join table.
    struct KeyColumn {
        let table: Int
        let isOwner: Bool
    }

    /// Columns of one entity that claimed the same name.
    struct Clash {
        let walkedAt: Int
        var columns: [KeyColumn]
    }

    private var scopes: [Int: NameScope] = [:]
    private var claims: [Clash] = []
    private var places: [[String]: Int] = [:]

    /// In the order of their first claims.
    var clashes: [Clash] { claims.filter { $0.columns.count > 1 } }

    mutating func claim(
        _ base: String, pointingTo target: Int, walkedAt entity: Int, for column: KeyColumn
    ) -> String {
        let key = [base, String(target), String(entity)]
        if let place = places[key] {
            claims[place].columns.append(column)
        } else {
            places[key] = claims.count
            claims.append(Clash(walkedAt: entity, columns: [column]))
        }
        return scopes[target, default: NameScope()].claim(base)
    }
}
