import CausewaySQLite
import Testing

@Suite("SQLite's errors", .timeLimit(.minutes(60))) struct SQLiteErrorTests {
    @Test("a primary code matches its extended codes, an extended code only itself")
    func matching() {
        #expect(ResultCode.constraint ~= .constraintUnique)
        #expect(ResultCode.constraintUnique ~= .constraintUnique)
        #expect(!(ResultCode.constraintUnique ~= .constraint))
        #expect(!(ResultCode.constraintUnique ~= .constraintNotNull))
        #expect(!(ResultCode.busy ~= .constraint))
        #expect(ResultCode.ioErrorSync.primary == .ioError)
    }

    @Test(
        "the error has the extended code, the statement and the file",
        arguments: [
            ("INSERT INTO t VALUES(1, 2)", ResultCode.constraintUnique),
            ("INSERT INTO t VALUES(NULL, 2)", .constraintNotNull),
            ("INSERT INTO p VALUES(5)", .constraintPrimaryKey),
            ("SELECT nothing FROM t", .error),
        ])
    func codes(sql: String, code: ResultCode) throws {
        let database = try TemporaryDatabase(
            "CREATE TABLE t(a NOT NULL UNIQUE, b); INSERT INTO t VALUES(1, 1);"
                + "CREATE TABLE p(a INTEGER PRIMARY KEY); INSERT INTO p VALUES(5)")
        let connection = try database.open()
        let error = #expect(throws: SQLiteError.self) {
            var statement = try connection.prepare(sql)
            try statement.run()
        }
        #expect(error?.code == code)
        #expect(error?.sql == sql)
        #expect(error?.path?.hasSuffix("/Store.sqlite") == true)
        #expect(error?.description.contains("[SQLite \(code.rawValue)]") == true)
    }

    @Test("names are kept as they are: what shows them escapes them")
    func escapes() throws {
        let connection = try Connection.inMemory()
        let error = #expect(throws: SQLiteError.self) { try connection.execute("SELECT \"a\u{1b}[2J\u{202e}\"") }
        let text = error?.description ?? ""
        #expect(text.contains("a\u{1b}[2J\u{202e}"))
    }

    @Test("bytes of a message that aren't UTF-8 are shown as numbers")
    func invalidBytes() throws {
        let connection = try Connection.inMemory()
        let error = #expect(throws: SQLiteError.self) {
            try connection.execute("SELECT json_extract('{}', CAST(x'C328' AS TEXT))")
        }
        #expect(error?.message.contains("\\xc3(") == true, "\(String(describing: error))")
    }

    @Test("a long statement is cut in the report, never inside of a character")
    func cuts() {
        let error = SQLiteError(code: .error, message: "m", sql: String(repeating: "ä", count: 5_000))
        #expect((error.sql?.utf8.count ?? 0) <= 2_010)
        #expect(error.sql?.hasSuffix("ä…") == true)
    }
}
