import CausewaySQLite

/// Finds out whether a text compares a column's entity numbers: `WHEN NEW.Z_ENT = 5` means another entity when they are
/// renumbered; a text that only reads the column keeps its meaning.
///
/// The columns get a collating sequence of their own. The program that SQLite compiles from a statement names it where
/// it compares their values. Operators and functions don't pass on a column's sequence, but they all pass on one that
/// follows a name in the text: so each name of such a column gets it in turn.
struct EntityNumberProbe {
    /// At most 18 bytes: SQLite shows no more.
    static let collation = "causeway_number"

    let renames: SchemaRenames
    let schema: StoreSchema
    let views: [String: StandInView]

    /// Compiles the object's text by `firing`, statements that reach it, and reads the program: whether it compares a
    /// number that changes. `used` are the tables and views that the text names, in lower case.
    func compares(
        _ object: StoreSchema.Object, naming used: Set<String>, firing: [String]
    ) throws(SQLiteError) -> Bool {
        guard let sql = object.sql else { return false }
        let numbers = Set(used.flatMap { renames.tables[$0]?.renumbered ?? [] })
        guard !numbers.isEmpty else { return false }
        var scratch = try ScratchSchema(readsDoubleQuotedTexts: true)
        try scratch.connection.registerStandInCollation(Self.collation)
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
        if scratch.compares(firing, about: sql) { return true }
        let text = Array(sql.utf8)
        let places = Self.places(of: numbers, in: text)
        // A text that was made to take forever counts as one that compares.
        guard places.count <= Self.maximumPlaces else { return true }
        try scratch.drop(object.kind, object.name)
        for place in places {
            let words = [text[..<place], Self.mark[...], text[place...]].joined()
            let marked = object.renamed(to: String(decoding: Array(words), as: UTF8.self), on: object.table)
            // SQLite refuses it where no expression is allowed, as in the column list of an INSERT.
            guard (try? scratch.define(marked)) != nil else { continue }
            if scratch.compares(firing, about: sql) { return true }
            try scratch.drop(object.kind, object.name)
        }
        return false
    }

    /// Photos' triggers have a dozen at most.
    private static let maximumPlaces = 200
    private static let mark = Array(" COLLATE \(collation) ".utf8)

    /// Where names end, quotes included. SQLite knows which of them are columns.
    private static func places(of names: Set<String>, in text: [UInt8]) -> [Int] {
        var places: [Int] = []
        var start = 0
        while start < text.count {
            let end = text[start...].firstIndex { !isOfName($0) } ?? text.count
            if end > start, names.contains(String(decoding: text[start..<end], as: UTF8.self).lowercased()) {
                let isQuoted = end < text.count && closingQuotes.contains(text[end])
                places.append(isQuoted ? end + 1 : end)
            }
            start = end + 1
        }
        return places
    }

    private static let closingQuotes = Array("\"]`".utf8)

    private static func isOfName(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte >= 0x80 || "_$".utf8.contains(byte)
    }

    private func standIn(
        _ table: String, _ names: [String], _ numbers: Set<String>
    ) throws(SQLiteError) -> String {
        let columns = try names.map { name throws(SQLiteError) in
            let quoted = try SQLIdentifier(name).quoted
            return numbers.contains(name.lowercased()) ? "\(quoted) COLLATE \(Self.collation)" : quoted
        }
        return "CREATE TABLE \(try SQLIdentifier(table)) (\(columns.joined(separator: ", ")))"
    }
}

extension ScratchSchema {
    /// Whether one of the statements compares by the sequence. One that doesn't compile here was compiled before, or
    /// isn't a statement for this view.
    fileprivate mutating func compares(_ statements: [String], about text: String) -> Bool {
        statements.contains { (try? compares($0, by: EntityNumberProbe.collation, about: text)) ?? false }
    }
}
