import CausewayEngine
import CausewayExamination
import CausewayStores
import Foundation
import Testing

/// Values against the model: everything that Core Data writes is sound, anything else is found.
@Suite("Examination of values", .timeLimit(.minutes(60)))
struct VerifValueTests {
    private static let model = CausewayEngineTests.model(
        entity(
            "Animal", attribute("small", "Integer 16"), attribute("middle", "Integer 32"),
            attribute("large", "Integer 64"), attribute("flag", "Boolean"), attribute("ratio", "Float"),
            attribute("size", "Double"), attribute("born", "Date"), attribute("price", "Decimal"),
            attribute("name", optional: false), attribute("home", "URI"), attribute("tag", "UUID"),
            attribute("face", "Transformable"), attribute("scan", "Binary"), toOne("owner", "Owner", inverse: "pets"),
            toMany("toys", "Toy", ordered: true)),
        entity("Dog", parent: "Animal", attribute("bark", "Integer 16", optional: false)),
        entity("Owner", toMany("pets", "Animal", inverse: "owner")), entity("Toy"))

    /// Animal 1, Dog 2, Owner 3, Toy 4.
    private static let rows = """
        INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZNAME, ZBARK) VALUES (1, 1, 1, 'a', NULL), (2, 2, 1, 'b', 7),
        (3, 1, 1, '', NULL);
        INSERT INTO ZOWNER (Z_PK, Z_ENT, Z_OPT) VALUES (1, 3, 1);
        INSERT INTO ZTOY (Z_PK, Z_ENT, Z_OPT) VALUES (1, 4, 1);
        """

    private static func report(_ sql: String, wal: Bool = false) throws -> StoreExamination.Report {
        let scenario = try Scenario(model, wal: wal, rows: rows)
        try Scenario.execute(sql, scenario.store)
        let store = try SourceStore.reading(StoreLocation(existing: scenario.store))
        defer { store.release() }
        return try StoreExamination(store, history: nil, isQuick: true).run()
    }

    @Test(
        "values that Core Data leaves in a column are sound",
        arguments: [
            "ZSMALL = -32768", "ZSMALL = 32767", "ZMIDDLE = -2147483648", "ZLARGE = -9223372036854775808", "ZFLAG = 0",
            "ZFLAG = 1", "ZRATIO = 2", "ZRATIO = 3.4028234663852886e38", "ZRATIO = 9e999", "ZSIZE = 7",
            "ZSIZE = -9e999", "ZBORN = 0", "ZBORN = 559858027", "ZBORN = 3.5", "ZBORN = -63114076800",
            "ZBORN = 64092211200.0", "ZPRICE = 10.11", "ZPRICE = 5", "ZPRICE = 'NaN'",
            "ZNAME = 'é 日本 😀 ' || char(0) || 'x'", "ZNAME = ''", "ZNAME = '12'", "ZHOME = 'https://example.org/ä'",
            "ZTAG = zeroblob(16)", "ZFACE = x'', ZSCAN = zeroblob(100000)", "ZOWNER = 1",
            // A sibling's column isn't this row's.
            "ZBARK = 'x'",
        ])
    func sound(_ assignment: String) throws {
        let report = try Self.report("UPDATE ZANIMAL SET \(assignment) WHERE Z_PK = 3")
        #expect(report.findings.isEmpty && report.notes.isEmpty, "\(report)")
        #expect(report.rows == 5)
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        let assignment: String
        let kind: StoreFinding.Kind
        let property: String
        let severity: StoreFinding.Severity
        var testDescription: String { assignment }

        init(_ assignment: String, _ kind: StoreFinding.Kind, _ property: String, _ severity: StoreFinding.Severity) {
            (self.assignment, self.kind, self.property, self.severity) = (assignment, kind, property, severity)
        }
    }

    private static let faults = [
        Fault("ZSMALL = 'abc'", .storageClass, "small", .damage),
        Fault("ZSMALL = 1.5", .storageClass, "small", .damage),
        Fault("ZSMALL = 32768", .outOfRange, "small", .inconsistency),
        Fault("ZMIDDLE = 2147483648", .outOfRange, "middle", .inconsistency),
        Fault("ZLARGE = x'00'", .storageClass, "large", .damage),
        Fault("ZFLAG = 2", .outOfRange, "flag", .inconsistency),
        Fault("ZFLAG = 'YES'", .storageClass, "flag", .damage),
        Fault("ZRATIO = 1e39", .outOfRange, "ratio", .inconsistency),
        Fault("ZSIZE = 'abc'", .storageClass, "size", .damage),
        Fault("ZBORN = 'yesterday'", .storageClass, "born", .damage),
        Fault("ZBORN = 64092211201", .outOfRange, "born", .inconsistency),
        Fault("ZBORN = -1e300", .outOfRange, "born", .inconsistency),
        Fault("ZBORN = 9e999", .outOfRange, "born", .inconsistency),
        Fault("ZPRICE = 'ten'", .storageClass, "price", .damage),
        Fault("ZPRICE = x'01'", .storageClass, "price", .damage),
        Fault("ZNAME = CAST(x'61ff62' AS TEXT)", .invalidText, "name", .damage),
        Fault("ZNAME = CAST(x'e282' AS TEXT)", .invalidText, "name", .damage),
        Fault("ZNAME = CAST(x'eda080' AS TEXT)", .invalidText, "name", .damage),
        Fault("ZNAME = printf('%.*c', 100000, 'x') || CAST(x'c0af' AS TEXT)", .invalidText, "name", .damage),
        Fault("ZNAME = x'61'", .storageClass, "name", .damage),
        Fault("ZNAME = NULL", .missingValue, "name", .inconsistency),
        Fault("ZHOME = CAST(x'ff' AS TEXT)", .invalidText, "home", .damage),
        Fault("ZTAG = zeroblob(15)", .storageClass, "tag", .damage),
        Fault("ZTAG = '0E1D2C3B-4A59-4687-8796-A5B4C3D2E1F0'", .storageClass, "tag", .damage),
        Fault("ZFACE = 'text'", .storageClass, "face", .damage),
        Fault("ZSCAN = 5", .storageClass, "scan", .damage),
    ]

