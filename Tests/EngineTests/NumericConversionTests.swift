import CausewayEngine
import CausewayMapping
import CausewayModel
import CausewayPreparation
import CausewaySQLite
import Foundation
import Testing

/// Attributes whose numeric type changes: the rows' values are compared with SQLite's own conversion.
@Suite("Numeric attributes convert", .timeLimit(.minutes(60)))
struct NumericConversionTests {
    static let types = NumericType.allCases

    static func name(_ type: NumericType) -> String { type.attributeType.modelName }

    /// Numbers at the ends of every type's range, and beyond.
    static let numbers: [StoredNumber] =
        [0, 1, -1, 2, 32_767, -32_768, 32_768, 16_777_216, 16_777_217, 2_147_483_647, -2_147_483_648, 2_147_483_648]
        .map { .integer($0) }
        + [9_007_199_254_740_992, 9_007_199_254_740_993, .max, .min].map { .integer($0) }
        + [0, 1, -0.0, 0.5, -1.5, 32_767, -32_769, 16_777_217, 9_007_199_254_740_994, 1e18, -0x1p63, 0x1p63, 3.4e38]
        .map { .real($0) }
        + [0.1, 1e39, 1e300, .leastNonzeroMagnitude, .infinity, -.infinity].map { .real($0) }

    static func sql(_ number: StoredNumber?) -> String {
        switch number {
        case nil: "NULL"
        case .integer(.min): "(-9223372036854775807 - 1)"
        case .integer(let value): String(value)
        case .real(let value): value.isFinite ? "\(value)" : value < 0 ? "-9e999" : "9e999"
        }
    }

