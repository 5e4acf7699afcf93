import CausewaySQLite

/// Tables with their rows.
extension AppObjectCarrier {
    mutating func carryTable(_ object: StoreSchema.Object) throws(StoreFormatError) {
        guard !object.isVirtualTable else {
            return lose(object, "it is a virtual table, which only the app can fill again")
        }
        guard let table = schema.table(object.name) else { return lose(object, "its columns can't be read") }
        guard !destination.objects.contains(object.name.lowercased()) else {
            return lose(object, "the new version has a table or index of that name")
        }
        try carry(object) { carrier throws(SQLiteError) in
            let made = try carrier.withNewReferences(object)
            _ = try carrier.destination.scratch.define(made)
            let computed: String?
            do throws(SQLiteError) {
                computed = try carrier.boundlessFunction(of: table)
            } catch {
                try carrier.destination.scratch.drop(.table, object.name)
                throw error
            }
            guard let computed else {
                carrier.keep(made)
                return nil
            }
            try carrier.destination.scratch.drop(.table, object.name)
            return "it computes “\(computed)” for every row"
        }
    }

    /// The table's text, with the new names in its foreign keys.
    private mutating func withNewReferences(_ object: StoreSchema.Object) throws(SQLiteError) -> StoreSchema.Object {
        var scratch = try ScratchSchema(readsDoubleQuotedTexts: true)
        _ = try scratch.define(object)
        // id, seq, table, …
        let keys = try scratch.texts(of: "PRAGMA foreign_key_list(\(try SQLIdentifier(object.name)))", at: 2)
        let named = Set(keys.map { $0.lowercased() })
        let renaming = ObjectRenaming(renames: renames, tables: tableTexts, views: [:])
        var made = object
        switch try renaming.text(of: object, naming: named) {
        case .text(let text):
            made = object.renamed(to: text, on: object.name)
            guard let gone = named.sorted().first(where: renames.gone.contains) else { break }
            warn("table \(object.name) of the app's own has a foreign key to \(gone), which is gone")
        case .gone(let what):
            let columns = what.joined(separator: ", ")
            warn("table \(object.name) of the app's own has a foreign key to columns that are gone: \(columns)")
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
        if let function = try destination.scratch.connection.compiledFunctions(of: insert).boundless { return function }
        var check = try destination.scratch.connection.compiledFunctions(of: "PRAGMA integrity_check(\(name))")
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
