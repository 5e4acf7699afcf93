import CausewayEngine
import CausewayStores
import Foundation
import Testing

/// What the migration doesn't change, and what it changes in single values.
@Suite("Carried and changed values", .timeLimit(.minutes(60)))
struct CarriedValueTests {
    static let everything = entity(
        "Thing", attribute("whole", "Integer 64"), attribute("number", "Double"), attribute("date", "Date"),
        attribute("text"), attribute("data", "Binary"), attribute("price", "Decimal"))

    @Test("values are carried byte for byte, in the storage class that they have")
    func verbatim() throws {
        let scenario = try Scenario(
            model(Self.everything), model(Self.everything, entity("Zebra")),
            rows: """
                INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZWHOLE, ZNUMBER, ZDATE, ZTEXT, ZDATA, ZPRICE) VALUES
                (1, 1, 1, 9223372036854775807, 9e999, 1.5, '', x'', 10.11),
                (2, 1, 1, -9223372036854775808, -9e999, 2, CAST(x'ff00fe61' AS TEXT), NULL, 3),
                (3, 1, 1, NULL, 0.1, NULL, 'a' || char(0) || 'b', x'00ff', NULL),
                (4, 1, 1, 'word', 'text in a number', x'01', x'6162', 'text in data', 12345678901234567890.5),
                (9223372036854775807, 1, 2, 1, 4.9e-324, -0.0, '\u{1F600}\u{301}', zeroblob(70000), 1e300),
                (-5, 1, NULL, 0, 1.7976931348623157e308, 1e18, NULL, x'80', -1);
                """)
        let sql = "SELECT * FROM ZTHING"
        let before = try scenario.rows(sql)
        #expect(before.count == 6)
        try scenario.migrate()
        #expect(try scenario.rows(sql) == before)
    }

    @Test("a negative zero and every storage class pass through a column without affinity")
    func withoutAffinity() throws {
        let scenario = try Scenario(
            model(Self.everything), model(Self.everything, entity("New")),
            rows: """
                CREATE TABLE notes (id INTEGER PRIMARY KEY, anything);
                INSERT INTO notes VALUES (3, -0.0), (5, 0.0), (7, 1), (11, '1'), (13, x'31'), (17, NULL), (19, 1.0);
                """)
        let before = try scenario.rows("SELECT *, typeof(anything), 1 / anything FROM notes")
        try scenario.migrate()
        #expect(try scenario.rows("SELECT *, typeof(anything), 1 / anything FROM notes") == before)
        #expect(before[0].hasPrefix("3|-0.0"))
    }

