import CausewaySQLite

/// Tables with their rows.
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
}

extension StoreSchema.Object {
    func renamed(to text: String, on table: String) -> StoreSchema.Object {
        StoreSchema.Object(kind: kind, name: name, table: table, rootPage: rootPage, sql: text)
    }
}
