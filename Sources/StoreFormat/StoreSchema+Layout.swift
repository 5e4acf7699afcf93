extension StoreSchema.Table {
    /// The table of an entity as `SchemaWriter` makes it, in a store that isn't there.
    package init(_ table: EntityTable) {
        self.init(
            name: table.name, rootPage: 0,
            columns: table.columns.map { StoreSchema.Column("\($0.name) \($0.declaredType)") }, isWithoutRowID: false)
    }
}
