import CausewaySQLite
import Testing

@Suite("Statements", .timeLimit(.minutes(60))) struct StatementTests {
    @Test("every storage class goes in and comes out unchanged")
    func storageClasses() throws {
        let connection = try Connection.inMemory()
        try connection.execute("CREATE TABLE t(a)")
        var insert = try connection.prepare("INSERT INTO t VALUES(?)", persistent: true)
        for value: Int64 in [.min, -1, 0, .max] {
            try insert.bind(value, at: 1)
            try insert.run()
        }
        for value in [0.5, -0.0, .infinity, 1e300] {
            try insert.bind(value, at: 1)
            try insert.run()
        }
        for value in ["", "Ünïcode 😀", "with\0NUL"] {
            try insert.bind(value, at: 1)
            try insert.run()
        }
        for value in [[], [0, 255, 7]] as [[UInt8]] {
            try insert.bind(value, at: 1)
            try insert.run()
        }
        try insert.bindNull(at: 1)
        try insert.run()
        try insert.bind(Double.nan, at: 1)
        try insert.run()

        var found: [String] = []
        var select = try connection.prepare("SELECT a FROM t ORDER BY rowid")
        #expect(select.columnCount == 1)
        #expect(select.columnName(at: 0) == "a")
        #expect(select.columnName(at: 5).isEmpty)
        let isReadOnly = select.isReadOnly
        #expect(isReadOnly)
        while try select.step() {
            switch select.type(at: 0) {
            case .integer: found.append("\(select.int64(at: 0))")
            case .real: found.append("\(select.double(at: 0))")
            case .text: found.append("\((try select.string(at: 0) ?? "nil").debugDescription)")
            case .blob: found.append("\(select.bytes(at: 0) ?? [1])")
            case .null: found.append(select.isNull(at: 0) ? "null" : "?")
            }
        }
        #expect(
            found == [
                "-9223372036854775808", "-1", "0", "9223372036854775807", "0.5", "-0.0", "inf", "1e+300", "\"\"",
                "\"Ünïcode 😀\"", "\"with\\0NUL\"", "[]", "[0, 255, 7]", "null", "null",
            ])
    }

    @Test("bytes are bound and read without a copy; texts and blobs stay distinct")
    func borrowing() throws {
        let connection = try Connection.inMemory()
        let bytes: [UInt8] = Array("héllo".utf8)
        try unsafe bytes.withUnsafeBytes { buffer in
            var statement = try connection.prepare(
                "SELECT ?1, ?2, typeof(?1), typeof(?2), ?3, ?4, typeof(?3), typeof(?4)")
            try unsafe statement.bindText(borrowing: buffer, at: 1)
            try unsafe statement.bindBlob(borrowing: buffer, at: 2)
            // An empty buffer without an address is an empty value, not NULL.
            try unsafe statement.bindText(copying: UnsafeRawBufferPointer(start: nil, count: 0), at: 3)
            try unsafe statement.bindBlob(borrowing: UnsafeRawBufferPointer(start: nil, count: 0), at: 4)
            #expect(try statement.step())
            #expect(unsafe Array(statement.unsafeText(at: 0)) == bytes)
            #expect(unsafe Array(statement.unsafeBytes(at: 1)) == bytes)
            #expect(statement.bytes(at: 1)?.count == bytes.count)
            #expect(statement.withText(at: 0) { $0.byteCount } == bytes.count)
            #expect(try statement.string(at: 2) == "text")
            #expect(try statement.string(at: 3) == "blob")
            #expect(try statement.string(at: 4) == "")
            #expect(statement.bytes(at: 5) == [])
            #expect(try statement.string(at: 6) == "text")
            #expect(try statement.string(at: 7) == "blob")
        }
    }

    @Test("a cell of another statement's row is bound as it is, damaged text included")
    func carriesCells() throws {
        let connection = try Connection.inMemory()
        var source = try connection.prepare("SELECT CAST(x'C328' AS TEXT), 2.0, x'00', NULL, 5")
        var target = try connection.prepare("SELECT typeof(?1), hex(?1), typeof(?2), typeof(?3), ?4 IS NULL, ?5")
        #expect(try source.step())
        for index in 0..<5 { try target.bind(column: index, of: source, at: index + 1) }
        #expect(try target.step())
        let texts = try (0..<6).map { try target.string(at: $0) }
        #expect(texts == ["text", "C328", "real", "blob", "1", "5"])
    }

    @Test("text that isn't UTF-8 is refused as a string and readable as bytes")
    func invalidText() throws {
        let connection = try Connection.inMemory()
        var statement = try connection.prepare("SELECT CAST(x'C328' AS TEXT) AS ZNAME")
        #expect(try statement.step())
        let error = #expect(throws: SQLiteError.self) { try statement.string(at: 0) }
        #expect(error?.code == .mismatch)
        #expect(error?.message.contains("ZNAME") == true)
        #expect(statement.bytes(at: 0) == [0xC3, 0x28])
    }

    @Test("a reset keeps bindings until they are cleared; a running statement can't be bound")
    func lifecycle() throws {
        let connection = try Connection.inMemory()
        var statement = try connection.prepare("SELECT ?1")
        try statement.bind(7, at: 1)
        #expect(try statement.step())
        #expect(throws: SQLiteError.self) { try statement.bind(8, at: 1) }
        #expect(try !statement.step())
        statement.reset()
        #expect(try statement.step())
        #expect(statement.int64(at: 0) == 7)
        statement.reset()
        statement.clearBindings()
        #expect(try statement.step())
        let isNull = statement.isNull(at: 0)
        #expect(isNull)
        statement.reset()
        let error = #expect(throws: SQLiteError.self) { try statement.bind(1, at: 2) }
        #expect(error?.code == .range)
    }

    @Test("a column that isn't there reads as NULL", arguments: [-1, 1, 1 << 40, Int.max])
    func columnOutOfRange(index: Int) throws {
        let connection = try Connection.inMemory()
        var statement = try connection.prepare("SELECT 'x'")
        #expect(try statement.step())
        #expect(statement.type(at: index) == .null)
        #expect(statement.int64(at: index) == 0)
        #expect(statement.bytes(at: index) == nil)
    }

    @Test("exactly one statement is prepared")
    func oneStatement() throws {
        let connection = try Connection.inMemory()
        for sql in ["", "  -- nothing", "SELECT 1; SELECT 2", "SELECT 1; nonsense", "SELECT 1\0"] {
            let error = #expect(throws: SQLiteError.self) { _ = try connection.prepare(sql) }
            #expect(error?.code == .misuse, "\(sql)")
        }
        for sql in ["SELECT 1", "SELECT 1;", "SELECT 1; -- and a word", " SELECT 1 /* x */ ; \n"] {
            var statement = try connection.prepare(sql)
            #expect(try statement.step())
        }
        #expect(throws: SQLiteError.self) { try connection.execute("SELECT 1\0; DROP TABLE t") }
    }
}
