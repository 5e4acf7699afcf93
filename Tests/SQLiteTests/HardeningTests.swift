import CausewaySQLite
import Testing

@Suite("A connection to an untrusted file", .timeLimit(.minutes(60))) struct HardeningTests {
    static let schema = """
        CREATE TABLE ZA(Z_PK INTEGER PRIMARY KEY, ZNAME VARCHAR);
        CREATE TABLE log(a);
        CREATE INDEX i ON log(a);
        CREATE VIEW ZB AS SELECT * FROM ZA;
        CREATE TRIGGER t AFTER INSERT ON ZA BEGIN INSERT INTO log VALUES(new.Z_PK); END;
        INSERT INTO ZA VALUES(1, 'one');
        """

    let database: TemporaryDatabase

    init() throws {
        database = try TemporaryDatabase(Self.schema)
    }

    @Test("does not read a view with the name of a table")
    func views() throws {
        let sql = "SELECT count(*) FROM ZB"
        #expect(try integer(sql, try database.open(.readOnly, .own)) == 1)
        let connection = try database.open(.readOnly, .untrusted)
        let error = #expect(throws: SQLiteError.self) { try integer(sql, connection) }
        #expect(error?.message.contains("access to view") == true)
        #expect(try integer("SELECT count(*) FROM ZA", connection) == 1)
    }

    @Test("fires no trigger")
    func triggers() throws {
        // The trigger fired when the file's owner wrote the row.
        let connection = try database.open(.readWrite, .untrusted)
        #expect(try integer("SELECT count(*) FROM log", connection) == 1)
        try connection.execute("INSERT INTO ZA VALUES(2, 'two')")
        #expect(try integer("SELECT count(*) FROM log", connection) == 1)
    }

    @Test("doesn't take a double-quoted name for a string: a wrong one is an error")
    func doubleQuotes() throws {
        for hardening in [Hardening.untrusted, .own] {
            let connection = try database.open(.readWrite, hardening)
            #expect(throws: SQLiteError.self) { try integer("SELECT 1 FROM ZA WHERE ZNAME = \"one\"", connection) }
            #expect(throws: SQLiteError.self) { try connection.execute("CREATE INDEX j ON ZA(\"nothing\")") }
        }
    }

    @Test("SQL can't change the schema table; no code is loaded")
    func defensive() throws {
        for hardening in [Hardening.untrusted, .own] {
            let connection = try database.open(.readWrite, hardening)
            try connection.setPragma("writable_schema", to: 1)
            #expect(throws: SQLiteError.self) { try connection.execute("DELETE FROM sqlite_schema") }
            #expect(throws: SQLiteError.self) { try connection.execute("SELECT load_extension('x')") }
            #expect(try connection.pragmaInteger("cell_size_check") == 1)
        }
    }

    @Test("maps no memory and attaches nothing")
    func limits() throws {
        let connection = try database.open(.readOnly, .untrusted)
        #expect(try integer("PRAGMA mmap_size", connection) == 0)
        #expect(throws: SQLiteError.self) { try connection.execute("ATTACH ':memory:' AS other") }
        let long = "SELECT " + Array(repeating: "1", count: 3_000).joined(separator: ",")
        #expect(throws: SQLiteError.self) { try connection.execute(long) }
    }

    @Test("reads tables whose definitions call ordinary functions, JSON's too")
    func functions() throws {
        let sql = """
            CREATE TABLE json (a CHECK (json_valid(a)), b AS (json_extract(a, '$.x')), c AS (a ->> 'y'));
            CREATE INDEX types ON json (json_type(a)) WHERE json_valid(a);
            INSERT INTO json (a) VALUES ('{"x": 3, "y": 4}');
            """
        try database.open(.readWrite, .own).execute(sql)
        for hardening in [Hardening.untrusted, .own] {
            let connection = try database.open(.readOnly, hardening)
            #expect(try integer("SELECT b * 10 + c FROM json", connection) == 34)
        }
    }

    @Test("reads tables with an index in an app's own collation, and names that")
    func collations() throws {
        let made = try database.open(.readWrite, .own)
        try made.lendingStandIns { () throws(SQLiteError) in
            try made.execute(
                "CREATE TABLE ordered (a COLLATE app_order PRIMARY KEY); INSERT INTO ordered VALUES ('b')")
        }
        let error = #expect(throws: SQLiteError.self) { try made.execute("INSERT INTO ordered VALUES ('c')") }
        #expect(error?.missingStandIn == .collation("app_order"))
        let connection = try database.open(.readOnly, .untrusted)
        #expect(try connection.lentCollations() == [])
        #expect(try integer("SELECT count(*) FROM ordered", connection) == 1)
        try connection.execute("PRAGMA quick_check")
        #expect(try connection.lentCollations() == ["app_order"])
    }

    @Test("refuses values over its limit")
    func valueLength() throws {
        var hardening = Hardening.untrusted
        hardening.limits.valueLength = 1_000
        let connection = try database.open(.readOnly, hardening)
        #expect(try integer("SELECT length(zeroblob(1000))", connection) == 1_000)
        let error = #expect(throws: SQLiteError.self) { try integer("SELECT length(zeroblob(1001))", connection) }
        #expect(error?.code == .tooBig)
    }

    @Test("triggers that call Core Data's functions compile once these are registered as no-ops")
    func noOpFunction() throws {
        let connection = try database.open()
        try connection.execute(
            "CREATE TRIGGER c AFTER UPDATE ON ZA BEGIN SELECT NSCoreDataTriggerUpdateAffectedObjectValue('A', 1, 'x', 2); END"
        )
        let update = "UPDATE ZA SET ZNAME = 'new'"
        let error = #expect(throws: SQLiteError.self) { try connection.execute(update) }
        #expect(error?.message.contains("no such function") == true)
        try connection.registerNoOpFunction("NSCoreDataTriggerUpdateAffectedObjectValue")
        try connection.execute(update)
        #expect(try integer("SELECT NSCoreDataTriggerUpdateAffectedObjectValue()", connection) == nil)
    }
}

