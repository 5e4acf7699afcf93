import CausewaySQLite
import Testing

@Suite("Loading a schema within limits", .timeLimit(.minutes(60)))
struct SchemaLoadingTests {
    private func database(tables: Int, columns: Int = 1) throws -> TemporaryDatabase {
        let database = try TemporaryDatabase()
        let connection = try Connection(path: database.path, mode: .create, hardening: .own)
        try connection.begin(.immediate)
        let list = (0..<columns).map { "column_\($0) INTEGER" }.joined(separator: ", ")
        for table in 0..<tables { try connection.execute("CREATE TABLE t\(table) (\(list))") }
        try connection.commit()
        return database
    }

    private func load(_ database: TemporaryDatabase, rows: Int, bytes: Int) throws {
        var connection = try Connection(path: database.path, mode: .readOnly, hardening: .untrusted)
        try connection.loadSchema(maximumRows: rows, maximumBytes: bytes, pageSize: 4_096)
        var statement = try connection.prepare("SELECT count(*) FROM sqlite_master")
        #expect(try statement.step())
    }

    @Test("a schema within the limits is loaded")
    func within() throws {
        try load(try database(tables: 100), rows: 100, bytes: 1 << 20)
    }

    @Test("more rows than the limit are refused before SQLite has parsed them all")
    func rows() throws {
        let database = try database(tables: 1_000)
        #expect { try load(database, rows: 20, bytes: 1 << 30) } throws: { ($0 as? SQLiteError)?.code == .tooBig }
    }

    @Test("more bytes than the limit are refused")
    func bytes() throws {
        let database = try database(tables: 300, columns: 100)
        #expect { try load(database, rows: 20_000, bytes: 20_000) } throws: { ($0 as? SQLiteError)?.code == .tooBig }
    }

    @Test("CHECK constraints aren't evaluated", arguments: [Hardening.untrusted, .own])
    func checks(hardening: Hardening) throws {
        let connection = try Connection.inMemory(hardening: hardening)
        try connection.execute("CREATE TABLE t (a, CHECK (a > 5))")
        try connection.execute("INSERT INTO t VALUES (1)")
        var statement = try connection.prepare("PRAGMA quick_check")
        #expect(try statement.step())
        #expect(try statement.string(at: 0) == "ok")
    }
}
