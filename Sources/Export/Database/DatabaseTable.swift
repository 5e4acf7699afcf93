import CausewayEvaluation
import CausewayModel
import CausewayPlanning
import CausewayStoreFormat

/// One table of an exported database: the rows of a root entity and of all its subentities.
struct DatabaseTable {
    struct Column {
        let name: String
        /// The property with the entity that declares it; nil for a column that the other end's relationship has put
        /// here.
        let owner: String?
        let path: String
        let type: String
        /// The root entity to whose table the column leads.
        let destination: String?
    }

    /// Its name is the root entity's.
    let root: String
    let name: String
    let idName: String
    /// The column with the row's entity; nil for a root without subentities.
    let entityName: String?
    let columns: [Column]
    /// The entities whose rows are exported, in Z_ENT order.
    let entities: [String]
    /// Reads all columns, whatever the row's entity.
    private let shape: EntityShape

    /// - Parameters:
    ///   - place: of the table in the map.
    ///   - map: of the store.
    ///   - entities: those whose rows are exported.
    ///   - name: the table's.
    init(_ place: Int, _ map: StorageMap, entities: [String], named name: String) {
        let table = map.layout.tables[place]
        let isTree = map.layout.numbers(ofTree: table.rootEntity).map { $0.count > 1 } ?? false
        var builder = DatabaseTableBuilder(map, table)
        (idName, entityName) = builder.ownNames(isTree: isTree)
        for index in table.columns.indices { builder.add(index) }
        root = table.rootEntity
        self.name = name
        self.entities = entities
        columns = builder.columns
        shape = EntityShape(
            name: table.rootEntity, number: 0, table: place, idName: idName, columns: builder.cells,
            leaves: builder.leaves, fields: [], lists: [])
    }

    /// The shape of one entity's rows.
    func shape(of entity: String, _ number: Int32) -> EntityShape {
        EntityShape(
            name: entity, number: number, table: shape.table, idName: idName, columns: shape.columns,
            leaves: shape.leaves, fields: [], lists: [])
    }
}

/// Gives the columns of a store's table readable names.
private struct DatabaseTableBuilder {
    private let map: StorageMap
    private let table: EntityTable
    private var names: UniqueNames
    /// Those of columns that the model doesn't name: they give way to the others.
    private var houseNames = UniqueNames()
    private(set) var columns: [DatabaseTable.Column] = []
    private(set) var cells: [Int] = []
    private(set) var leaves: [EntityShape.Leaf] = []

    init(_ map: StorageMap, _ table: EntityTable) {
        (self.map, self.table) = (map, table)
        names = UniqueNames()
    }

    private var properties: [String] {
        table.columns.compactMap { column in
            switch column.role {
            case .attribute(_, let path): path
            case .toOne(_, let relationship): relationship
            default: nil
            }
        }
    }

    mutating func ownNames(isTree: Bool) -> (id: String, entity: String?) {
        var all = UniqueNames(properties)
        let id = all.first(of: ["id", "objectID", "objectURI"])
        let entity = isTree ? all.first(of: ["entity", "entityName"]) : nil
        names = UniqueNames([id] + [entity].compactMap(\.self))
        houseNames = all
        return (id, entity)
    }

    mutating func add(_ index: Int) {
        switch table.columns[index].role {
        case .primaryKey, .entityNumber, .optimisticLock, .toOneEntity: return
        case .attribute(let entity, let path):
            guard let attribute = map.layout.model.entities[entity]?.attribute(at: path),
                let meaning = CellMeaning(attribute)
            else { return }
            add(index, entity, path, meaning.databaseType, .attribute(meaning))
        case .toOne(let entity, let relationship):
            let destination = map.layout.model.relationship(relationship, of: entity)?.relationship.destination
            add(index, entity, relationship, "INTEGER", link, to: destination)
        case .orderKey(let entity, let relationship):
            add(index, entity, houseName(relationship + "Position", of: entity), "INTEGER", .place)
        case .virtualToOne(let owner, let relationship):
            add(index, nil, houseName("\(owner)_\(relationship)"), "INTEGER", link, to: owner)
        case .virtualOrderKey(let owner, let relationship):
            add(index, nil, houseName("\(owner)_\(relationship)Position"), "INTEGER", .place)
        }
    }

    /// A name that no attribute or relationship of the table has, nor another such column.
    private mutating func houseName(_ name: String, of owner: String? = nil) -> String {
        houseNames.first(of: [name] + [owner].compactMap { $0.map { "\($0)_\(name)" } })
    }

    private var link: EntityShape.Leaf.Kind { .link(entityCell: nil, destination: 0) }

    private mutating func add(
        _ index: Int, _ owner: String?, _ path: String, _ type: String, _ kind: EntityShape.Leaf.Kind,
        to destination: String? = nil
    ) {
        let name = names.first(of: [path] + [owner].compactMap { $0.map { "\($0)_\(path)" } })
        columns.append(
            DatabaseTable.Column(
                name: name, owner: owner, path: path, type: type,
                destination: destination.map { map.layout.model.root(of: $0) }))
        leaves.append(EntityShape.Leaf(path: path, cell: cells.count, kind: kind))
        cells.append(index)
    }
}

extension CellMeaning {
    /// The declared type of a column.
    fileprivate var databaseType: String {
        switch self {
        case .integer: "INTEGER"
        case .boolean: "BOOLEAN"
        case .double, .float: "REAL"
        case .date, .decimal, .text, .uuid: "TEXT"
        case .bytes: "BLOB"
        }
    }
}

extension Entity {
    /// The attribute, or the composite's leaf, at a path.
    fileprivate func attribute(at path: String) -> Attribute? {
        var attributes = attributes
        var found: Attribute?
        for name in path.split(separator: ".") {
            found = attributes.first { $0.name == name }
            attributes = found?.elements ?? []
        }
        return found
    }
}
