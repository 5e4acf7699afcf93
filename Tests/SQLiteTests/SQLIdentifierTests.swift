import CausewaySQLite
import Testing

@Suite("Names in SQL", .timeLimit(.minutes(60))) struct SQLIdentifierTests {
    @Test(
        "any name can be a table's, and finds it again",
        arguments: [
            "ZPERSON", "select", "a b", "a\"b", "\"", "\"\"", "a\"; DROP TABLE t; --", "a'b", "ä😀", "[x]", "`x`",
            "e\u{301}", "line\nbreak", String(repeating: "n", count: 1_024),
        ])
    func roundTrip(name: String) throws {
        let identifier = try SQLIdentifier(name)
        let connection = try Connection.inMemory()
        try connection.execute("CREATE TABLE \(identifier)(\(identifier) INTEGER)")
        var statement = try connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
        #expect(try statement.step())
        let found = try #require(try statement.string(at: 0))
        #expect(Array(found.utf8) == Array(name.utf8))
        #expect(try !statement.step())
        let select = try connection.prepare("SELECT \(identifier.quoted) FROM \(identifier)")
        #expect(Array(select.columnName(at: 0).utf8) == Array(name.utf8))
    }

    @Test(
        "an empty name, a NUL and too long a name are refused",
        arguments: ["", "a\0b", String(repeating: "n", count: 1_025)])
    func refused(name: String) {
        let error = #expect(throws: SQLiteError.self) { try SQLIdentifier(name) }
        #expect(error?.code == .misuse)
        #expect((error?.message.utf8.count ?? 0) < 300)
    }
}
