import CausewaySQLite
import Foundation
import Testing

@Suite("Connections", .timeLimit(.minutes(60))) struct ConnectionTests {
    @Test("a path is never a URI or one of SQLite's special names", arguments: ["file:x?mode=memory", ":memory:"])
    func specialNames(name: String) throws {
        let database = try TemporaryDatabase()
        let path = database.folder + "/" + name
        try Connection(path: path, mode: .create, hardening: .own).execute("CREATE TABLE t(a)")
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test("an empty path and one with a NUL are refused", arguments: ["", "/tmp/a\0b"])
    func badPaths(path: String) {
        let error = #expect(throws: SQLiteError.self) {
            _ = try Connection(path: path, mode: .create, hardening: .own)
        }
        #expect(error?.code == .cannotOpen)
    }

    @Test("a missing file is not created, and the error names it")
    func missing() throws {
        let database = try TemporaryDatabase()
        let path = database.folder + "/none.sqlite"
        let error = #expect(throws: SQLiteError.self) {
            _ = try Connection(path: path, mode: .readWrite, hardening: .untrusted)
        }
        #expect(error?.code == .cannotOpen)
        #expect(error?.path == path)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("a file that is no database is refused with its first statement")
    func noDatabase() throws {
        let database = try TemporaryDatabase()
        try Data(repeating: 0x41, count: 5_000).write(to: URL(filePath: database.path))
        let connection = try database.open(.readOnly, .untrusted)
        let error = #expect(throws: SQLiteError.self) { try integer("SELECT count(*) FROM sqlite_schema", connection) }
        #expect(error?.code == .notADatabase)
    }

    @Test("a read-only connection does not write; query_only makes a connection read-only later")
    func readOnly() throws {
        let database = try TemporaryDatabase("CREATE TABLE t(a)")
        let reader = try database.open(.readOnly)
        #expect(throws: SQLiteError.self) { try reader.execute("INSERT INTO t VALUES(1)") }
        let writer = try database.open()
        try writer.execute("INSERT INTO t VALUES(1)")
        try writer.setQueryOnly(true)
        let error = #expect(throws: SQLiteError.self) { try writer.execute("INSERT INTO t VALUES(2)") }
        #expect(error?.code.primary == .readOnly)
        try writer.setQueryOnly(false)
        try writer.execute("INSERT INTO t VALUES(2)")
        #expect(try integer("SELECT count(*) FROM t", reader) == 2)
    }

    @Test(
        "an immutable file is read without locks and sidecars, whatever its name",
        arguments: ["plain", "a b?c=d&e#f%20g", "größe '\"", "-~_.+;:@"])
    func immutable(name: String) throws {
        let database = try TemporaryDatabase()
        let path = database.folder + "/" + name
        let writer = try Connection(path: path, mode: .create, hardening: .own)
        try writer.setJournalMode(.wal)
        try writer.execute("CREATE TABLE t(a); INSERT INTO t VALUES(1); PRAGMA wal_checkpoint")
        try writer.execute("INSERT INTO t VALUES(2)")
        let reader = try Connection(path: path, mode: .immutable, hardening: .untrusted)
        #expect(try integer("SELECT count(*) FROM t", reader) == 1)
        #expect(reader.path == path)
        #expect(throws: SQLiteError.self) { try reader.execute("INSERT INTO t VALUES(3)") }
        let error = #expect(throws: SQLiteError.self) {
            _ = try Connection(path: path + "-none", mode: .immutable, hardening: .untrusted)
        }
        #expect(error?.path == path + "-none")
    }

    @Test("closing with an open statement is an error")
    func closeBusy() throws {
        let connection = try Connection.inMemory()
        let statement = try connection.prepare("SELECT 1")
        do throws(SQLiteError) {
            try close(connection)
            Issue.record("it closed")
        } catch {
            #expect(error.code == .busy)
        }
        #expect(statement.columnCount == 1)
    }

    private func close(_ connection: consuming Connection) throws(SQLiteError) { try connection.close() }

    @Test("a statement may outlive its connection, whose handlers are removed")
    func statementOutlives() throws {
        func make() throws -> Statement {
            var connection = try Connection.inMemory()
            connection.setProgressHandler(everyInstructions: 1) { false }
            try connection.setAuthorization(.readOnly)
            return try connection.prepare(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT count(*) FROM n")
        }
        var statement = try make()
        #expect(try statement.step())
        #expect(statement.int64(at: 0) == 1_000)
    }

    @Test("only another connection's commit changes data_version")
    func dataVersion() throws {
        let database = try TemporaryDatabase("CREATE TABLE t(a)")
        let first = try database.open()
        let second = try database.open()
        let before = try first.dataVersion()
        try first.execute("INSERT INTO t VALUES(1)")
        #expect(try first.dataVersion() == before)
        try second.execute("INSERT INTO t VALUES(2)")
        #expect(try first.dataVersion() != before)
    }

    @Test("a failed transaction is rolled back, a good one committed")
    func transactions() throws {
        let connection = try Connection.inMemory()
        try connection.execute("CREATE TABLE t(a UNIQUE)")
        let error = #expect(throws: SQLiteError.self) {
            try connection.transaction { () throws(SQLiteError) in
                try connection.execute("INSERT INTO t VALUES(1)")
                try connection.execute("INSERT INTO t VALUES(1)")
            }
        }
        #expect(error?.code == .constraintUnique)
        let isOpen = connection.isInTransaction
        #expect(!isOpen)
        #expect(try integer("SELECT count(*) FROM t", connection) == 0)
        let changes = try connection.transaction { () throws(SQLiteError) -> Int64 in
            try connection.execute("INSERT INTO t VALUES(1), (2)")
            return connection.changes
        }
        #expect(changes == 2)
        #expect(try integer("SELECT count(*) FROM t", connection) == 2)
    }

    @Test("a lock that another connection holds is busy, with the remedy")
    func busy() throws {
        let database = try TemporaryDatabase("CREATE TABLE t(a)")
        let first = try database.open()
        let second = try database.open()
        try first.begin(.immediate)
        let error = #expect(throws: SQLiteError.self) { try second.begin(.immediate) }
        #expect(error?.code == .busy)
        #expect(error?.message.contains("close the program") == true)
        try first.rollback()
        try second.begin(.exclusive)
        try second.commit()
    }

    @Test("the journal mode is changed and checked; leaving WAL while another connection reads is refused")
    func journalMode() throws {
        let database = try TemporaryDatabase("CREATE TABLE t(a)")
        let first = try database.open()
        try first.setJournalMode(.wal)
        #expect(try first.journalMode() == .wal)
        try first.execute("INSERT INTO t VALUES(1)")
        do {
            let second = try database.open()
            #expect(try integer("SELECT count(*) FROM t", second) == 1)
            #expect(throws: SQLiteError.self) { try first.setJournalMode(.delete) }
        }
        try first.setJournalMode(.truncate)
        #expect(!FileManager.default.fileExists(atPath: database.path + "-wal"))
        let memory = try Connection.inMemory()
        #expect(throws: SQLiteError.self) { try memory.setJournalMode(.wal) }
    }

    @Test("the -wal stays where closing must not checkpoint it", arguments: [true, false])
    func noCheckpointOnClose(stays: Bool) throws {
        let database = try TemporaryDatabase("PRAGMA journal_mode=WAL; CREATE TABLE t(a)")
        let connection = try database.open()
        try connection.setNoCheckpointOnClose(stays)
        try connection.execute("INSERT INTO t VALUES(1)")
        try close(connection)
        #expect(FileManager.default.fileExists(atPath: database.path + "-wal") == stays)
    }

    @Test("pragmas take words and numbers only")
    func pragmas() throws {
        let connection = try Connection.inMemory()
        try connection.setPragma("user_version", to: 42)
        #expect(try connection.pragmaInteger("user_version") == 42)
        try connection.setPragma("synchronous", to: "NORMAL")
        #expect(try connection.pragmaInteger("synchronous") == 1)
        #expect(try connection.pragmaText("encoding") == "UTF-8")
        for name in ["", "a b", "user_version; DROP TABLE t", "\"x\""] {
            #expect(throws: SQLiteError.self) { try connection.pragmaText(name) }
            #expect(throws: SQLiteError.self) { try connection.setPragma("synchronous", to: name) }
        }
        #expect(throws: SQLiteError.self) { try connection.pragmaInteger("no_such_pragma") }
    }

    @Test("an interrupt from another thread ends an endless statement; after closing it does nothing")
    func interrupt() async throws {
        let connection = try Connection.inMemory()
        let handle = connection.interruptHandle
        let thread = Thread {
            // The statement may not have started: an interrupt before that has no effect.
            for _ in 0..<2_000 {
                handle.interrupt()
                usleep(1_000)
            }
        }
        thread.start()
        let error = #expect(throws: SQLiteError.self) {
            try integer(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n", connection)
        }
        #expect(error?.code == .interrupted)
        try close(connection)
        handle.interrupt()
    }

    @Test("a progress handler ends a statement that takes too long, and can be removed")
    func progress() throws {
        var connection = try Connection.inMemory()
        var budget = 50
        connection.setProgressHandler(everyInstructions: 100) {
            budget -= 1
            return budget < 0
        }
        let sql = """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT count(*) FROM n
            """
        let error = #expect(throws: SQLiteError.self) { try integer(sql, connection) }
        #expect(error?.code == .interrupted)
        connection.removeProgressHandler()
        #expect(try integer(sql, connection) == 5_000)
    }

    @Test("SQLite's version is one for which the code is written")
    func library() {
        #expect(SQLiteLibrary.version.hasPrefix("3."))
    }
}
