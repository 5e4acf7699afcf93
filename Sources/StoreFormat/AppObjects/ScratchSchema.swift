import CausewaySQLite

/// A schema without rows, in memory: SQLite treats a statement here as it would in a store.
///
/// Texts of an untrusted store define their own object and nothing else; statements are compiled, never run. Functions
/// and collating sequences that only the app registers get stand-ins.
struct ScratchSchema: ~Copyable {
    /// Bytes that SQLite may take to compile one text with common table expressions. Photos' largest trigger takes 0.1 MB.
    private static let compilerMemory: Int64 = 64 << 20
    /// Instructions for one definition; without rows a definition takes some hundred.
    private static let maximumLooks = 100

    private(set) var connection: Connection
    private let looks = Looks()

    /// How often the current statement was interrupted for a check.
    private final class Looks {
        var count = 0
    }

    /// An empty schema; `readsDoubleQuotedTexts` as in Apple's SQLite; it is off in ours.
    init(readsDoubleQuotedTexts: Bool, hardening: Hardening = .own) throws(SQLiteError) {
        var made = try Connection.inMemory(hardening: hardening)
        if readsDoubleQuotedTexts { try made.setDoubleQuotedTexts(true) }
        // Instructions between two checks: no statement here needs so many.
        made.setProgressHandler(everyInstructions: 100_000) { [looks] in
            looks.count += 1
            return looks.count > Self.maximumLooks
        }
        connection = made
    }

    /// Like the initializer, with this layer's error.
    static func empty(readsDoubleQuotedTexts: Bool) throws(StoreFormatError) -> ScratchSchema {
        try StoreFormatError.doing("making a database in memory") { () throws(SQLiteError) in
            try ScratchSchema(readsDoubleQuotedTexts: readsDoubleQuotedTexts)
        }
    }

    mutating func setDoubleQuotedTexts(_ isOn: Bool) throws(SQLiteError) {
        try connection.setDoubleQuotedTexts(isOn)
    }

    /// Runs a statement of our own.
    func run(_ sql: String) throws(SQLiteError) {
        looks.count = 0
        var statement = try connection.prepare(sql)
        try statement.run()
    }

    /// Compiles a statement of our own.
    func compile(_ sql: String) throws(SQLiteError) {
        _ = try connection.prepare(sql)
    }

    /// Makes an object from its text; a table even if it names functions that only the app has.
    ///
    /// - Throws: `SQLiteError` where SQLite refuses it; `.misuse` if the text isn't the single statement that makes the
    ///   object, which SQLite never writes.
    mutating func define(_ object: StoreSchema.Object) throws(SQLiteError) -> StatementUse {
        guard let sql = object.sql else { return StatementUse() }
        looks.count = 0
        var lent: Set<StandIn> = []
        // A table exists without the functions of its CHECK and collations; computing a row needs them again.
        defer { if object.kind == .table { connection.remove(lent) } }
        let use = try repeating(lending: object.kind == .table, &lent) { connection throws(SQLiteError) in
            try connection.recordingUse(of: .definition) { connection throws(SQLiteError) in
                var statement = try connection.prepare(sql)
                try statement.run()
            }
        }
        var found = try connection.prepare("SELECT tbl_name FROM sqlite_schema WHERE type = ?1 AND name = ?2")
        try found.bind(object.kind.rawValue, at: 1)
        try found.bind(object.name, at: 2)
        guard try found.step(), try found.string(at: 0)?.lowercased() == object.table.lowercased() else {
            throw SQLiteError(code: .misuse, message: "its text makes another object")
        }
        return use
    }

    func drop(_ kind: StoreSchema.Object.Kind, _ name: String) throws(SQLiteError) {
        try run("DROP \(kind.rawValue) \(try SQLIdentifier(name))")
    }

    /// Compiles a statement, with stand-ins for the app's functions. `text` is that of the statement's object: it
    /// decides whether memory must be limited.
    mutating func compile(_ sql: String, about text: String) throws(SQLiteError) -> StatementUse {
        try withStandIns(about: text) { connection throws(SQLiteError) in
            try connection.recordingUse(of: .statement) { connection throws(SQLiteError) in
                _ = try connection.prepare(sql)
            }
        }
    }

    /// Runs a statement of our own that reads an object's text.
    mutating func run(_ sql: String, about text: String) throws(SQLiteError) {
        _ = try withStandIns(about: text) { connection throws(SQLiteError) in
            var statement = try connection.prepare(sql)
            try statement.run()
            return StatementUse()
        }
    }

