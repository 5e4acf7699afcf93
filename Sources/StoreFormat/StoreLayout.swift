package import CausewayModel

/// The tables that Core Data makes for a model: names, columns, types and order (InsideStoreFormat §§2, 3, 5).
///
/// A value computed from the model alone, except for what the model leaves open (`LayoutHints`). The statements that
/// create it are `StoreLayout.statements`.
package struct StoreLayout: Sendable {
    package let model: ManagedObjectModel
    /// `NSPersistenceFrameworkVersion`: which era's layout this is.
    package let frameworkVersion: Int
    /// Entity names in Z_ENT order; the first has Z_ENT 1.
    package let entities: [String]
    /// One for each root entity, in Z_ENT order of the roots.
    package let tables: [EntityTable]
    /// In the order in which Core Data creates them (by owner's Z_ENT, then its property order).
    package let joinTables: [JoinTable]
    /// What the model leaves open and no store shows, for the plan's warnings.
    package let undecidable: [OpenName]
    /// Order keys whose place among those of their table no store has shown.
    let newOrderKeys: Set<LayoutHints.RelationshipName>

    /// Z_ENT by entity name.
    package let entityNumbers: [String: Int]
    /// Every column of every entity table by what it holds, with its table; each role is one column of the store.
    let columnsByRole: [ColumnRole: TableColumn]
    /// Place in `tables` by root entity.
    let tablesByRoot: [String: Int]
    /// Place in `tables` by name.
    let tablesByName: [String: Int]

    struct TableColumn: Hashable, Sendable {
        let table: String
        let column: Column
    }

    package init(
        model: ManagedObjectModel, frameworkVersion: Int, entities: [String], tables: [EntityTable],
        joinTables: [JoinTable], undecidable: [OpenName], newOrderKeys: Set<LayoutHints.RelationshipName> = []
    ) {
        self.model = model
        self.frameworkVersion = frameworkVersion
        self.entities = entities
        self.tables = tables
        self.joinTables = joinTables
        self.undecidable = undecidable
        self.newOrderKeys = newOrderKeys
        entityNumbers = Dictionary(zip(entities, 1...), uniquingKeysWith: { first, _ in first })
        tablesByRoot = Dictionary(zip(tables.map(\.rootEntity), 0...), uniquingKeysWith: { first, _ in first })
        tablesByName = Dictionary(zip(tables.map(\.name), 0...), uniquingKeysWith: { first, _ in first })
        var columns: [ColumnRole: TableColumn] = [:]
        for table in tables {
            for column in table.columns { columns[column.role] = TableColumn(table: table.name, column: column) }
        }
        columnsByRole = columns
    }
}

/// The table that a root entity and all its subentities share.
package struct EntityTable: Hashable, Sendable {
    package let name: String
    package let rootEntity: String
    /// Every column in declared order; `Z_PK, Z_ENT, Z_OPT` are the first three.
    package let columns: [Column]
    /// Table constraints of framework versions up to 851 (`CONSTRAINT ZA_ZB UNIQUE (ZA, ZB)`), verbatim.
    package let constraints: [String]

    package init(name: String, rootEntity: String, columns: [Column], constraints: [String]) {
        (self.name, self.rootEntity, self.columns, self.constraints) = (name, rootEntity, columns, constraints)
    }
}

/// One column of an entity table.
package struct Column: Hashable, Sendable {
    package let name: String
    /// `INTEGER`, `FLOAT`, `TIMESTAMP`, `DECIMAL`, `VARCHAR`, `BLOB`; `INTEGER PRIMARY KEY` for Z_PK.
    package let declaredType: String
    /// ` UNIQUE` follows the type (framework versions up to 851).
    package private(set) var isUnique = false
    package let role: ColumnRole

    package init(name: String, declaredType: String, isUnique: Bool = false, role: ColumnRole) {
        (self.name, self.declaredType, self.isUnique, self.role) = (name, declaredType, isUnique, role)
    }
}