    @Test("columns store numbers as the types say, and types hold the same numbers as Swift's types", arguments: types)
    func columns(type: NumericType) throws {
        let folder = try Scenario(model(entity("Thing", attribute("n", Self.name(type)))))
        for number in Self.numbers {
            try Scenario.execute(
                "DELETE FROM ZTHING; INSERT INTO ZTHING (Z_PK, ZN) VALUES (1, \(Self.sql(number)))", folder.store)
            let kept = type.stored(number)
            #expect(
                try folder.rows("SELECT ZN, typeof(ZN), ZN = \(Self.sql(kept)) FROM ZTHING") == [
                    Self.text(kept) + (type.isReal || Self.isReal(kept) ? "|'real'|1" : "|'integer'|1")
                ])
            let value: Double =
                switch number {
                case .integer(let value): Double(value)
                case .real(let value): value
                }
            switch type.fit(of: number) {
            case .exact, .rounded: #expect(type != .boolean || value == 0 || value == 1)
            case .misfit(.outOfRange): #expect(value.magnitude > 32_767)
            case .misfit(.fraction): #expect(!type.isReal && value != value.rounded())
            case .misfit(.neitherNoNorYes): #expect(type == .boolean && value != 0 && value != 1)
            }
        }
    }

    private static func isReal(_ number: StoredNumber) -> Bool {
        if case .real = number { true } else { false }
    }

    private static func text(_ number: StoredNumber) -> String {
        switch number {
        case .integer(let value): String(value)
        // SQLite reads negative zero as zero.
        case .real(let value): String(value == 0 ? 0 : value)
        }
    }

    // MARK: - All pairs

    /// One attribute for every pair of types: `a3x5` changes from the fourth type to the sixth.
    private static let pairs = types.indices.flatMap { from in types.indices.map { (from, $0) } }

    private static func version(_ type: ((Int, Int)) -> Int, extra: String = "") -> String {
        model(entity("Thing", extra, pairs.map { attribute("a\($0.0)x\($0.1)", name(types[type($0)])) }.joined()))
    }

    private static let columnNames = pairs.map { "ZA\($0.0)X\($0.1)" }.joined(separator: ", ")

    /// Rows that fit in every version when the types change and change back.
    private static let rows: String = {
        let values = pairs.map { pair in
            let (from, to) = (types[pair.0], types[pair.1])
            return [nil]
                + numbers.map { from.stored($0) }.filter { number in
                    if case .misfit = to.fit(of: number) { return false }
                    if case .misfit = from.fit(of: to.stored(number)) { return false }
                    return true
                }
        }
        let lines = (0..<50).map { row in
            "(\(row + 1), 1, 1, "
                + values.map { sql($0[row % $0.count]) }.joined(separator: ", ") + ")"
        }
        return "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, \(columnNames)) VALUES \(lines.joined(separator: ", "));"
    }()

    /// The rows after SQLite has copied them from table to table, as Core Data does.
    private static func copied(_ scenario: Scenario, to version: Int) throws -> [String] {
        func declarations(_ type: ((Int, Int)) -> Int) -> String {
            pairs.map { "ZA\($0.0)X\($0.1) \(types[type($0)].isReal ? "FLOAT" : "INTEGER")" }.joined(separator: ", ")
        }
        let path = scenario.folder + "/copy\(version).sqlite"
        let connection = try Connection(path: path, mode: .create, hardening: .own)
        try connection.execute(
            """
            CREATE TABLE v1 (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, \(declarations { $0.0 })); \
            CREATE TABLE v2 (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, \(declarations { $0.1 })); \
            CREATE TABLE v3 (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, \(declarations { $0.0 })); \
            \(rows.replacing("ZTHING", with: "v1")) INSERT INTO v2 SELECT * FROM v1; INSERT INTO v3 SELECT * FROM v2;
            """)
        return try Database.rows("SELECT \(columnNames) FROM v\(version)", in: path)
    }

    @Test(
        "all 36 pairs, there and back: cells as SQLite's own copy makes them, in any batch size, fused or not",
        arguments: [1, 7, 1_024], [true, false])
    func allPairs(batchRows: Int, fuses: Bool) throws {
        let scenario = try Scenario(
            Self.version { $0.0 }, Self.version { $0.1 },
            // An attribute more: without it this would be the first version.
            Self.version({ $0.0 }, extra: attribute("extra")), rows: Self.rows)
        for target in [2, 3] {
            var request = scenario.request(to: "V\(target)", fuses: fuses, batchRows: batchRows)
            request.verification = .full
            let path = try EngineRun.output(request, as: "V\(target).sqlite")
            #expect(
                try Database.rows("SELECT \(Self.columnNames) FROM ZTHING", in: path)
                    == Self.copied(scenario, to: target))
        }
        var request = scenario.request(to: "V3", fuses: fuses, batchRows: batchRows)
        request.verification = .full
        let outcome = try Migration(request).run()
        #expect(try Database.dump(scenario.store) == Database.dump(scenario.folder + "/V3.sqlite"))
        #expect(outcome.prepared.steps.count == (fuses ? 1 : 2))
    }

    // MARK: - Values that aren't numbers, and cells that belong to no attribute of their row

    @Test(
        "texts and binary data in a column of numbers are carried as they are, and counted", arguments: [true, false])
    func otherClasses(fuses: Bool) throws {
        let scenario = try Scenario(
            model(entity("Thing", attribute("n", "Integer 64"), attribute("m", "Integer 64"))),
            model(entity("Thing", attribute("n", "Double"), attribute("m", "Integer 16"))),
            model(entity("Thing", attribute("n", "Float"), attribute("m", "Integer 32"))),
            rows: """
                INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZN, ZM) VALUES
                (1, 1, 1, 'word', x'01'), (2, 1, 1, x'3132', 'zwölf'), (3, 1, 1, '', ''), (4, 1, 1, 5, 5);
                """)
        var request = scenario.request(to: "V3", fuses: fuses)
        request.verification = .full
        let outcome = try Migration(request).run()
        #expect(
            try scenario.rows("SELECT ZN, ZM FROM ZTHING") == [
                "'word'|x'01'", "x'3132'|'zw\\c3\\b6lf'", "''|''", "5.0|5",
            ])
        #expect(
            outcome.warnings.contains(
                "V2: Thing.n: Integer 64 → Double: values that aren't numbers and are carried as they are: 3"))
    }

    @Test("cells of attributes that the row's entity doesn't have aren't checked; the column's affinity applies")
    func foreignCells() throws {
        func version(_ type: String) -> String {
            model(
                entity("Base", attribute("x")), entity("Left", parent: "Base", attribute("n", type)),
                entity("Right", parent: "Base"))
        }
        let rows = """
            INSERT INTO ZBASE (Z_PK, Z_ENT, Z_OPT, ZN) VALUES (1, 2, 1, 1.0), (2, 3, 1, 1.5), (3, 3, 1, 7.0), (4, 1, 1, NULL);
            """
        var results: [[String]] = []
        for fuses in [true, false] {
            let scenario = try Scenario(version("Double"), version("Integer 16"), version("Float"), rows: rows)
            var request = scenario.request(to: "V2", fuses: fuses)
            request.verification = .full
            let path = try EngineRun.output(request, as: "V2.sqlite")
            #expect(try Database.rows("SELECT Z_PK, ZN FROM ZBASE", in: path) == ["1|1", "2|1.5", "3|7", "4|NULL"])
            request.target = "V3"
            results.append(try Database.dump(try EngineRun.output(request, as: "V3.sqlite")))
        }
        #expect(results[0] == results[1])
    }

    @Test(
        "a default that fills the rows of all entities of its table is converted with them", arguments: ["7", "70000"])
    func filledCells(value: String) throws {
        func version(_ type: String?, _ extra: String = "") -> String {
            model(
                entity("Base", attribute("x"), extra),
                entity("Left", parent: "Base", type.map { attribute("n", $0, default: value) } ?? ""),
                entity("Right", parent: "Base"))
        }
        let scenario = try Scenario(
            version(nil), version("Integer 32"), version("Double"), version("Float", attribute("y")),
            rows: "INSERT INTO ZBASE (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 2, 1), (3, 3, 1);")
        let results = try [true, false].map { fuses in
            var request = scenario.request(to: "V4", fuses: fuses)
            request.verification = .full
            return try EngineRun.output(request, as: "\(fuses).sqlite")
        }
        #expect(try Database.dump(results[0]) == Database.dump(results[1]))
        #expect(
            try Database.rows("SELECT Z_PK, ZN FROM ZBASE", in: results[0])
                == (1...3).map { "\($0)|\(value).0" })
    }

    @Test("the default of the new type replaces NULL, in steps that run as one too", arguments: [true, false])
    func defaults(fuses: Bool) throws {
        let scenario = try Scenario(
            model(entity("Thing", attribute("n", "Boolean"), attribute("m", "Integer 32"))),
            model(
                entity(
                    "Thing", attribute("n", "Integer 16", optional: false, default: "7"), attribute("m", "Float"),
                    attribute("new", "Integer 64", default: "9007199254740993"))),
            model(
                entity(
                    "Thing", attribute("k", "Double", optional: false, default: "8", was: "n"),
                    attribute("m", "Double", optional: false, default: "0.1"), attribute("new", "Double"))),
            rows: """
                INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZN, ZM) VALUES (1, 1, 1, NULL, NULL), (2, 1, 1, 1, 3), (3, 1, 1, 0, 4);
                """)
        var request = scenario.request(to: "V3", fuses: fuses)
        request.verification = .full
        let outcome = try Migration(request).run()
        #expect(
            try scenario.rows("SELECT ZK, ZM, ZNEW FROM ZTHING") == [
                "7.0|0.1|9007199254740992.0", "1.0|3.0|9007199254740992.0", "0.0|4.0|9007199254740992.0",
            ])
        #expect(outcome.prepared.steps.count == (fuses ? 1 : 2))
    }

    @Test("composite leaves, renamed attributes and attributes that move up and down the hierarchy convert")
    func places() throws {
        func version(_ type: String, up: Bool, _ name: String, _ leaf: String) -> String {
            let n = attribute(name, type, was: name == "n" ? nil : "n")
            return model(
                entity("Base", up ? n : ""), entity("Left", parent: "Base", up ? "" : n),
                entity("Right", parent: "Base", up ? "" : n),
                entity("Place", #"<attribute name="at" optional="YES" attributeType="Composite" composite="P"/>"#),
                "<composite name=\"P\">\(attribute("lat", leaf))</composite>")
        }
        let scenario = try Scenario(
            version("Boolean", up: false, "n", "Integer 32"), version("Double", up: true, "m", "Double"),
            version("Integer 16", up: false, "k", "Float"),
            rows: """
                INSERT INTO ZPLACE (Z_PK, Z_ENT, Z_OPT, ZLAT) VALUES (1, 4, 1, 7), (2, 4, 1, NULL);
                INSERT INTO ZBASE (Z_PK, Z_ENT, Z_OPT, ZN, ZN1) VALUES (1, 2, 1, 1, NULL), (2, 3, 1, NULL, 0), (3, 3, 1, NULL, 1);
                """)
        let dumps = try [true, false].map { fuses in
            var request = scenario.request(to: "V3", fuses: fuses)
            request.verification = .full
            return try EngineRun.output(request, as: "\(fuses).sqlite")
        }
        #expect(try Database.dump(dumps[0]) == Database.dump(dumps[1]))
        #expect(try Database.rows("SELECT ZLAT FROM ZPLACE", in: dumps[0]) == ["7.0", "NULL"])
        #expect(
            try Database.rows("SELECT Z_PK, coalesce(ZK, ZK1) FROM ZBASE", in: dumps[0]) == ["1|1", "2|0", "3|1"])
    }

    @Test(
        "derived attributes, fetch indexes and unique constraints over converted attributes", arguments: [true, false])
    func dependents(fuses: Bool) throws {
        func version(_ type: String, _ total: String) -> String {
            let derivation = #"derived="YES" derivationExpression="books.@count""#
            return model(
                entity(
                    "Author", attribute("number", type), attribute("total", total, extra: derivation),
                    toMany("books", "Book", inverse: "author"),
                    """
                    <fetchIndex name="byNumber"><fetchIndexElement property="number" type="Binary" order="descending"/>\
                    </fetchIndex><uniquenessConstraints><uniquenessConstraint><constraint value="number"/>\
                    </uniquenessConstraint></uniquenessConstraints>
                    """),
                entity("Book", toOne("author", "Author", inverse: "books")))
        }
        let scenario = try Scenario(
            version("Integer 32", "Integer 64"), version("Double", "Integer 16"), version("Integer 64", "Double"),
            rows: """
                INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZTOTAL) VALUES (1, 1, 1, 5, 2), (2, 1, 1, 6, 0);
                INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZAUTHOR) VALUES (1, 2, 1, 1), (2, 2, 1, 1);
                """)
        var request = scenario.request(to: "V3", fuses: fuses)
        request.verification = .full
        _ = try Migration(request).run()
        #expect(try scenario.rows("SELECT ZNUMBER, ZTOTAL FROM ZAUTHOR") == ["5|2.0", "6|0.0"])
        #expect(
            try scenario.rows("SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'ZAUTHOR'")
                != ["0"])
    }
}
