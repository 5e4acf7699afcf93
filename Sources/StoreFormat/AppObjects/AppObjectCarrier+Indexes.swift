import CausewaySQLite

/// The app's own indexes, under the names that their tables and columns have now.
extension AppObjectCarrier {
    mutating func carryIndex(_ object: StoreSchema.Object) throws(StoreFormatError) {
        if let missing = missing[object.table.lowercased()] { return lose(object, "it is on \(missing)") }
        guard !destination.objects.contains(object.name.lowercased()) else {
            return lose(object, "the new version has a table or index of that name")
        }
        try carry(object) { carrier throws(SQLiteError) in try carrier.makeIndex(object) }
    }

    /// Returns why it isn't carried.
    private mutating func makeIndex(_ object: StoreSchema.Object) throws(SQLiteError) -> String? {
        if let function = boundless[object.name.lowercased()] { return "it computes “\(function)” for every row" }
        let renaming = ObjectRenaming(renames: renames, tables: tableTexts, views: [:])
        let made: StoreSchema.Object
        switch try renaming.text(of: object, naming: [object.table.lowercased()]) {
        case .gone(let what): return "it names what is gone: \(what.joined(separator: ", "))"
        case .text(let text): made = object.renamed(to: text, on: renames.newName(of: object.table))
        }
        let use = try destination.scratch.define(made)
        try warnOfNumbers(made, source: object, use)
        keep(made)
        return nil
    }

    /// If an index reads an entity number outside its key columns, its condition or an expression compares it.
    private mutating func warnOfNumbers(
        _ made: StoreSchema.Object, source: StoreSchema.Object, _ use: StatementUse
    ) throws(SQLiteError) {
        guard let table = renames.tables[source.table.lowercased()] else { return }
        // seqno, cid, name; the name of an expression is NULL
        let index = "PRAGMA index_info(\(try SQLIdentifier(made.name)))"
        let keys = try destination.scratch.texts(of: index, at: 2).map { $0.lowercased() }
        let reads = use.reads[made.table.lowercased()] ?? [:]
        for (column, newName) in table.columns {
            guard table.renumbered.contains(column.lowercased()), let new = newName?.lowercased() else { continue }
            if (reads[new] ?? 0) > keys.count(where: { $0 == new }) { warnOfNumbers(made) }
        }
    }

    mutating func warnOfNumbers(_ object: StoreSchema.Object) {
        warn(
            """
            \(object.kind.rawValue) \(object.name) of the app's own compares entities' numbers (Z_ENT), which are others in \
            this version; it is carried as it is, as Core Data does: check it
            """)
    }
}