    @Test("a value that its attribute can't have is found and named, without its content", arguments: faults)
    func fault(_ fault: Fault) throws {
        let report = try Self.report("UPDATE ZANIMAL SET \(fault.assignment) WHERE Z_PK = 3")
        let finding = try #require(report.findings.first)
        #expect(report.findings.count == 1, "\(report.findings.map(\.message))")
        #expect(finding.kind == fault.kind && finding.severity == fault.severity, "\(finding)")
        #expect(finding.entity == "Animal" && finding.property == fault.property)
        #expect(finding.keys == [3] && finding.rowCount == 1)
        #expect(finding.message.hasPrefix("Animal.\(fault.property) ") && finding.message.hasSuffix("in 1 row (p3)"))
        for content in ["abc", "YES", "yesterday", "ten", "2147483648", "64092211201"] {
            #expect(!finding.message.contains(content), "\(finding.message)")
        }
    }

    @Test("different faults of one column are distinguished, and counted over all its rows")
    func several() throws {
        let report = try Self.report(
            """
            WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 109)
            INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZNAME, ZSMALL)
            SELECT i, 1, 1, CASE i % 2 WHEN 0 THEN x'61' ELSE CAST(x'ff' AS TEXT) END, 70000 FROM n;
            UPDATE Z_PRIMARYKEY SET Z_MAX = 1000;
            """)
        #expect(report.rows == 105)
        let found = Dictionary(grouping: report.findings) { "\($0.property ?? "") \($0.kind.rawValue)" }
        #expect(found["small outOfRange"]?.first?.rowCount == 100)
        #expect(found["name storageClass"]?.first?.keys == Array(stride(from: 10, to: 50, by: 2)))
        #expect(found["name invalidText"]?.first?.rowCount == 50)
        #expect(found.count == 3, "\(report.findings.map(\.message))")
    }

    @Test("a subentity's attribute is checked in its rows only")
    func subentity() throws {
        let report = try Self.report("UPDATE ZANIMAL SET ZBARK = NULL, ZSMALL = 'x' WHERE Z_PK = 2")
        #expect(Set(report.findings.map(\.kind)) == [.missingValue, .storageClass])
        #expect(report.findings.allSatisfy { $0.keys == [2] })
    }

    @Test("a key that is no number is damage, and so is one of an ordered to-many without inverse")
    func keys() throws {
        let report = try Self.report(
            "UPDATE ZANIMAL SET ZOWNER = 'x' WHERE Z_PK = 2; UPDATE ZTOY SET Z1TOYS = 1, Z_FOK_1TOYS = 'x'")
        let damage = report.findings.filter { $0.kind == .storageClass }
        #expect(damage.map { "\($0.entity ?? "").\($0.property ?? "")" }.sorted() == ["Animal.owner", "Animal.toys"])
    }

    private static let composite = CausewayEngineTests.model(
        entity("House", "<attribute name=\"place\" optional=\"YES\" attributeType=\"Composite\" composite=\"Place\"/>"),
        """
        <composite name="Place">\(attribute("street", optional: false))\(attribute("number", "Integer 16"))</composite>
        """)

    @Test("elements of a composite are checked only where there is one")
    func composites() throws {
        let scenario = try Scenario(
            Self.composite,
            rows: """
                INSERT INTO ZHOUSE (Z_PK, Z_ENT, Z_OPT, ZSTREET, ZNUMBER) VALUES (1, 1, 1, NULL, NULL),
                (2, 1, 1, 'Elm', NULL), (3, 1, 1, NULL, 7), (4, 1, 1, 'Oak', 'x');
                """)
        let store = try SourceStore.reading(StoreLocation(existing: scenario.store))
        defer { store.release() }
        let report = try StoreExamination(store, history: nil, isQuick: true).run()
        let found = report.findings.map { "\($0.property ?? "") \($0.kind.rawValue) \($0.keys)" }
        #expect(Set(found) == ["place.street missingValue [3]", "place.number storageClass [4]"], "\(found)")
    }

    @Test("a row with an impossible key is named")
    func lowKey() throws {
        let report = try Self.report("UPDATE ZOWNER SET Z_PK = 0")
        #expect(report.findings.map(\.kind) == [.primaryKeys] && report.findings.first?.keys == [0])
    }

    @Test("a missing column doesn't hide the findings of others")
    func missingColumn() throws {
        let report = try Self.report("ALTER TABLE ZANIMAL DROP COLUMN ZSIZE; UPDATE ZANIMAL SET ZFLAG = 'x'")
        #expect(Set(report.findings.map(\.kind)) == [.schema, .storageClass])
    }

    @Test("every kind of finding has its severity")
    func severities() {
        for kind: StoreFinding.Kind in [.structure, .externalData] { #expect(kind.severity == .damage) }
        for kind: StoreFinding.Kind in [.notChecked, .unreferencedFiles] { #expect(kind.severity == .note) }
        for kind: StoreFinding.Kind in [.asymmetric, .missingValue, .primaryKeys, .dangling, .joinEnd] {
            #expect(kind.severity == .inconsistency)
        }
    }
}