    @Test("an optional attribute that becomes mandatory takes its default for NULL only")
    func nilReplacement() throws {
        let scenario = try Scenario(
            model(entity("Thing", attribute("text"), attribute("whole", "Integer 16"))),
            model(
                entity(
                    "Thing", attribute("text", optional: false, default: "none"),
                    attribute("whole", "Integer 16", optional: false, default: "7"),
                    attribute("added", "Boolean", default: "YES"), attribute("empty", "Date"))),
            rows: """
                INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZTEXT, ZWHOLE) VALUES (1, 1, 1, '', 0), (2, 1, 1, NULL, NULL);
                """)
        try scenario.migrate()
        #expect(
            try scenario.rows("SELECT Z_PK, ZTEXT, ZWHOLE, ZADDED, ZEMPTY FROM ZTHING ORDER BY Z_PK") == [
                "1|''|0|1|NULL", "2|'none'|7|1|NULL",
            ])
    }

    static let external = "allowsExternalBinaryDataStorage=\"YES\""

    @Test("external storage switched on: values get the prefix of inline data")
    func externalOn() throws {
        let scenario = try Scenario(
            model(entity("Thing", attribute("data", "Binary"))),
            model(entity("Thing", attribute("data", "Binary", extra: Self.external))),
            rows:
                "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZDATA) VALUES (1, 1, 1, x'0203'), (2, 1, 1, x''), (3, 1, 1, NULL);"
        )
        try scenario.migrate()
        #expect(
            try scenario.rows("SELECT Z_PK, ZDATA FROM ZTHING ORDER BY Z_PK") == ["1|x'010203'", "2|x'01'", "3|NULL"])
    }

    private func externalStore(_ reference: String) throws -> Scenario {
        let scenario = try Scenario(
            model(entity("Thing", attribute("data", "Binary", extra: Self.external))),
            model(entity("Thing", attribute("data", "Binary"))),
            rows: """
                INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZDATA) \
                VALUES (1, 1, 1, x'0105'), (2, 1, 1, x'01'), (3, 1, 1, NULL), (4, 1, 1, CAST('\u{2}\(reference)' || char(0) AS BLOB));
                """)
        try FileManager.default.createDirectory(
            atPath: scenario.folder + "/.Store_SUPPORT/_EXTERNAL_DATA", withIntermediateDirectories: true)
        return scenario
    }

    @Test("external storage switched off: prefixes are removed, and a file's content replaces its reference")
    func externalOff() throws {
        let name = "0A1B2C3D-0000-4000-8000-00000000ABCD"
        let scenario = try externalStore(name)
        let file = scenario.folder + "/.Store_SUPPORT/_EXTERNAL_DATA/" + name
        try Data([7, 8, 9]).write(to: URL(filePath: file))
        try scenario.migrate()
        #expect(try scenario.rows("SELECT ZDATA FROM ZTHING") == ["x'05'", "x''", "NULL", "x'070809'"])
        #expect(FileManager.default.fileExists(atPath: file), "the backup still refers to it")
    }

    @Test(
        "a reference to a missing file, or to another folder, stops the migration",
        arguments: ["0A1B2C3D-0000-4000-8000-00000000ABCD", "../../../../../../../../../etc/aaaaa"])
    func externalMissing(_ reference: String) throws {
        #expect(reference.utf8.count == 36)
        let scenario = try externalStore(reference)
        let before = try snapshot(scenario.folder)
        let error = try failure { try scenario.migrate() }
        #expect(error.kind == .sourceData)
        #expect(try snapshot(scenario.folder) == before)
    }

    @Test("with --output the external files are copied")
    func externalOutput() throws {
        let thing = entity("Thing", attribute("data", "Binary", extra: Self.external))
        let scenario = try Scenario(
            model(thing), model(thing, entity("New")),
            rows: """
                INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZDATA) \
                VALUES (1, 1, 1, CAST('\u{2}0A1B2C3D-0000-4000-8000-00000000ABCD' || char(0) AS BLOB));
                """)
        let before = try scenario.rows("SELECT ZDATA FROM ZTHING")
        let data = scenario.folder + "/.Store_SUPPORT/_EXTERNAL_DATA"
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        try Data([1, 2]).write(to: URL(filePath: data + "/0A1B2C3D-0000-4000-8000-00000000ABCD"))
        let output = try EngineRun.output(scenario.request(to: "V2"), as: "New.sqlite")
        #expect(try Database.rows("SELECT ZDATA FROM ZTHING", in: output) == before)
        let copy = scenario.folder + "/.New_SUPPORT/_EXTERNAL_DATA/0A1B2C3D-0000-4000-8000-00000000ABCD"
        #expect(try Data(contentsOf: URL(filePath: copy)) == Data([1, 2]))
    }

    @Test("a composite's leaves are carried, renamed and added")
    func composite() throws {
        func version(_ leaves: String) -> String {
            model(
                entity(
                    "Thing", #"<attribute name="place" optional="YES" attributeType="Composite" composite="Place"/>"#),
                "<composite name=\"Place\">\(leaves)</composite>")
        }
        let scenario = try Scenario(
            version(attribute("lat", "Double") + attribute("lon", "Double")),
            version(attribute("lat", "Double") + attribute("longitude", "Double", was: "lon") + attribute("name")),
            rows: "")
        let columns = try scenario.rows("SELECT name FROM pragma_table_info('ZTHING') WHERE cid > 2 ORDER BY name")
        try #require(columns.count == 2)
        let names = columns.map { $0.dropFirst().dropLast() }
        try Scenario.execute(
            "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, \(names[0]), \(names[1])) VALUES (1, 1, 1, 1.5, 2.5)",
            scenario.store)
        try scenario.migrate()
        #expect(try scenario.rows("SELECT * FROM ZTHING") == ["1|1|1|1.5|2.5|NULL"])
    }

    @Test("a derived attribute that is new is computed from the rows")
    func derived() throws {
        func version(_ author: String) -> String {
            model(
                entity("Author", author, toMany("books", "Book", inverse: "author")),
                entity("Book", toOne("author", "Author", inverse: "books")))
        }
        let scenario = try Scenario(
            version(""),
            version(attribute("count", "Integer 64", extra: #"derived="YES" derivationExpression="books.@count""#)),
            rows: """
                INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1);
                INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZAUTHOR) VALUES (1, 2, 1, 1), (2, 2, 1, 1), (3, 2, 1, NULL);
                """)
        try scenario.migrate()
        #expect(try scenario.rows("SELECT Z_PK, ZCOUNT FROM ZAUTHOR ORDER BY Z_PK") == ["1|2", "2|0"])
    }
}
