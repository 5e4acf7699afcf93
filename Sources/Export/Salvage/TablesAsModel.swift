import CausewayModel
import CausewayPlanning
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// A damaged store of which no model is known: its entities (`SalvagedEntities`), with a property for each column
/// of their tables, under the column's own name.
struct TablesAsModel {
    private let schema: SalvagedSchema
    private let file: SalvageFile
    /// By Z_ENT − 1.
    private let names: [String]
    /// Z_ENT of each entity's parent, by Z_ENT − 1; 0 for a root.
    private let parents: [Int]
    /// Z_ENT of the root above each entity, by Z_ENT − 1.
    private let roots: [Int]
    /// Whether Z_PRIMARYKEY lists all entities.
    let areListed: Bool

    /// nil where nothing tells of entities.
    init?(_ schema: SalvagedSchema, _ file: SalvageFile) {
        guard let found = SalvagedEntities(schema, file) else { return nil }
        (self.schema, self.file, roots, parents) = (schema, file, found.roots, found.parents)
        areListed = found.areListed
        // An entity that was renamed has its old name there, which may sort elsewhere than its number says.
        let isInOrder = Self.model(found.names, parents).entitiesInStoreOrder() == found.names
        names = isInOrder ? found.names : found.names.enumerated().map { Self.prefix($0 + 1) + $1 }
    }

    private static func prefix(_ number: Int) -> String { "Z\(100_000 + number)_" }

    private static func model(_ names: [String], _ parents: [Int]) -> ManagedObjectModel {
        ManagedObjectModel(
            entities: zip(names, parents).map { name, parent in
                var made = Entity(name: name)
                if parent > 0 { made.parent = names[parent - 1] }
                return made
            })
    }

    /// - Throws: where SQLite can't have a name that the schema says.
    func layout(path: String) throws(EngineError) -> SalvageLayout {
        var model = Self.model(names, parents)
        var tables: [(layout: EntityTable, stored: StoreSchema.Table)] = []
        let stored = tablesByRoot
        let house: [ColumnRole] = [.primaryKey, .entityNumber, .optimisticLock]
        for root in Set(roots).sorted() {
            let name = names[root - 1]
            let stored = stored[root] ?? Self.unknownTable(of: name)
            let columns = stored.columns.enumerated().map { place, column in
                Column(
                    name: column.name, declaredType: column.declaredType,
                    role: place < 3 ? house[place] : .attribute(entity: name, path: column.name))
            }
            model.entities[name]?.attributes = columns.dropFirst(3).map { column in
                var attribute = Attribute(name: column.name, type: Self.type(column.declaredType))
                attribute.isOptional = true
                return attribute
            }
            tables.append(
                (EntityTable(name: stored.name, rootEntity: name, columns: columns, constraints: []), stored))
        }
        let joins = schema.tables.values.compactMap { table in self.join(table).map { ($0, table) } }
            .sorted { $0.0.name < $1.0.name }
        let layout = StoreLayout(
            model: model, frameworkVersion: SalvageLayout.frameworkVersion, entities: names,
            tables: tables.map(\.layout), joinTables: joins.map(\.0), undecidable: [])
        return SalvageLayout(
            map: try EngineError.reading(path) { try StorageMap(layout) },
            tables: tables.map { SalvagedTable($0, $1, numbers: layout.numbers(ofTree: $0.rootEntity)) },
            links: joins.map { SalvagedTable($0, $1) })
    }

    /// A table that the schema doesn't tell: without its columns no row of it can be read.
    private static func unknownTable(of entity: String) -> StoreSchema.Table {
        let house = ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"]
        return StoreSchema.Table(
            name: "Z" + entity.uppercased(), rootPage: 0, columns: house.map { StoreSchema.Column($0) },
            isWithoutRowID: false)
    }

    /// What a column's declared type says of its values.
    private static func type(_ declared: String) -> AttributeType {
        switch declared.uppercased() {
        case "INTEGER": .integer64
        case "FLOAT": .double
        case "TIMESTAMP": .date
        case "DECIMAL": .decimal
        case "VARCHAR": .string
        default: .binary
        }
    }

    /// By the root entity's name, else by the Z_ENT of a table's rows.
    private var tablesByRoot: [Int: StoreSchema.Table] {
        var result: [Int: StoreSchema.Table] = [:]
        var rest: [StoreSchema.Table] = []
        let byName = Dictionary(
            Set(roots).map { ("z" + entityName($0).lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        for (name, table) in schema.tables.sorted(by: { $0.key < $1.key }) where SalvagedEntities.holdsObjects(table) {
            if let root = byName[name] { result[root] = table } else { rest.append(table) }
        }
        for table in rest {
            guard let number = firstEntity(of: table), result[roots[number - 1]] == nil else { continue }
            result[roots[number - 1]] = table
        }
        return result
    }

    /// The name in Z_PRIMARYKEY.
    private func entityName(_ number: Int) -> String {
        let name = names[number - 1]
        let prefix = Self.prefix(number)
        return name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
    }

    private func firstEntity(of table: StoreSchema.Table) -> Int? {
        var claimed = PageSet(pageCount: file.pageCount)
        for leaf in SalvagedTree(root: Int(clamping: table.rootPage), in: file, claimed: &claimed).leaves {
            for row in file.page(leaf).map({ file.rows(of: $0) }) ?? [] {
                if let cells = row.cells, cells.count > 1, case .integer(let number) = cells[1], number >= 1,
                    number <= names.count
                {
                    return Int(number)
                }
            }
        }
        return nil
    }

    /// `Z_1TAGS (Z_1TAGS, Z_2POSTS, Z_FOK_2POSTS)`: keys of entities 1 and 2.
    private func join(_ table: StoreSchema.Table) -> JoinTable? {
        let columns = table.columns.map(\.name)
        let keys = columns.filter { !$0.uppercased().hasPrefix("Z_FOK_") }
        guard table.name.uppercased().hasPrefix("Z_"), keys.count == 2, let owner = end(keys[0]) else { return nil }
        let inverse = end(keys[1]) ?? owner
        func place(of key: String) -> String? {
            columns.first { $0.uppercased() == "Z_FOK_" + key.uppercased().dropFirst(2) }
        }
        return JoinTable(
            seen: table,
            owner: (names[owner.number - 1], owner.name, keys[0], place(of: keys[0])),
            inverse: (names[inverse.number - 1], inverse.name, keys[1], place(of: keys[1])))
    }

    private func end(_ column: String) -> (number: Int, name: String)? {
        guard column.uppercased().hasPrefix("Z_") else { return nil }
        let digits = column.dropFirst(2).prefix { $0.isASCII && $0.isNumber }
        guard let number = Int(digits), names.indices.contains(number - 1) else { return nil }
        return (number, String(column.dropFirst(2 + digits.count)))
    }
}
