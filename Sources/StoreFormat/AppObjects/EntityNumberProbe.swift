import CausewaySQLite

/// Finds out whether a text compares the entities' numbers that a column holds: `WHEN NEW.Z_ENT = 5` means another entity
/// when they are renumbered; who only reads the column means what it always meant.
///
/// The columns get a collating sequence of their own. The program that SQLite makes of a statement names it where it
/// compares their values.
struct EntityNumberProbe {
    /// At most 18 bytes: SQLite shows no more.
    static let collation = "causeway_number"

    let renames: SchemaRenames
    let schema: StoreSchema
    let views: [String: StandInView]

    /// Compiles the text and reads the program.
    ///
    /// - Parameters:
    ///   - object: whose text it is.
    ///   - used: tables and views that the text names, in lower case.
    ///   - firing: statements that compile the text.
    /// - Returns: whether it compares a number that changes.
    /// - Throws: `SQLiteError` where the tables can't be made.
    func compares(
        _ object: StoreSchema.Object, naming used: Set<String>, firing: [String]
    ) throws(SQLiteError) -> Bool {
        guard let sql = object.sql else { return false }
        var numbers: Set<String> = []
        for name in used { numbers.formUnion(renames.tables[name]?.renumbered ?? []) }
        guard !numbers.isEmpty else { return false }
        var scratch = try ScratchSchema(readsDoubleQuotedTexts: true)
        try scratch.registerStandInCollation(Self.collation)
        for name in used.sorted() where name != object.name.lowercased() {
            if let view = views[name] {
                try scratch.run(try StandInView(name, columns: view.columns, comparing: numbers).sql)
            } else if let table = renames.tables[name] {
                try scratch.run(try standIn(table.name, table.columns.map(\.name), table.renumbered))
            } else if let table = schema.table(name) {
                try scratch.run(try standIn(table.name, table.columns.map(\.name), []))
            }
        }
        _ = try scratch.define(object)
        for statement in firing {
            // What doesn't compile here has been compiled before, or is no statement for this view.
            if (try? scratch.compares(statement, by: Self.collation, about: sql)) ?? false { return true }
        }
        return false
    }

    private func standIn(
        _ table: String, _ names: [String], _ numbers: Set<String>
    ) throws(SQLiteError) -> String {
        var columns: [String] = []
        for name in names {
            let quoted = try SQLIdentifier(name).quoted
            columns.append(numbers.contains(name.lowercased()) ? "\(quoted) COLLATE \(Self.collation)" : quoted)
        }
        return "CREATE TABLE \(try SQLIdentifier(table)) (\(columns.joined(separator: ", ")))"
    }
}