/// What a column of an entity table holds.
package enum ColumnRole: Hashable, Sendable {
    /// Z_PK
    case primaryKey
    /// Z_ENT
    case entityNumber
    /// Z_OPT
    case optimisticLock
    /// An attribute of `entity`; a composite's leaf is `composite.leaf`.
    case attribute(entity: String, path: String)
    /// The key of a to-one's target.
    case toOne(entity: String, relationship: String)
    /// The Z_ENT of a to-one's target, where the declared destination has subentities.
    case toOneEntity(entity: String, relationship: String)
    /// `Z_FOK_…`: the row's place in the ordered to-many whose inverse is this to-one.
    case orderKey(entity: String, relationship: String)
    /// The key of the owner of a to-many without inverse, in the destination's table.
    case virtualToOne(owner: String, relationship: String)
    /// The row's place in an ordered to-many without inverse.
    case virtualOrderKey(owner: String, relationship: String)

    /// Whether the column holds the key of a to-one's target, the model's or a virtual one's.
    package var isKeyOfToOne: Bool {
        switch self {
        case .toOne, .virtualToOne: true
        case .primaryKey, .entityNumber, .optimisticLock, .attribute, .toOneEntity, .orderKey, .virtualOrderKey: false
        }
    }

    /// Whether the column holds the row's place in an ordered relationship.
    package var isPlace: Bool {
        switch self {
        case .orderKey, .virtualOrderKey: true
        case .primaryKey, .entityNumber, .optimisticLock, .attribute, .toOne, .toOneEntity, .virtualToOne: false
        }
    }

    /// The entity whose rows, and subentities' rows, have the column's property; nil where every row has it.
    package func owner(in model: ManagedObjectModel) -> String? {
        switch self {
        case .attribute(let entity, _), .toOne(let entity, _), .toOneEntity(let entity, _), .orderKey(let entity, _):
            entity
        case .virtualToOne(let owner, let relationship), .virtualOrderKey(let owner, let relationship):
            model.relationship(relationship, of: owner)?.relationship.destination
        case .primaryKey, .entityNumber, .optimisticLock: nil
        }
    }
}

/// The table of a many-to-many relationship.
package struct JoinTable: Hashable, Sendable {
    package let name: String
    /// The entity that declares the naming side.
    package let owner: String
    /// The naming side's relationship.
    package let relationship: String
    /// The entity that declares the inverse; the owner itself for a relationship that is its own inverse.
    package let inverseOwner: String
    package let inverse: String
    /// Holds the owner's Z_PK.
    package let ownerColumn: String
    /// Holds the destination's Z_PK; `REFLEXIVE` where the relationship is its own inverse.
    package let destinationColumn: String
    /// `Z_FOK_…` giving the owner's place in the destination's ordered inverse; nil where the inverse isn't ordered.
    package let ownerOrderColumn: String?
    /// `Z_FOK_…` giving the destination's place in the owner's ordered relationship; nil where it isn't ordered.
    package let destinationOrderColumn: String?
    /// Names of all properties that the entity had when Core Data chose the name and the columns' clash numbers, if the
    /// model leaves a choice; empty if no store has shown it.
    package private(set) var chosenAmid: Set<String> = []

    package var isReflexive: Bool { owner == inverseOwner && relationship == inverse }

    /// Both ends belong to one entity: either may name the table (InsideStoreFormat §5.3).
    package var isPairInOneEntity: Bool { owner == inverseOwner && relationship != inverse }
}

/// A name that the model leaves open (InsideStoreFormat §5.3): the written name, and the other possible ones.
package struct OpenName: Hashable, Sendable {
    /// A sentence without its full stop.
    package let message: String
    /// The names that the table may have, the written one first; empty where columns' numbers are open.
    package let tables: [String]
}

/// One statement of a fresh store, in Core Data's text.
package struct SchemaStatement: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case entityTable, joinTable, index, rTree, trigger, house, historyTable
    }
    package let kind: Kind
    /// The object's name.
    package let name: String
    /// The table that an index or trigger belongs to; the object's own name for tables.
    package let table: String
    package let sql: String
    /// The index; nil for everything else.
    package private(set) var index: TableIndex?
}

extension SchemaStatement {
    init(_ index: TableIndex, blank: String = " ") {
        self.init(
            kind: .index, name: index.name, table: index.table, sql: index.statement(blank: blank), index: index)
    }

    /// As the schema table lists it; nil for Core Data's own statements.
    package var object: StoreSchema.Object? {
        let kind: StoreSchema.Object.Kind
        switch self.kind {
        case .entityTable, .joinTable, .house, .historyTable: kind = .table
        case .index: kind = .index
        case .rTree, .trigger: return nil
        }
        // A page number other than 0: with 0 it would be a virtual table.
        return StoreSchema.Object(kind: kind, name: name, table: table, rootPage: 1, sql: sql)
    }
}

extension JoinTable {
    /// As a store's own table says: nothing of it was chosen here.
    package init(
        seen table: StoreSchema.Table, owner: (entity: String, relationship: String, column: String, place: String?),
        inverse: (entity: String, relationship: String, column: String, place: String?)
    ) {
        self.init(
            name: table.name, owner: owner.entity, relationship: owner.relationship, inverseOwner: inverse.entity,
            inverse: inverse.relationship, ownerColumn: owner.column, destinationColumn: inverse.column,
            ownerOrderColumn: owner.place, destinationOrderColumn: inverse.place)
    }
}
