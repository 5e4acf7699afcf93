import CausewayModel

/// The columns of an entity table, group by group, while they are being named.
private struct TableColumns {
    var names = NameScope(["Z_PK", "Z_ENT", "Z_OPT"])
    var groups: [ColumnGroup: [Column]] = [:]

    mutating func add(
        _ base: String, _ type: String, to group: ColumnGroup, isUnique: Bool = false, role: ColumnRole
    ) {
        let column = Column(name: names.claim(base), declaredType: type, isUnique: isUnique, role: role)
        groups[group, default: []].append(column)
    }

    mutating func add(_ attributes: [(path: String, leaf: Attribute)], of group: ColumnGroup, entity: Entity) {
        for (path, leaf) in attributes where leaf.type.columnGroup == group {
            add(
                SchemaNames.column(leaf.name), leaf.type.sqlType ?? "BLOB", to: group,
                role: .attribute(entity: entity.name, path: path))
        }
    }
}

extension LayoutBuilder {
    /// Names are claimed entity by entity and, inside one, group by group; a clash inside the tree gives the later one
    /// a number (InsideStoreFormat §3).
    func table(root: Int) -> EntityTable {
        var columns = TableColumns()
        for entity in root...outline.lastDescendants[root] { addColumns(of: entity, to: &columns) }
        let name = SchemaNames.table(outline.entities[root].name)
        orderKeysAsHinted(&columns, table: name)
        let house = [
            Column(name: "Z_PK", declaredType: "INTEGER PRIMARY KEY", role: .primaryKey),
            Column(name: "Z_ENT", declaredType: "INTEGER", role: .entityNumber),
            Column(name: "Z_OPT", declaredType: "INTEGER", role: .optimisticLock),
        ]
        let all = house + ColumnGroup.allCases.flatMap { columns.groups[$0] ?? [] }
        return withConstraints(
            EntityTable(name: name, rootEntity: outline.entities[root].name, columns: all, constraints: []), root: root)
    }

    private func addColumns(of index: Int, to columns: inout TableColumns) {
        let entity = outline.entities[index]
        let attributes = entity.attributes
            .sorted { ManagedObjectModel.compareOrder($0.name, $1.name) }
            .flatMap(LayoutModel.storedLeaves)
        columns.add(attributes, of: .integers, entity: entity)
        var orderKeys: [Relationship] = []
        let toOnes = entity.relationships.indices
            .filter { !entity.relationships[$0].isTransient && !entity.relationships[$0].isToMany }
            .sorted { ManagedObjectModel.compareOrder(entity.relationships[$0].name, entity.relationships[$1].name) }
        for place in toOnes {
            let relationship = entity.relationships[place]
            columns.add(
                SchemaNames.column(relationship.name), "INTEGER", to: .integers,
                role: .toOne(entity: entity.name, relationship: relationship.name))
            if let destination = outline.indexes[relationship.destination], outline.hasSubentities(destination) {
                columns.add(
                    SchemaNames.toOneEntity(outline.number(destination), relationship.name), "INTEGER", to: .integers,
                    role: .toOneEntity(entity: entity.name, relationship: relationship.name))
            }
            if outline.inverse(of: .init(entity: index, place: place))?.relationship.isOrdered == true {
                orderKeys.append(relationship)
            }
        }
        addVirtualToOnes(pointingTo: index, to: &columns)
        for relationship in orderKeys {
            columns.add(
                SchemaNames.orderKey(relationship.name), "INTEGER", to: .orderKeys,
                role: .orderKey(entity: entity.name, relationship: relationship.name))
        }
        for group in ColumnGroup.afterRelationships { columns.add(attributes, of: group, entity: entity) }
    }

    /// A to-many without inverse is stored in its destination; its order key follows at once, not in the group of order
    /// keys (InsideStoreFormat §3).
    private func addVirtualToOnes(pointingTo index: Int, to columns: inout TableColumns) {
        for id in outline.virtualRelationships(to: index) {
            let relationship = outline.relationship(id)
            let owner = outline.entities[id.entity].name
            let number = outline.number(id.entity)
            columns.add(
                SchemaNames.virtualToOne(number, relationship.name), "INTEGER", to: .integers,
                role: .virtualToOne(owner: owner, relationship: relationship.name))
            if relationship.isOrdered {
                columns.add(
                    SchemaNames.virtualOrderKey(number, relationship.name), "INTEGER", to: .integers,
                    role: .virtualOrderKey(owner: owner, relationship: relationship.name))
            }
        }
    }

    /// The order of several order keys isn't derivable; a hint that names all of them settles it.
    private func orderKeysAsHinted(_ columns: inout TableColumns, table: String) {
        guard let keys = columns.groups[.orderKeys], keys.count > 1, let hint = hints.orderColumns[table] else {
            return
        }
        let byName = Dictionary(keys.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let hinted = hint.compactMap { byName[$0] }
        if Set(hinted).count == keys.count, hinted.count == keys.count { columns.groups[.orderKeys] = hinted }
    }

    /// Up to framework version 851 uniqueness is part of the table: a word after a single column, a named constraint
    /// for several (InsideStoreFormat §7).
    private func withConstraints(_ table: EntityTable, root: Int) -> EntityTable {
        guard frameworkVersion < FrameworkEra.uniqueIndexes else { return table }
        var unique: Set<ColumnRole> = []
        var constraints: [String] = []
        for index in root...outline.lastDescendants[root] {
            let entity = outline.entities[index]
            for properties in entity.uniquenessConstraints {
                if properties.count == 1 {
                    unique.insert(.attribute(entity: entity.name, path: properties[0]))
                    continue
                }
                let names = properties.compactMap { outline.columnName(of: $0, in: index, columns: table.columns) }
                guard !names.isEmpty, names.count == properties.count else { continue }
                constraints.append(
                    "CONSTRAINT \(names.joined(separator: "_")) UNIQUE (\(names.joined(separator: ", ")))")
            }
        }
        let columns = table.columns.map { column in
            Column(
                name: column.name, declaredType: column.declaredType, isUnique: unique.contains(column.role),
                role: column.role)
        }
        return EntityTable(
            name: table.name, rootEntity: table.rootEntity, columns: columns, constraints: constraints)
    }
}

extension LayoutModel {
    /// The column that holds a stored attribute (or `composite.leaf`) or to-one, as the entity sees it.
    fileprivate func columnName(of property: String, in entity: Int, columns: [Column]) -> String? {
        lineages[entity].reversed().lazy.compactMap { ancestor in
            let name = entities[ancestor].name
            let roles = [
                ColumnRole.attribute(entity: name, path: property), .toOne(entity: name, relationship: property),
            ]
            return columns.first { roles.contains($0.role) }?.name
        }.first
    }
}
