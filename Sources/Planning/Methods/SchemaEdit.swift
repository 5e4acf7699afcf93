package import CausewayStoreFormat

/// What becomes of the source's schema in a copy of it: trees that stay get the new store's texts, all other objects
/// go.
package struct SchemaEdit: Hashable, Sendable {
    /// A table or index that stays.
    package struct Kept: Hashable, Sendable {
        package var kind: StoreSchema.Object.Kind
        /// In the source.
        package var name: String
        package var newName: String
        package var newTable: String
        /// nil for the index of a constraint.
        package var sql: String?
    }

    package var kept: [Kept]
    /// In the order in which they can be dropped.
    package var dropped: [StoreSchema.Object]
    /// Virtual tables: their own tables are dropped as any others.
    package var forgotten: [StoreSchema.Object]
}

extension StepPlan {
    /// How a copy of the source gets the new store's schema; objects that are made anew aren't part of it.
    package func schemaEdit(of schema: StoreSchema) -> SchemaEdit {
        let (texts, indexTexts) = (tableTexts, indexTexts)
        var kept = passes.compactMap { pass -> SchemaEdit.Kept? in
            let table = pass.destinationTable
            guard methods.kept[table] != nil else { return nil }
            return SchemaEdit.Kept(
                kind: .table, name: pass.sourceTable, newName: table, newTable: table, sql: texts[table])
        }
        for index in indexes {
            guard let own = methods.keptIndexes[index.name] else { continue }
            kept.append(
                SchemaEdit.Kept(
                    kind: .index, name: own.source, newName: index.name, newTable: index.table,
                    sql: index.origin == .constraint ? nil : indexTexts[index.name]))
        }
        let tables = Set(kept.filter { $0.kind == .table }.map { $0.name.lowercased() })
        let indexes = Set(kept.filter { $0.kind == .index }.map { $0.name.lowercased() })
        let gone = schema.objects.filter { object in
            switch object.kind {
            case .table: !tables.contains(object.name.lowercased())
            case .index: !indexes.contains(object.name.lowercased())
            case .trigger, .view: true
            }
        }
        // With a table go its indexes; what could fire or be read while tables go, goes first.
        let order: [StoreSchema.Object.Kind] = [.trigger, .view, .index, .table]
        let dropped = order.flatMap { kind in
            gone.filter { object in
                switch kind {
                case .trigger, .view: object.kind == kind
                case .index: object.kind == .index && object.sql != nil && tables.contains(object.table.lowercased())
                case .table: object.kind == .table && !object.isVirtualTable
                }
            }
        }
        return SchemaEdit(kept: kept, dropped: dropped, forgotten: gone.filter(\.isVirtualTable))
    }

    /// The texts of the new store's tables, by name.
    private var tableTexts: [String: String] {
        let own =
            statements.tableStatements + statements.houseStatements + (hasHistory ? statements.historyStatements : [])
        let others = appObjects.filter { $0.kind == .table }.compactMap { object in
            object.sql.map { (object.name, $0) }
        }
        return Dictionary(own.map { ($0.name, $0.sql) } + others, uniquingKeysWith: { first, _ in first })
    }

    /// Whether the new store begins with a table's rows in it.
    package func keeps(table name: String) -> Bool { methods.kept[name] != nil }

    /// The passes that nothing moves: their tables stay.
    package var keptPasses: [RowPass] { passes.filter { keeps(table: $0.destinationTable) } }
}

extension StepMethods {
    /// The integers of a kept table or index that change; none where its pages stay as they are.
    package func renumberings(of kept: SchemaEdit.Kept) -> [KeptTable.Renumbering] {
        switch kept.kind {
        case .table: self.kept[kept.newName]?.renumberings ?? []
        case .index: keptIndexes[kept.newName]?.renumberings ?? []
        case .trigger, .view: []
        }
    }
}
