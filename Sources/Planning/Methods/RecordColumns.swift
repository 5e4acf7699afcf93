import CausewayStoreFormat

/// The columns of a store's tables in the order of their records.
struct RecordColumns {
    let layout: StoreLayout
    /// What is known of tables that aren't the layout's, and of a real store's own order.
    let schema: StoreSchema?

    /// nil where they aren't known.
    func columns(of table: String) -> [StoreSchema.Column]? {
        if let known = schema?.table(table) { return known.columns }
        if let join = layout.joinTables.first(where: { $0.name == table }) {
            return join.columns.map { StoreSchema.Column("\($0) INTEGER") }
        }
        return layout.table(named: table)?.columns.map {
            StoreSchema.Column("\($0.name) \($0.declaredType)")
        }
    }
}
