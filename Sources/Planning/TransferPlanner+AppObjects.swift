import CausewaySQLite
import CausewayStoreFormat

extension TransferPlanner {
    /// Objects that aren't Core Data's, and what becomes of them.
    struct CarriedObjects {
        var passes: [RowPass] = []
        /// To create after the rows are in; tables among them before.
        var objects: [StoreSchema.Object] = []
        var losses: [String] = []
    }

    /// Carries the app's own tables with their rows, and indexes, triggers and views whose table is still there.
    ///
    /// Virtual tables and the tables behind them can't be carried: only the app knows how to fill them again.
    func appPasses(
        _ appObjects: [StoreSchema.Object], schema: StoreSchema?, passes: [RowPass]
    ) throws(PlanError) -> CarriedObjects {
        var result = CarriedObjects()
        guard let schema else { return result }
        let names = TableNames(
            passes: passes, source: source.layout, keepsNumbers: numbers.allSatisfy { $0.key == $0.value })
        let virtual = appObjects.filter(\.isVirtualTable).map { $0.name.lowercased() }
        var ownTables: Set<String> = []
        let ordered = appObjects.filter { $0.kind == .table } + appObjects.filter { $0.kind != .table }
        for object in ordered {
            let what = "\(object.kind.rawValue) \(object.name) of the app's own"
            let name = object.name.lowercased()
            if object.isVirtualTable {
                result.losses.append("\(what) (virtual) is not carried: the app must make it again")
            } else if virtual.contains(where: { name.hasPrefix($0 + "_") }) {
                continue
            } else if object.kind == .table {
                guard let table = schema.table(object.name), object.sql != nil, !table.isWithoutRowID else {
                    result.losses.append("\(what) is not carried: it can't be read as an ordinary table")
                    continue
                }
                if let function = AppMadeSQL.unboundedFunction(in: object.sql ?? "") {
                    result.losses.append("\(what) is not carried: it computes “\(function)” for every row")
                    continue
                }
                let columns = table.columns.filter { !$0.isGenerated }.map(\.name)
                result.passes.append(try copyPass(table, columns: columns, kind: .appTable))
                result.objects.append(object)
                ownTables.insert(name)
            } else if let sql = object.sql {
                if object.kind == .index, let function = AppMadeSQL.unboundedFunction(in: sql) {
                    result.losses.append("\(what) is not carried: it computes “\(function)” for every row")
                    continue
                }
                let onOwnTable = ownTables.contains(object.table.lowercased())
                let translated =
                    object.kind == .index
                    ? (onOwnTable ? sql : names.translate(sql, on: object.table)) : names.translate(sql)
                guard let translated else {
                    result.losses.append(
                        "\(what) is not carried: it names a table or column that is gone, or an entity's number")
                    continue
                }
                result.objects.append(
                    .init(
                        kind: object.kind, name: object.name, table: names.table(object.table), rootPage: 0,
                        sql: translated))
            }
        }
        return result
    }
}

/// What the source's tables and columns are called in the destination, as the passes carry them.
private struct TableNames {
    private var tables: [String: String] = [:]
    private var columns: [String: RenamedSQL] = [:]
    private var everywhere = RenamedSQL()

    /// `keepsNumbers`: no entity has another Z_ENT; else a statement that speaks of Z_ENT can't be translated.
    init(passes: [RowPass], source: StoreLayout, keepsNumbers: Bool) {
        var carried: [String: [String: String]] = [:]
        for pass in passes where pass.kind == .entity || pass.kind == .links {
            let old = pass.sourceTable
            // A table whose rows go to several has no one new name; the first is where the root's rows go.
            if tables[old.lowercased()] == nil { tables[old.lowercased()] = pass.destinationTable }
            for projection in pass.projections.values {
                for (column, recipe) in zip(pass.destinationColumns, projection.cells) {
                    guard let index = recipe.carriedCell, case .column(let name) = pass.select.cells[index] else {
                        continue
                    }
                    carried[old, default: [:]][name.name] = column
                }
            }
        }
        let all =
            source.tables.map { ($0.name, $0.columns.map(\.name)) }
            + source.joinTables.map { join in
                (
                    join.name,
                    [join.ownerColumn, join.destinationColumn]
                        + [join.ownerOrderColumn, join.destinationOrderColumn].compactMap { $0 }
                )
            }
        for (table, names) in all {
            var renamed = RenamedSQL()
            renamed.add(table, as: tables[table.lowercased()])
            everywhere.add(table, as: tables[table.lowercased()])
            for name in names {
                let new: String? =
                    switch name {
                    case "Z_PK", "Z_OPT": name
                    case "Z_ENT": keepsNumbers ? name : nil
                    default: carried[table]?[name]
                    }
                renamed.add(name, as: new)
                everywhere.add(name, as: new)
            }
            columns[table.lowercased()] = renamed
        }
    }

    func table(_ name: String) -> String { tables[name.lowercased()] ?? name }

    /// A statement about one table.
    func translate(_ sql: String, on table: String) -> String? {
        columns[table.lowercased()]?.translate(sql)
    }

    /// A statement that may speak of any table.
    func translate(_ sql: String) -> String? { everywhere.translate(sql) }
}

extension CellRecipe {
    /// The result column that the cell comes from, whatever is done to it.
    fileprivate var carriedCell: Int? {
        switch self {
        case .carry(let cell), .carryOr(let cell, _), .converted(let cell, _, _), .key(let cell, _, _),
            .entityNumber(let cell, _), .inlined(let cell),
            .prefixed(let cell), .historyBitmap(let cell, _):
            cell
        case .first(let recipe, _): recipe.carriedCell
        case .literal, .literalIfPresent: nil
        }
    }
}
