import CausewayModel

extension LayoutBuilder {
    typealias RelationshipID = LayoutModel.RelationshipID

    /// Many-to-many relationships: which side names the table, its columns, and the order of the tables
    /// (store-format.md §5.3).
    mutating func joinTables() -> [JoinTable] {
        var done: Set<RelationshipID> = []
        var scopes = JoinColumnScopes()
        var found: [(owner: Int, table: JoinTable)] = []
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
                found.append((named.entity, joinTable(named, other, walkedAt: entity, scopes: &scopes)))
            }
        }
        return inCreationOrder(found)
    }

    /// By owner's Z_ENT, then in the owner's dictionary order.
    private func inCreationOrder(_ tables: [(owner: Int, table: JoinTable)]) -> [JoinTable] {
        tables.enumerated()
            .map { offset, entry in
                let place = outline.propertyOrders[entry.owner].firstIndex(of: entry.table.relationship) ?? 0
                return (key: (entry.owner, place, offset), table: entry.table)
            }
            .sorted { $0.key < $1.key }
            .map(\.table)
    }

    /// The side that was met first, but for a pair inside one entity, where a real store knows better.
    private mutating func namingSide(_ met: RelationshipID, _ inverse: RelationshipID) -> RelationshipID {
        guard met.entity == inverse.entity, met != inverse else { return met }
        let number = outline.number(met.entity)
        let (first, second) = (outline.relationship(met).name, outline.relationship(inverse).name)
        if hints.joinTables[SchemaNames.join(number, first)] != nil { return met }
        if hints.joinTables[SchemaNames.join(number, second)] != nil { return inverse }
        let entity = outline.entities[met.entity].name
        undecidable.append(
            "\(entity).\(first) and \(entity).\(second) share a join table that either may name; "
                + "\(SchemaNames.join(number, first)) was chosen. A template store made by Apple's Core Data settles it."
        )
        return met
    }

    private mutating func joinTable(
        _ named: RelationshipID, _ other: RelationshipID, walkedAt entity: Int, scopes: inout JoinColumnScopes
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
        var isGuess = false
        var columns = zip([named.entity, other.entity], bases).map { target, base in
            let claim = scopes.claim(base, pointingTo: target, walkedAt: entity)
            isGuess = isGuess || claim.isGuess
            return claim.name
        }
        if let hint = hints.joinTables[name] {
            let fits =
                hint.count == 2 && zip(hint, bases).allSatisfy { SchemaNames.clashNumber(of: $0, base: $1) != nil }
            if fits { columns = hint }
        } else if isGuess {
            undecidable.append(
                "Columns of \(name) (\(columns[0]), \(columns[1])) carry a number because of equal names; which of them "
                    + "gets it was guessed. A template store made by Apple's Core Data settles it.")
        }
        return JoinTable(
            name: name, owner: owner, relationship: relationship.name, inverseOwner: inverseOwner,
            inverse: inverse.name, ownerColumn: columns[0], destinationColumn: columns[1],
            ownerOrderColumn: inverse.isOrdered ? SchemaNames.joinOrderKey(columns[0]) : nil,
            destinationOrderColumn: relationship.isOrdered ? SchemaNames.joinOrderKey(columns[1]) : nil)
    }
}

/// Join columns that point to one entity share a name scope. Who comes first is known between entities (by name), but
/// guessed within one (dictionary order).
private struct JoinColumnScopes {
    private var scopes: [Int: NameScope] = [:]
    /// The entity at whose turn each base name was claimed.
    private var claimedAt: [Int: [String: Set<Int>]] = [:]

    mutating func claim(_ base: String, pointingTo target: Int, walkedAt entity: Int) -> (name: String, isGuess: Bool) {
        let isGuess = claimedAt[target, default: [:]][base, default: []].contains(entity)
        claimedAt[target, default: [:]][base, default: []].insert(entity)
        return (scopes[target, default: NameScope()].claim(base), isGuess)
    }
}
