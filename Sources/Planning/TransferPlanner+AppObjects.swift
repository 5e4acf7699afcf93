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
        _ appObjects: [StoreSchema.Object], schema: StoreSchema?, layout: StoreLayout
    ) throws(PlanError) -> CarriedObjects {
        var result = CarriedObjects()
        guard let schema else { return result }
        let virtual = appObjects.filter(\.isVirtualTable).map { $0.name.lowercased() }
        var tables = Set(layout.tables.map { $0.name.lowercased() } + layout.joinTables.map { $0.name.lowercased() })
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
                let columns = table.columns.filter { !$0.isGenerated }.map(\.name)
                result.passes.append(try copyPass(table, columns: columns, kind: .appTable))
                result.objects.append(object)
                tables.insert(name)
            } else if object.kind != .view, !tables.contains(object.table.lowercased()) {
                result.losses.append("\(what) is not carried: its table \(object.table) is gone")
            } else if object.sql != nil {
                result.objects.append(object)
            }
        }
        return result
    }
}
