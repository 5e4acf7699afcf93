extension StoreLayout {
    /// The same layout with the columns of some tables in another order: Core Data reads columns by name, and appends
    /// new ones to a table that it keeps (InsideCoreDataMigration §7.5).
    ///
    /// - Parameter order: all columns of a table in their new order, by the table's name.
    /// - Returns: the layout with these orders.
    package func ordered(_ order: [String: [String]]) -> StoreLayout {
        StoreLayout(
            model: model, frameworkVersion: frameworkVersion, entities: entities,
            tables: tables.map { table in order[table.name].map { table.ordered($0) } ?? table },
            joinTables: joinTables, undecidable: undecidable, newOrderKeys: newOrderKeys)
    }
}

extension EntityTable {
    fileprivate func ordered(_ names: [String]) -> EntityTable {
        let places = Dictionary(zip(names, 0...), uniquingKeysWith: { first, _ in first })
        precondition(columns.allSatisfy { places[$0.name] != nil }, "the order names every column")
        return EntityTable(
            name: name, rootEntity: rootEntity,
            columns: columns.sorted { (places[$0.name] ?? 0) < (places[$1.name] ?? 0) }, constraints: constraints)
    }
}
