import CausewayModel

extension StoreLayout {
    /// The table that holds the entity's rows; nil for an entity that the model lacks.
    package func table(of entity: String) -> EntityTable? {
        tablesByRoot[model.root(of: entity)].map { tables[$0] }
    }

    /// The entity table of that name.
    package func table(named name: String) -> EntityTable? { tablesByName[name].map { tables[$0] } }

    /// The entities whose rows a table holds, in Z_ENT order.
    package func entities(in table: EntityTable) -> ArraySlice<String> {
        guard let numbers = numbers(ofTree: table.rootEntity) else { return [] }
        return entities[(numbers.lowerBound - 1)..<numbers.upperBound]
    }

    /// The column with the given role; nil where the layout has none. House columns (`Z_PK`, …) exist in every table:
    /// for them it returns that of any table.
    package func column(_ role: ColumnRole) -> Column? { columnsByRole[role]?.column }

    /// The name of the table with that column.
    package func table(holding role: ColumnRole) -> String? { columnsByRole[role]?.table }

    /// The column that holds a stored attribute (a composite's leaf as `composite.leaf`) or to-one as the entity sees
    /// it, inherited ones included.
    package func column(of property: String, in entity: String) -> Column? {
        model.lineage(of: entity).lazy.compactMap { ancestor in
            column(.attribute(entity: ancestor.name, path: property))
                ?? column(.toOne(entity: ancestor.name, relationship: property))
        }.first
    }

    /// The join table of a many-to-many relationship, by the entity that declares the relationship, with whether the
    /// relationship is the naming side.
    package func joinTable(of relationship: String, declaredBy entity: String) -> (table: JoinTable, isNaming: Bool)? {
        for table in joinTables {
            if table.owner == entity, table.relationship == relationship { return (table, true) }
            if table.inverseOwner == entity, table.inverse == relationship { return (table, false) }
        }
        return nil
    }

    /// Whether it is Core Data's index for finding the members of a to-many by their key; a declared index on the same
    /// column isn't.
    package func findsMembers(_ index: TableIndex) -> Bool {
        if index.isUnique || index.isSpelledOut { return false }
        if joinTables.contains(where: { $0.name == index.table }) { return true }
        return tables.contains { table in
            table.name == index.table && table.columns.contains { $0.role.isKeyOfToOne && index.isOf($0.name) }
        }
    }

    /// Z_ENT values of the entity and everything below it; numbers of a subtree are consecutive.
    package func numbers(ofTree entity: String) -> ClosedRange<Int>? {
        guard let first = entityNumbers[entity] else { return nil }
        var last = first
        while last < entities.count, model.isKind(entities[last], of: entity) { last += 1 }
        return first...last
    }

    /// Rows of a fresh Z_PRIMARYKEY in Z_ENT order: number, name, and the parent's number or 0 (InsideStoreFormat §2).
    package var primaryKeyRows: [(number: Int, name: String, parent: Int)] {
        entities.enumerated().map { offset, name in
            (offset + 1, name, model.entities[name]?.parent.flatMap { entityNumbers[$0] } ?? 0)
        }
    }
}
