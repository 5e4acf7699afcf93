import CausewaySQLite

/// A schema without rows, in memory: SQLite treats a statement here as it would in a store.
///
/// Texts of an untrusted store define their own object and nothing else; statements are compiled, never run. Functions
/// and collating sequences that only the app registers get stand-ins.
struct ScratchSchema: ~Copyable {
    /// Bytes that SQLite may take to compile one text with common table expressions. Photos' largest trigger takes 0.1
    /// MB.
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
    static func empty(
        readsDoubleQuotedTexts: Bool, hardening: Hardening = .own
    ) throws(StoreFormatError) -> ScratchSchema {
        try StoreFormatError.doing("making a database in memory") { () throws(SQLiteError) in
            try ScratchSchema(readsDoubleQuotedTexts: readsDoubleQuotedTexts, hardening: hardening)
        }
    }

    /// Runs a statement of our own.
    func run(_ sql: String) throws(SQLiteError) {
        looks.count = 0
        var statement = try connection.prepare(sql)
        try statement.run()
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
        let last = try lastRow()
        let use = try repeating(lending: object.kind == .table, &lent) { connection throws(SQLiteError) in
            try connection.recordingUse(of: .definition) { connection throws(SQLiteError) in
                var statement = try connection.prepare(sql)
                try statement.run()
            }
        }
        guard try tableName(of: object, after: last)?.lowercased() == object.table.lowercased() else {
            throw SQLiteError(code: .misuse, message: "its text makes another object")
        }
        return use
    }

    /// The schema table has no index: thousands of objects aren't searched for one that was just made.
    private func lastRow() throws(SQLiteError) -> Int64 {
        var statement = try connection.prepare("SELECT max(rowid) FROM sqlite_schema")
        return try statement.step() ? statement.int64(at: 0) : 0
    }

    private func tableName(of object: StoreSchema.Object, after row: Int64) throws(SQLiteError) -> String? {
        var statement = try connection.prepare(
            "SELECT tbl_name FROM sqlite_schema WHERE type = ?1 AND name = ?2 AND rowid > ?3")
        try statement.bind(object.kind.rawValue, at: 1)
        try statement.bind(object.name, at: 2)
        try statement.bind(row, at: 3)
        return try statement.step() ? try statement.string(at: 0) : nil
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
        try withStandIns(about: text) { connection throws(SQLiteError) in
            var statement = try connection.prepare(sql)
            try statement.run()
        }
    }

    /// The texts in one column of a statement's rows.
    func texts(of sql: String, at column: Int) throws(SQLiteError) -> [String] {
        var statement = try connection.prepare(sql)
        return try statement.rows { row throws(SQLiteError) in try row.string(at: column) }
    }

    /// Columns that can be written, without generated ones.
    func columns(of name: String) throws(SQLiteError) -> [String] {
        // cid, name, type, notnull, dflt_value, pk, hidden
        var info = try connection.prepare("PRAGMA table_xinfo(\(try SQLIdentifier(name)))")
        return try info.rows { row throws(SQLiteError) in
            row.int64(at: 6) == 0 ? try row.string(at: 1) ?? "" : nil
        }
    }

    /// What the schema table has of an object in one of its columns.
    func entry(
        _ column: String, of kind: StoreSchema.Object.Kind, _ name: String
    ) throws(SQLiteError) -> String? {
        var statement = try connection.prepare("SELECT \(column) FROM sqlite_schema WHERE type = ?1 AND name = ?2")
        try statement.bind(kind.rawValue, at: 1)
        try statement.bind(name, at: 2)
        return try statement.step() ? try statement.string(at: 0) : nil
    }

    /// Every name, in lower case; triggers separately, since they have their own namespace.
    func names() throws(SQLiteError) -> (objects: Set<String>, triggers: Set<String>) {
        let objects = try texts(of: "SELECT name FROM sqlite_schema WHERE type <> 'trigger'", at: 0)
        let triggers = try texts(of: "SELECT name FROM sqlite_schema WHERE type = 'trigger'", at: 0)
        return (Set(objects.map { $0.lowercased() }), Set(triggers.map { $0.lowercased() }))
    }

    /// Compiles a statement and checks whether SQLite compares by a collating sequence.
    mutating func compares(_ sql: String, by collation: String, about text: String) throws(SQLiteError) -> Bool {
        try withStandIns(about: text) { connection throws(SQLiteError) in
            try connection.compares(sql, by: collation)
        }
    }

    // MARK: - Stand-ins

    private mutating func withStandIns<Result>(
        about text: String, _ body: (inout Connection) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        var lent: Set<StandIn> = []
        guard text.mayNeedMemory else { return try repeating(lending: true, &lent, body) }
        return try MemoryBound.limiting(to: Self.compilerMemory) { () throws(SQLiteError) in
            try repeating(lending: true, &lent, body)
        }
    }

    /// Registers unknown functions until SQLite knows all.
    private mutating func repeating<Result>(
        lending: Bool, _ lent: inout Set<StandIn>, _ body: (inout Connection) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        while true {
            do {
                return try body(&connection)
            } catch {
                guard lending else { throw error }
                try connection.lend(after: error, &lent)
            }
        }
    }
}

extension String {
    /// Whether the text may have common table expressions, which are compiled anew with each mention (`MemoryBound`).
    var mayNeedMemory: Bool { lowercased().hasPart("with") }
}

extension SQLiteError {
    /// The name in “no such <kind>: name”, without its schema; SQLite gives the name only in its message.
    func missing(_ kind: String) -> String? {
        guard let place = message.utf8.firstRange(of: "no such \(kind): ".utf8) else { return nil }
        let start = message[place.upperBound...]
        return String(start.hasPrefix("main.") ? start.dropFirst("main.".count) : start)
    }
}
