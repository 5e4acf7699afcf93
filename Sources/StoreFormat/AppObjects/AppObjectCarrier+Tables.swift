import CausewaySQLite

/// Tables with their rows, and indexes.
extension AppObjectCarrier {
    mutating func carryTable(_ object: StoreSchema.Object) throws(StoreFormatError) {
        guard !object.isVirtualTable else {
            lose(object, "it is a virtual table, which only the app can fill again")
            return
        }
        guard let table = schema.table(object.name) else {
            lose(object, "its columns can't be read")
            return
        }
        guard !destination.objects.contains(object.name.lowercased()) else {
            lose(object, "the new version has a table or index of that name")
            return
        }
        var made = object
        var computed: String?
        let refusal = try attempt(object) { carrier throws(SQLiteError) in
            made = try carrier.withNewReferences(object)
            _ = try carrier.destination.scratch.define(made)
            do throws(SQLiteError) {
                computed = try carrier.boundlessFunction(of: table)
            } catch {
                try carrier.destination.scratch.drop(.table, object.name)
                throw error
            }
            if computed != nil { try carrier.destination.scratch.drop(.table, object.name) }
        }
        if let refusal {
            lose(object, reason(refusal))
        } else if let computed {
            lose(object, "it computes “\(computed)” for every row")
        } else {
            keep(made)
        }
    }

    /// The table's text, with the new names in its foreign keys.
    private mutating func withNewReferences(_ object: StoreSchema.Object) throws(SQLiteError) -> StoreSchema.Object {
        var scratch = try ScratchSchema(readsDoubleQuotedTexts: true)
        _ = try scratch.define(object)
        let named = try scratch.referencedTables(of: object.name)
        let renaming = ObjectRenaming(renames: renames, tables: tableTexts, views: [:])
        var made = object
        switch try renaming.text(of: object, naming: named) {
        case .text(let text):
            made = object.renamed(to: text, on: object.name)
            guard let gone = named.sorted().first(where: renames.gone.contains) else { break }
            warn("table \(object.name) of the app's own has a foreign key to \(gone), which is gone")
        case .gone(let what):
            warn(
                "table \(object.name) of the app's own has a foreign key to columns that are gone: "
                    + "\(what.joined(separator: ", "))"
            )
        }
        return made
    }

    /// The functions that writing and checking a row calls: in generated columns. CHECK constraints aren't evaluated
    /// (`Hardening`).
    private func boundlessFunction(of table: StoreSchema.Table) throws(SQLiteError) -> String? {
        let name = try SQLIdentifier(table.name).quoted
        let columns = try destination.scratch.columns(of: table.name).map { (column: String) throws(SQLiteError) in
            try SQLIdentifier(column).quoted
        }
        let values = columns.map { _ in "NULL" }.joined(separator: ", ")
        let insert = "INSERT INTO \(name) (\(columns.joined(separator: ", "))) VALUES (\(values))"
        if let function = try destination.scratch.functions(of: insert).boundless { return function }
        var check = try destination.scratch.functions(of: "PRAGMA integrity_check(\(name))")
        // The pragma concatenates its own messages.
        check.concatenations = 0
        return check.boundless
    }

    mutating func carryIndex(_ object: StoreSchema.Object) throws(StoreFormatError) {
        if let missing = missing[object.table.lowercased()] {
            lose(object, "it is on \(missing)")
            return
        }
        guard !destination.objects.contains(object.name.lowercased()) else {
            lose(object, "the new version has a table or index of that name")
            return
        }
        var loss: String?
        let refusal = try attempt(object) { carrier throws(SQLiteError) in
            loss = try carrier.makeIndex(object)
        }
        settle(object, refusal, loss)
    }

    /// - Returns: why it isn't carried.
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
        let keys = try destination.scratch.keyColumns(ofIndex: made.name).map { $0.lowercased() }
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

extension StoreSchema.Object {
    func renamed(to text: String, on table: String) -> StoreSchema.Object {
        StoreSchema.Object(kind: kind, name: name, table: table, rootPage: rootPage, sql: text)
    }
}