@Suite("The authorizer", .timeLimit(.minutes(60))) struct AuthorizationTests {
    let database: TemporaryDatabase

    init() throws {
        database = try TemporaryDatabase(HardeningTests.schema)
    }

    @Test(
        "allows reads",
        arguments: [
            "SELECT count(*), max(ZNAME) FROM ZA", "BEGIN", "SAVEPOINT s", "PRAGMA table_info(ZA)",
            "PRAGMA quick_check", "PRAGMA journal_mode", "SELECT sql FROM sqlite_schema",
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT * FROM n",
        ])
    func allows(sql: String) throws {
        var connection = try database.open()
        try connection.setAuthorization(.readOnly)
        try connection.execute(sql)
    }

    @Test(
        "refuses what changes anything",
        arguments: [
            "INSERT INTO ZA VALUES(9, '')", "DELETE FROM ZA", "UPDATE ZA SET ZNAME = ''", "DROP TABLE ZA",
            "CREATE TABLE n(a)", "CREATE TEMP TABLE n(a)", "ATTACH ':memory:' AS o", "PRAGMA journal_mode=WAL",
            "PRAGMA user_version=3", "PRAGMA writable_schema", "PRAGMA wal_checkpoint", "REINDEX", "VACUUM",
            "ANALYZE", "ALTER TABLE ZA ADD COLUMN n",
        ])
    func refuses(sql: String) throws {
        var connection = try database.open()
        try connection.setAuthorization(.readOnly)
        #expect(throws: SQLiteError.self) { try connection.execute(sql) }
        try connection.setAuthorization(.unrestricted)
        #expect(try integer("SELECT count(*) FROM ZA", connection) == 1)
    }

    @Test("reads only the tables that are named")
    func tables() throws {
        var connection = try database.open()
        try connection.setAuthorization(.readOnlyTables(["za"]))
        #expect(try integer("SELECT count(*) FROM ZA", connection) == 1)
        #expect(try integer("SELECT count(*) FROM sqlite_schema", connection) == 5)
        let error = #expect(throws: SQLiteError.self) { try integer("SELECT a FROM log", connection) }
        #expect(error?.code == .notAuthorized)
        // The view reads an allowed table, but the view itself isn't allowed.
        #expect(throws: SQLiteError.self) { try integer("SELECT Z_PK FROM ZB", connection) }
    }
}
