import CausewayEvaluation
import CausewayModel
import CausewayStoreFormat

/// Looks every property's place up in a layout.
struct StorageMapBuilder {
    let layout: StoreLayout
    let schema: ModelSchema
    private let tableByRoot: [String: Int]
    /// Column places by role, for every table.
    private let columns: [ColumnRole: Int]

    init(layout: StoreLayout, schema: ModelSchema, tables: [TableStorage]) {
        self.layout = layout
        self.schema = schema
        tableByRoot = Dictionary(zip(tables.map(\.rootEntity), 0...), uniquingKeysWith: { first, _ in first })
        var columns: [ColumnRole: Int] = [:]
        for table in layout.tables {
            for (index, column) in table.columns.enumerated() { columns[column.role] = index }
        }
        self.columns = columns
    }

    func tableIndex(of entity: String) -> Int {
        guard let index = tableByRoot[layout.model.root(of: entity)] else {
            preconditionFailure("a layout has a table for every root entity")
        }
        return index
    }

    func places(of entity: String) throws(PlanError) -> [PropertyStorage?] {
        guard let number = schema.number(of: entity) else { return [] }
        return try schema.names.indices.map { index throws(PlanError) in
            guard let property = schema.property(PropertyHandle(index: index), of: number) else { return nil }
            return try place(of: property, named: schema.names[index], entity: entity)
        }
    }

    private func place(
        of property: ModelSchema.Property, named name: String, entity: String
    ) throws(PlanError) -> PropertyStorage {
        switch property {
        case .attribute(let attribute):
            let top = name.split(separator: ".").first.map(String.init) ?? name
            guard let owner = layout.model.attribute(top, of: entity)?.owner,
                let column = columns[.attribute(entity: owner, path: name)]
            else { return .none }
            return .attribute(column: column, attribute)
        case .composite:
            let leaves = schema.names.indices.filter { schema.names[$0].hasPrefix(name + ".") }
            return .composite(leaves.map(PropertyHandle.init(index:)))
        case .fetched: return .none
        case .relationship(let relationship):
            guard let owner = layout.model.relationship(relationship.name, of: entity)?.owner else { return .none }
            return try place(of: relationship, declaredBy: owner)
        }
    }

    private func place(of relationship: Relationship, declaredBy owner: String) throws(PlanError) -> PropertyStorage {
        if relationship.isTransient { return .none }
        let inverse = layout.model.inverse(of: relationship)
        if !relationship.isToMany {
            guard let column = columns[.toOne(entity: owner, relationship: relationship.name)] else { return .none }
            return .toOne(
                ToOneStorage(
                    relationship: relationship, column: column,
                    entityColumn: columns[.toOneEntity(entity: owner, relationship: relationship.name)],
                    orderColumn: columns[.orderKey(entity: owner, relationship: relationship.name)],
                    destination: Int32(schema.number(of: relationship.destination) ?? 0),
                    oneToOneInverse: inverse.flatMap {
                        $0.relationship.isToMany || $0.relationship.isTransient
                            ? nil : schema.handle(of: $0.relationship.name)
                    }))
        }
        let other = tableIndex(of: relationship.destination)
        if let inverse, !inverse.relationship.isTransient {
            if !inverse.relationship.isToMany {
                let role = (inverse.owner, inverse.relationship.name)
                guard let column = columns[.toOne(entity: role.0, relationship: role.1)] else { return .none }
                return .toMany(
                    ToManyStorage(
                        relationship: relationship, table: other, column: column,
                        entityColumn: columns[.toOneEntity(entity: role.0, relationship: role.1)],
                        orderColumn: columns[.orderKey(entity: role.0, relationship: role.1)]))
            }
            guard let found = layout.joinTable(of: relationship.name, declaredBy: owner) else { return .none }
            return .join(
                try JoinStorage(found.table, isNaming: found.isNaming, relationship: relationship, otherTable: other))
        }
        guard let column = columns[.virtualToOne(owner: owner, relationship: relationship.name)] else { return .none }
        return .toMany(
            ToManyStorage(
                relationship: relationship, table: other, column: column, entityColumn: nil,
                orderColumn: columns[.virtualOrderKey(owner: owner, relationship: relationship.name)]))
    }
}
