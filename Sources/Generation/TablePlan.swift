import CausewayModel
import CausewayStoreFormat

/// The content of each cell of one entity table.
struct TablePlan {
    let name: String
    /// The columns in declared order.
    let columns: [String]
    let keys: KeySpace
    /// By place in `keys.entities`.
    let rows: [RowRecipe]
}

/// The cells of one concrete entity's rows; the table's other cells stay NULL. Positions are those of SQL parameters.
struct RowRecipe {
    let number: Int
    let values: [(position: Int, recipe: ValueRecipe)]
    let links: [LinkCells]
    /// Z_OPT: how often the row was saved.
    let saves: UInt64
}

/// A to-one's cells in the table that holds its key.
struct LinkCells {
    let link: ToOneLink
    /// Number, among the link's children, of the entity's first row.
    let base: Int
    let keyPosition: Int
    let entityPosition: Int?
    let orderPosition: Int?
}

/// Makes the plans of all entity tables.
struct TablePlanner {
    let layout: StoreLayout
    let options: GenerationOptions
    let links: LinkPlan
    let archives: [[UInt8]]

    func plan(_ table: EntityTable, keys: KeySpace) -> TablePlan {
        let positions = Dictionary(zip(table.columns.map(\.role), 1...), uniquingKeysWith: { first, _ in first })
        let linked = table.columns.compactMap { cells(of: $0.role, positions: positions) }
        let rows = keys.entities.indices.map { row($0, of: table, keys: keys, links: linked) }
        return TablePlan(name: table.name, columns: table.columns.map(\.name), keys: keys, rows: rows)
    }

    private func row(
        _ place: Int, of table: EntityTable, keys: KeySpace, links: [(link: ToOneLink, positions: [Int?])]
    ) -> RowRecipe {
        let (entity, number, count) = keys.entities[place]
        var values: [(position: Int, recipe: ValueRecipe)] = []
        for (offset, column) in table.columns.enumerated() {
            guard case .attribute(let owner, let path) = column.role, layout.model.isKind(entity, of: owner),
                let attribute = leaf(path, of: owner),
                let recipe = ValueRecipe(
                    attribute, path: path, of: entity, count: count,
                    unique: numbering(of: column.role, declaredBy: owner, place), options: options, archives: archives)
            else { continue }
            values.append((offset + 1, recipe))
        }
        let cells = links.compactMap { entry -> LinkCells? in
            guard let base = entry.link.children.base(of: place), let key = entry.positions[0] else { return nil }
            return LinkCells(
                link: entry.link, base: base, keyPosition: key, entityPosition: entry.positions[1],
                orderPosition: entry.positions[2])
        }
        return RowRecipe(
            number: number, values: values, links: cells,
            saves: RandomStream.stream(seed: options.seed, "saves " + entity))
    }

    /// Where the entity's rows stand among those with a unique attribute; nil where it needn't be unique.
    private func numbering(of role: ColumnRole, declaredBy owner: String, _ place: Int) -> ValueRecipe.Numbering? {
        guard links.uniqueRoles.contains(role), let population = links.population(of: owner) else { return nil }
        return .init(first: population.base(of: place) ?? 0, count: population.count)
    }

    /// The link whose key stands in the column, with the parameters of key, entity number and order key.
    private func cells(
        of role: ColumnRole, positions: [ColumnRole: Int]
    ) -> (link: ToOneLink, positions: [Int?])? {
        switch role {
        case .toOne(let entity, let name):
            guard let relationship = links.relationship(name, declaredBy: entity),
                let link = links.toOne(relationship, of: entity)
            else { return nil }
            let number = positions[.toOneEntity(entity: entity, relationship: name)]
            return (link, [positions[role], number, positions[.orderKey(entity: entity, relationship: name)]])
        case .virtualToOne(let owner, let name):
            guard let relationship = links.relationship(name, declaredBy: owner),
                let link = links.virtualToOne(relationship, of: owner)
            else { return nil }
            return (link, [positions[role], nil, positions[.virtualOrderKey(owner: owner, relationship: name)]])
        default: return nil
        }
    }

    /// The attribute that a column holds: one of the entity's own, or a composite's leaf.
    private func leaf(_ path: String, of entity: String) -> Attribute? {
        var attributes = layout.model.entities[entity]?.attributes ?? []
        var found: Attribute?
        for part in path.split(separator: ".") {
            found = attributes.first { $0.name == part }
            attributes = found?.elements ?? []
        }
        return found
    }
}
