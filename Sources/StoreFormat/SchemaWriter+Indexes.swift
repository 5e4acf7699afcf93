import CausewayExpressions
import CausewayModel

/// Indexes in each era's text and order (InsideStoreFormat §7).
extension SchemaWriter {
    private var isOld: Bool { layout.frameworkVersion < FrameworkEra.fetchIndexes }
    private var isAncient: Bool { layout.frameworkVersion < FrameworkEra.modelCache }

    mutating func addIndexes(of index: Int) {
        let entity = outline.entities[index]
        guard let table = layout.table(of: entity.name) else { return }
        let isTreeRoot = outline.isRoot(index) && outline.hasSubentities(index)
        if outline.isRoot(index) { addKeyIndexes(ofTree: index, table) }
        if isOld, isTreeRoot { addIndex("\(table.name)_Z_ENT_INDEX", table, ["Z_ENT"]) }
        if isAncient { addJoinTables(of: entity) } else { addJoinIndexes(of: entity) }
        if !isOld, isTreeRoot { addIndex("\(table.name)_Z_ENT_INDEX", table, ["Z_ENT"]) }
        if isOld { addCompoundIndexes(of: entity, table) } else { addFetchIndexes(of: entity, table) }
        if layout.frameworkVersion >= FrameworkEra.uniqueIndexes { addUniqueIndexes(of: entity, table) }
    }

    private mutating func addIndex(_ name: String, _ table: EntityTable, _ columns: [String]) {
        add(TableIndex(name, on: table.name, columns.map { TableIndex.Column($0) }))
    }

    /// Every real or virtual to-one of the tree, and in old stores every `indexed` attribute before those of its
    /// entity.
    private mutating func addKeyIndexes(ofTree root: Int, _ table: EntityTable) {
        for index in root...outline.lastDescendants[root] {
            let entity = outline.entities[index]
            if isOld {
                let indexed = entity.attributes.filter(\.isIndexed)
                    .sorted { ManagedObjectModel.compareOrder($0.name, $1.name) }
                let columns = indexed.compactMap { layout.column(.attribute(entity: entity.name, path: $0.name)) }
                for column in columns { addIndex("\(table.name)_\(column.name)_INDEX", table, [column.name]) }
            }
            for column in keyColumns(of: index) { addIndex("\(table.name)_\(column)_INDEX", table, [column]) }
        }
    }

    /// To-ones by name, then virtual to-ones, as the columns are declared.
    private func keyColumns(of index: Int) -> [String] {
        let entity = outline.entities[index]
        let toOnes = entity.relationships.map(\.name).sorted(by: ManagedObjectModel.compareOrder)
            .compactMap { layout.column(.toOne(entity: entity.name, relationship: $0))?.name }
        let virtual = outline.virtualRelationships(to: index).compactMap { id in
            let (owner, name) = (outline.entities[id.entity].name, outline.relationship(id).name)
            return layout.column(.virtualToOne(owner: owner, relationship: name))?.name
        }
        return toOnes + virtual
    }

    private mutating func addJoinIndexes(of entity: Entity) {
        for join in layout.joinTables where join.owner == entity.name {
            let name = "\(join.name)_\(join.destinationColumn)_INDEX"
            add(TableIndex(name, on: join.name, [.init(join.destinationColumn), .init(join.ownerColumn)]))
        }
    }

    private mutating func addCompoundIndexes(of entity: Entity, _ table: EntityTable) {
        for properties in entity.compoundIndexes {
            let columns = properties.compactMap { layout.column(of: $0, in: entity.name)?.name }
            guard !columns.isEmpty, columns.count == properties.count else { continue }
            addIndex("\(table.name)_\(columns.joined(separator: "_"))", table, columns)
        }
    }

    private mutating func addFetchIndexes(of entity: Entity, _ table: EntityTable) {
        for index in entity.fetchIndexes where !index.isRTree {
            // A to-one alone has its own index already.
            if index.elements.count == 1, case .property(let name) = index.elements[0].indexed,
                layout.model.relationship(name, of: entity.name) != nil
            {
                continue
            }
            let columns = index.elements.compactMap { element in
                column(of: element.indexed, in: entity).map {
                    TableIndex.Column($0, isDescending: !element.isAscending)
                }
            }
            guard !columns.isEmpty, columns.count == index.elements.count, isWritable(index, entity) else { continue }
            add(
                TableIndex(
                    "Z_\(entity.name)_\(index.name)", on: table.name, columns, condition: condition(of: index, entity),
                    isSpelledOut: true))
        }
    }

    private func condition(of index: FetchIndex, _ entity: Entity) -> String? {
        index.partialPredicate.flatMap { predicate in
            PartialIndexPredicate.sql(predicate, column: { layout.column(of: $0, in: entity.name)?.name })
        }
    }

    /// False for a partial index whose predicate can't be written as SQL.
    private mutating func isWritable(_ index: FetchIndex, _ entity: Entity) -> Bool {
        if index.partialPredicate == nil || condition(of: index, entity) != nil { return true }
        unsupported.append(
            "Fetch index \(entity.name).\(index.name) is left out: its partial predicate has no known SQL form.")
        return false
    }

    func column(of indexed: FetchIndex.Indexed, in entity: Entity) -> String? {
        switch indexed {
        case .property(let name): layout.column(of: name, in: entity.name)?.name
        case .expression(_, .evaluatedObject): "Z_PK"
        case .expression(_, .keyPath(operand: .evaluatedObject, path: "entity")): "Z_ENT"
        case .expression: nil
        }
    }

    private mutating func addUniqueIndexes(of entity: Entity, _ table: EntityTable) {
        for properties in entity.uniquenessConstraints {
            let columns = properties.compactMap { layout.column(of: $0, in: entity.name)?.name }
            guard !columns.isEmpty, columns.count == properties.count else {
                unsupported.append(
                    "Uniqueness constraint \(entity.name) (\(properties.joined(separator: ", "))) is left out: "
                        + "not all of it is stored.")
                continue
            }
            let name = "Z_\(entity.name)_UNIQUE_\(properties.joined(separator: "_"))"
            add(TableIndex(name, on: table.name, columns.map { .init($0) }, isUnique: true, isSpelledOut: true))
        }
    }
}