    /// The functions that SQLite calls when the statement runs.
    func functions(of sql: String) throws(SQLiteError) -> CompiledFunctions {
        try connection.compiledFunctions(of: sql)
    }

    /// Columns that can be written, without generated ones.
    func columns(of name: String) throws(SQLiteError) -> [String] {
        var columns: [String] = []
        // cid, name, type, notnull, dflt_value, pk, hidden
        var info = try connection.prepare("PRAGMA table_xinfo(\(try SQLIdentifier(name)))")
        while try info.step() {
            if info.int64(at: 6) == 0 { columns.append(try info.string(at: 1) ?? "") }
        }
        return columns
    }

    /// Tables that a table's foreign keys name.
    func referencedTables(of table: String) throws(SQLiteError) -> Set<String> {
        var names: Set<String> = []
        // id, seq, table, …
        var list = try connection.prepare("PRAGMA foreign_key_list(\(try SQLIdentifier(table)))")
        while try list.step() {
            if let name = try list.string(at: 2) { names.insert(name.lowercased()) }
        }
        return names
    }

    func keyColumns(ofIndex name: String) throws(SQLiteError) -> [String] {
        var columns: [String] = []
        // seqno, cid, name; the name of an expression is NULL
        var info = try connection.prepare("PRAGMA index_info(\(try SQLIdentifier(name)))")
        while try info.step() {
            if let column = try info.string(at: 2) { columns.append(column) }
        }
        return columns
    }

    /// The text of an object as it is now.
    func text(of kind: StoreSchema.Object.Kind, _ name: String) throws(SQLiteError) -> String? {
        var statement = try connection.prepare("SELECT sql FROM sqlite_schema WHERE type = ?1 AND name = ?2")
        try statement.bind(kind.rawValue, at: 1)
        try statement.bind(name, at: 2)
        return try statement.step() ? try statement.string(at: 0) : nil
    }

    /// Every name, in lower case; triggers separately, since they have their own namespace.
    func names() throws(SQLiteError) -> (objects: Set<String>, triggers: Set<String>) {
        var result: (objects: Set<String>, triggers: Set<String>) = ([], [])
        var statement = try connection.prepare("SELECT type, name FROM sqlite_schema")
        while try statement.step() {
            guard let name = try statement.string(at: 1)?.lowercased() else { continue }
            if try statement.string(at: 0) == "trigger" {
                result.triggers.insert(name)
            } else {
                result.objects.insert(name)
            }
        }
        return result
    }

    /// Compiles a statement and checks whether SQLite compares by a collating sequence.
    mutating func compares(_ sql: String, by collation: String, about text: String) throws(SQLiteError) -> Bool {
        var found = false
        _ = try withStandIns(about: text) { connection throws(SQLiteError) in
            found = try connection.compares(sql, by: collation)
            return StatementUse()
        }
        return found
    }

    func registerStandInCollation(_ name: String) throws(SQLiteError) {
        try connection.registerStandInCollation(name)
    }

    // MARK: - Stand-ins

    private mutating func withStandIns(
        about text: String, _ body: (inout Connection) throws(SQLiteError) -> StatementUse
    ) throws(SQLiteError) -> StatementUse {
        var lent: Set<StandIn> = []
        guard text.lowercased().hasPart("with") else { return try repeating(lending: true, &lent, body) }
        return try MemoryBound.limiting(to: Self.compilerMemory) { () throws(SQLiteError) in
            try repeating(lending: true, &lent, body)
        }
    }

    /// Registers unknown functions until SQLite knows all.
    private mutating func repeating(
        lending: Bool, _ lent: inout Set<StandIn>,
        _ body: (inout Connection) throws(SQLiteError) -> StatementUse
    ) throws(SQLiteError) -> StatementUse {
        while true {
            do {
                return try body(&connection)
            } catch {
                guard lending, let missing = error.missingStandIn, lent.count < Connection.maximumStandIns,
                    lent.insert(missing).inserted
                else { throw error }
                try connection.register(missing)
            }
        }
    }
}

extension SQLiteError {
    /// The name in “no such <kind>: name”, without its schema; SQLite gives the name only in its message.
    func missing(_ kind: String) -> String? {
        guard let start = message.afterPart("no such \(kind): ") else { return nil }
        return start.hasPrefix("main.") ? String(start.dropFirst("main.".count)) : start
    }
}
