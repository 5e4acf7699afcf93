import CausewaySQLite

/// Lets SQLite rewrite an object's text with the new store's names of tables and columns.
///
/// Everything goes through unused names: tables and columns may swap their names.
struct ObjectRenaming {
    let renames: SchemaRenames
    /// The source's tables by lower-cased name, as their own texts make them.
    let tables: [String: StoreSchema.Object]
    /// Columns of views by lower-cased name.
    let views: [String: StandInView]

    /// The text in the new store, or the dropped parts that it names.
    enum Outcome {
        case text(String)
        case gone([String])
    }

    /// Makes an object of the source among the tables that it names, and renames these. `used` are the lower-cased
    /// names of the tables and views that its text names. Throws where SQLite can't rename it.
    func text(of object: StoreSchema.Object, naming used: Set<String>) throws(SQLiteError) -> Outcome {
        guard let sql = object.sql else { return .text("") }
        let changed = used.sorted().compactMap { renames.tables[$0] }.filter(\.isChanged)
        guard !changed.isEmpty else { return .text(sql) }
        var scratch = try ScratchSchema(readsDoubleQuotedTexts: true)
        for name in used.sorted() where name != object.name.lowercased() {
            if let table = tables[name] {
                _ = try scratch.define(table)
            } else if let view = views[name] {
                try scratch.run(view.sql)
            }
        }
        _ = try scratch.define(object)
        var moves = Moves(about: sql)
        for table in changed {
            let place = try SQLIdentifier(table.name).quoted
            for column in table.affectedColumns(in: sql) {
                let name = try SQLIdentifier(column.name).quoted
                let new = try column.newName.map { (name: String) throws(SQLiteError) in try Self.word(name) }
                moves.add("ALTER TABLE \(place) RENAME COLUMN", name, new, "column \(column.name) of \(table.name)")
            }
        }
        try moves.run(in: &scratch)
        for table in changed where table.name != table.newName {
            let name = try SQLIdentifier(table.name).quoted
            moves.addTable(name, try Self.word(table.newName))
        }
        try moves.run(in: &scratch)
        let text = try scratch.entry("sql", of: object.kind, object.name) ?? sql
        // SQLite 3.40 gives an upsert's row "excluded" the new name of its table, and the update then changes nothing.
        guard sql.lowercased().ranges(of: "excluded").count == text.lowercased().ranges(of: "excluded").count else {
            return .gone(["the row “excluded” of an upsert, which SQLite doesn't rename"])
        }
        let gone = moves.gone.filter { text.hasPart($0.mark) }.map(\.what)
        return gone.isEmpty ? .text(text) : .gone(gone)
    }

    /// The name as SQLite should write it: without unnecessary quotes, as in Core Data's own texts.
    private static func word(_ name: String) throws(SQLiteError) -> String {
        let isPlain = name.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "_") }
        // No word of SQL begins with a Z.
        return isPlain && name.hasPrefix("Z") ? name : try SQLIdentifier(name).quoted
    }
}

/// Statements that rename, in two rounds: away from every old name, then to every new one.
private struct Moves {
    private let sql: String
    private let prefix: String
    private var count = 0
    private var first: [String] = []
    private var second: [String] = []
    /// Parts without a new name, by the mark that the text has for them.
    private(set) var gone: [(mark: String, what: String)] = []

    init(about sql: String) {
        self.sql = sql
        var prefix = "causeway_"
        while sql.lowercased().hasPart(prefix) { prefix += "_" }
        self.prefix = prefix
    }

    private mutating func mark() -> String {
        count += 1
        return "\(prefix)\(count)_"
    }

    mutating func add(_ command: String, _ old: String, _ new: String?, _ what: String) {
        let mark = mark()
        first.append("\(command) \(old) TO \(mark)")
        if let new {
            second.append("\(command) \(mark) TO \(new)")
        } else {
            gone.append((mark, what))
        }
    }

    mutating func addTable(_ old: String, _ new: String) {
        let mark = mark()
        first.append("ALTER TABLE \(old) RENAME TO \(mark)")
        second.append("ALTER TABLE \(mark) RENAME TO \(new)")
    }

    mutating func run(in scratch: inout ScratchSchema) throws(SQLiteError) {
        for statement in first + second { try scratch.run(statement, about: sql) }
        (first, second) = ([], [])
    }
}

extension SchemaRenames.Table {
    /// Changed columns that the text may name, and columns whose names these get.
    fileprivate func affectedColumns(in sql: String) -> [(name: String, newName: String?)] {
        let text = sql.lowercased()
        let changed = columns.filter { $0.name != $0.newName }
        var chosen = changed.map { text.hasPart($0.name.lowercased()) }
        var isComplete = false
        while !isComplete {
            isComplete = true
            let taken = Set(zip(changed, chosen).compactMap { $1 ? $0.newName?.lowercased() : nil })
            for (index, column) in changed.enumerated() where !chosen[index] && taken.contains(column.name.lowercased())
            {
                chosen[index] = true
                isComplete = false
            }
        }
        return zip(changed, chosen).filter(\.1).map(\.0)
    }
}

/// A view with the columns of another one but no content, so that compiling its readers stays cheap.
///
/// Nested views can grow without bound when they are compiled completely.
struct StandInView {
    let sql: String
    let columns: [String]

    init(_ name: String, columns: [String], comparing numbers: Set<String> = []) throws(SQLiteError) {
        var names: [String] = []
        var values: [String] = []
        for column in columns {
            names.append(try SQLIdentifier(column).quoted)
            values.append(
                numbers.contains(column.lowercased()) ? "NULL COLLATE \(EntityNumberProbe.collation)" : "NULL")
        }
        self.columns = columns
        sql = """
            CREATE VIEW \(try SQLIdentifier(name)) (\(names.joined(separator: ", "))) \
            AS SELECT \(values.joined(separator: ", "))
            """
    }
}
