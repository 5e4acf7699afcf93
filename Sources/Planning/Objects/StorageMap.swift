package import CausewayEvaluation
package import CausewayModel
package import CausewayStoreFormat
package import CausewaySQLite

/// Where a store keeps every property of every entity: a layout turned into numbers, made once per plan.
package struct StorageMap: Sendable {
    package let layout: StoreLayout
    package let schema: ModelSchema
    /// In the layout's order.
    package let tables: [TableStorage]
    /// Place in `tables` by Z_ENT − 1.
    package let tableOfEntity: [Int]
    /// By Z_ENT − 1, then by property handle.
    private let places: [[PropertyStorage?]]

    /// - Throws: `PlanError` where the layout names what SQLite can't.
    package init(_ layout: StoreLayout) throws(PlanError) {
        self.layout = layout
        schema = ModelSchema(layout.model)
        tables = try layout.tables.map { table throws(PlanError) in try TableStorage(table) }
        let builder = StorageMapBuilder(layout: layout, schema: schema, tables: tables)
        tableOfEntity = layout.entities.map { builder.tableIndex(of: $0) }
        places = try layout.entities.map { entity throws(PlanError) in try builder.places(of: entity) }
    }

    /// Where the entity with this Z_ENT keeps the property; nil where it has none of that name.
    package func place(of property: PropertyHandle, entity: Int32) -> PropertyStorage? {
        let index = Int(entity) - 1
        guard places.indices.contains(index), places[index].indices.contains(property.index) else { return nil }
        return places[index][property.index]
    }

    /// Z_ENT of an entity; nil without one, or where the model lacks it.
    func number(of entity: String?) -> Int32? { entity.flatMap { schema.number(of: $0) }.map { Int32($0) } }

    /// The table of the entity with this Z_ENT; nil for a number that the model lacks.
    package func table(of entity: Int32) -> Int? {
        let index = Int(entity) - 1
        return tableOfEntity.indices.contains(index) ? tableOfEntity[index] : nil
    }

    package func name(of entity: Int32) -> String {
        let index = Int(entity) - 1
        return schema.entities.indices.contains(index) ? schema.entities[index] : "Z_ENT \(entity)"
    }

    /// Whether the entity with this Z_ENT is `ancestor` or inherits from it.
    package func isKind(_ entity: Int32, of ancestor: String) -> Bool {
        let name = name(of: entity)
        return name == ancestor || schema.model.isKind(name, of: ancestor)
    }
}

/// One entity table.
package struct TableStorage: Sendable {
    package let name: SQLIdentifier
    package let columns: [SQLIdentifier]
    package let rootEntity: String

    package static let primaryKey = 0
    package static let entityNumber = 1
    package static let optimisticLock = 2

    init(_ table: EntityTable) throws(PlanError) {
        name = try identifier(table.name)
        columns = try table.columns.map { column throws(PlanError) in try identifier(column.name) }
        rootEntity = table.rootEntity
        // InsideStoreFormat §3: the house columns come first.
        guard table.columns.prefix(3).map(\.role) == [.primaryKey, .entityNumber, .optimisticLock] else {
            throw .unusableName(
                "\(table.name): its first columns aren't Z_PK, Z_ENT and Z_OPT; it was altered by hand: rebuild it")
        }
    }
}

/// Where one property of one entity is kept. Columns are places in `TableStorage.columns`.
///
/// Indirect, so that looking a property up for a row copies one reference.
package indirect enum PropertyStorage: Sendable {
    case attribute(column: Int, Attribute)
    case composite([PropertyHandle])
    case toOne(ToOneStorage)
    /// A to-many whose other end has a column of its own for it.
    case toMany(ToManyStorage)
    case join(JoinStorage)
    /// Not in the store: transient, fetched or computed at run time.
    case none
}

/// A key in the row itself. A class, so that looking it up for a row copies one reference.
package final class ToOneStorage: Sendable {
    package let relationship: Relationship
    package let column: Int
    /// Where the declared destination has subentities: the target's Z_ENT.
    package let entityColumn: Int?
    /// The row's place in the target's ordered to-many.
    package let orderColumn: Int?
    /// Z_ENT of the declared destination.
    package let destination: Int32
    /// The inverse, if it is also a to-one: the same property on the target's side.
    package let oneToOneInverse: PropertyHandle?

    init(
        relationship: Relationship, column: Int, entityColumn: Int?, orderColumn: Int?, destination: Int32,
        oneToOneInverse: PropertyHandle?
    ) {
        self.relationship = relationship
        self.column = column
        self.entityColumn = entityColumn
        self.orderColumn = orderColumn
        self.destination = destination
        self.oneToOneInverse = oneToOneInverse
    }
}

/// Keys in the rows at the other end.
package struct ToManyStorage: Sendable {
    package let relationship: Relationship
    /// Of the other end, a place in `StorageMap.tables`.
    package let table: Int
    package let column: Int
    package let entityColumn: Int?
    package let orderColumn: Int?
}

/// Rows of a join table, seen from one end. A class, so that many changed links can refer to it cheaply.
package final class JoinStorage: Sendable {
    package let relationship: Relationship
    package let table: SQLIdentifier
    package let mine: SQLIdentifier
    package let theirs: SQLIdentifier
    /// Place of the other end in my ordered relationship.
    package let placeOfTheirs: SQLIdentifier?
    /// My place in the other end's ordered relationship.
    package let placeOfMine: SQLIdentifier?
    /// The relationship is its own inverse: a link may be stored in either direction.
    package let isReflexive: Bool
    /// Of the other end, a place in `StorageMap.tables`.
    package let otherTable: Int

    init(_ join: JoinTable, isNaming: Bool, relationship: Relationship, otherTable: Int) throws(PlanError) {
        self.relationship = relationship
        self.otherTable = otherTable
        let ends = try JoinEnds(join, isNaming: isNaming)
        table = try identifier(join.name)
        (mine, theirs) = (ends.mine.key, ends.theirs.key)
        (placeOfMine, placeOfTheirs) = (ends.mine.place, ends.theirs.place)
        isReflexive = join.isReflexive
    }

    /// True for the link from `?1` (mine) to `?2` (theirs).
    package var condition: String {
        let turned = isReflexive ? " OR (\(mine) = ?2 AND \(theirs) = ?1)" : ""
        return "(\(mine) = ?1 AND \(theirs) = ?2)\(turned)"
    }
}
