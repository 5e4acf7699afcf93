extension LayoutHints {
    /// Reads from a real store what a model leaves open: join tables' names and key columns, the order of order keys.
    package init(_ schema: StoreSchema) {
        self.init()
        for table in schema.tables.values {
            let name = table.name.uppercased()
            if name.hasPrefix("Z_"), name.dropFirst(2).first?.isNumber == true {
                let keys = table.columns.prefix(2).map { $0.name.uppercased() }
                if keys.count == 2 { joinTables[name] = keys }
            } else {
                let orderKeys = table.columns.map { $0.name.uppercased() }.filter { $0.hasPrefix("Z_FOK_") }
                if !orderKeys.isEmpty { orderColumns[name] = orderKeys }
            }
        }
    }
}
