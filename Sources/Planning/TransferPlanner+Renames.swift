import CausewayMapping
import CausewayModel
import CausewaySQLite
import CausewayStoreFormat

extension TransferPlanner {
    /// The new names of the source's tables and columns, for the app's own objects that name them.
    /// The passes tell where each column goes; `schema`, the source's, has columns that the model doesn't know.
    /// `computes`: mapping models compute attributes, so that one that keeps its name counts as the same column.
    func renames(_ passes: [RowPass], schema: StoreSchema?, computes: Bool = false) -> SchemaRenames {
        var tables: [SchemaRenames.Table] = []
        var gone: Set<String> = []
        let bySource = Dictionary(grouping: passes, by: \.sourceTable)
        let joins = Dictionary(destination.joinTables.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        func add(
            _ name: String, _ columns: [String], to new: (name: String, columns: [String])?, _ numbers: Set<String>
        ) {
            guard let new else {
                gone.insert(name.lowercased())
                return
            }
            let names = schema?.table(name)?.columns.map(\.name) ?? columns
            let carried = Self.carriedColumns(
                (bySource[name] ?? []).filter { $0.destinationTable == new.name })
            tables.append(
                SchemaRenames.Table(
                    name: name, newName: new.name,
                    columns: Self.columns(names, carried, in: new.columns, computes: computes), renumbered: numbers))
        }
        for table in source.layout.tables {
            add(
                table.name, table.columns.map(\.name),
                to: successor(of: table).map { ($0.name, $0.columns.map(\.name)) }, renumbered(in: table))
        }
        for join in source.layout.joinTables {
            let name = bySource[join.name]?.first { $0.kind == .links }?.destinationTable
            let new = name.flatMap { joins[$0] }
            add(join.name, join.columns, to: new.map { ($0.name, $0.columns) }, [])
        }
        if let changes = schema?.table(HistoryLayout.Entity.change.table), hasRenumbered(numbers.keys) {
            tables.append(
                SchemaRenames.Table(
                    name: changes.name, newName: changes.name, columns: changes.columns.map { ($0.name, $0.name) },
                    renumbered: ["zentity"]))
        }
        if let schema, hasRenumbered(numbers.keys) { tables += mirrored(in: schema) }
        return SchemaRenames(tables: tables, gone: gone)
    }

    /// The tables of CloudKit mirroring with entities' numbers.
    private func mirrored(in schema: StoreSchema) -> [SchemaRenames.Table] {
        CloudKitTables.names(in: schema).sorted().compactMap { schema.table($0) }.compactMap { table in
            let numbered = CloudKitTable(table).entityColumns
            guard !numbered.isEmpty else { return nil }
            return SchemaRenames.Table(
                name: table.name, newName: table.name, columns: table.columns.map { ($0.name, $0.name) },
                renumbered: Set(numbered.map { $0.lowercased() }))
        }
    }

    /// The destination table that succeeds an entity table: its root's, else that of the first carried entity.
    private func successor(of table: EntityTable) -> EntityTable? {
        for entity in source.layout.entities(in: table) {
            if let to = mapping.mapping(from: entity)?.destination { return destination.table(of: to) }
        }
        return nil
    }

    /// New columns by old ones, as the passes carry them; if entities of one table differ, the column that keeps its
    /// name.
    private static func carriedColumns(_ passes: [RowPass]) -> [String: String] {
        var result: [String: String] = [:]
        for pass in passes {
            // Most entities of a table have the same cell in a column.
            var last: [Int?] = Array(repeating: nil, count: pass.destinationColumns.count)
            for (_, projection) in pass.projections.sorted(by: { $0.key < $1.key }) {
                for (place, recipe) in projection.cells.enumerated() {
                    guard let index = recipe.carriedCell, last[place] != index else { continue }
                    last[place] = index
                    let column = pass.destinationColumns[place]
                    guard case .column(let old) = pass.shape.cells[index] else { continue }
                    if result[old.name] == nil || old.name == column { result[old.name] = column }
                }
            }
        }
        return result
    }

    private static func columns(
        _ names: [String], _ carried: [String: String], in new: [String], computes: Bool
    ) -> [(name: String, newName: String?)] {
        let taken = Set(carried.filter { names.contains($0.key) }.values.map { $0.lowercased() })
        let free = Dictionary(
            new.filter { !taken.contains($0.lowercased()) }.map { ($0.lowercased(), $0) }, uniquingKeysWith: { $1 })
        let house: Set<String> = ["z_pk", "z_ent", "z_opt"]
        return names.map { name in
            let isSame = computes || house.contains(name.lowercased())
            return (name, carried[name] ?? (isSame ? free[name.lowercased()] : nil))
        }
    }

    /// Columns of the table that hold entities' numbers which change, in lower case.
    private func renumbered(in table: EntityTable) -> Set<String> {
        let all = source.layout.entityNumbers.values
        let own = source.layout.numbers(ofTree: table.rootEntity).map(Array.init) ?? []
        let columns = table.columns.filter { column in
            switch column.role {
            case .entityNumber: hasRenumbered(own)
            case .toOneEntity: hasRenumbered(all)
            default: false
            }
        }
        return Set(columns.map { $0.name.lowercased() })
    }

    private func hasRenumbered(_ entities: some Sequence<Int>) -> Bool {
        entities.contains { numbers[$0] != $0 }
    }
}

extension CellRecipe {
    /// The cell of the shape from which the cell comes, converted or not.
    fileprivate var carriedCell: Int? {
        switch self {
        case .carry(let cell), .carryOr(let cell, _), .converted(let cell, _, _), .key(let cell, _, _),
            .entityNumber(let cell, _), .inlined(let cell, _), .prefixed(let cell, _), .historyBitmap(let cell, _):
            cell
        case .first(let recipe, _): recipe.carriedCell
        case .literal, .literalIfPresent: nil
        }
    }
}
