import Causeway
import Foundation
import StaffMigrator
import Testing

/// Staff v1 → v2, as Fixtures/README.md says.
@Suite("Staff: value expressions, and functions of the policy and of the manager", .timeLimit(.minutes(60)))
struct StaffTests {
    static let history = ExampleHistory(
        name: "Staff", versions: ["v1", "v2"],
        fills: [
            "v1": """
            UPDATE ZPERSON SET ZPHONE = CASE Z_PK % 8
                WHEN 0 THEN NULL
                WHEN 1 THEN '  +49 30 ' || Z_PK || ' '
                WHEN 2 THEN char(9) || '030 ' || Z_PK || char(10)
                WHEN 4 THEN '   '
                ELSE '030-' || Z_PK
                END
            """
        ], code: StaffMigrator.code)

    /// The mapping model in its file, and in Swift.
    enum Form: CaseIterable {
        case file, swift

        var code: MigrationCode { self == .file ? StaffMigrator.code : StaffMigrator.codeWithMapping }
    }

    @Test("v1 → v2: persons become contacts, with every expression computed", arguments: Form.allCases, [true, false])
    func contacts(_ form: Form, fusesSteps: Bool) async throws {
        let workshop = try Workshop()
        let source = try Self.history.store(at: "v1", in: workshop)
        let result = try await Self.history.migrate(
            source, to: "v2", .init(fusesSteps: fusesSteps), in: workshop, code: form.code)
        #expect(
            try StoreContent.rows(
                "SELECT ZNUMBER, ZNAME, ZPERCENTAGE, ZSALARY, ZPHONE FROM ZCONTACT ORDER BY ZNUMBER", result)
                == StoreContent.rows(
                    """
                    SELECT ZNUMBER, ZNAME, ZPERCENTAGE / 100.0, ZSALARY * 1.04, CASE Z_PK % 8 \
                    WHEN 0 THEN NULL WHEN 4 THEN NULL WHEN 1 THEN '+49 30 ' || Z_PK WHEN 2 THEN '030 ' || Z_PK \
                    ELSE '030-' || Z_PK END FROM ZPERSON ORDER BY ZNUMBER
                    """, source))
        let managers = try StoreContent.rows(Self.managers("ZCONTACT"), result)
        #expect(try managers == StoreContent.rows(Self.managers("ZPERSON"), source))
        #expect(managers.count == 180)
        #expect(try StoreContent.rows("SELECT count(DISTINCT ZMANAGER) FROM ZCONTACT", result) == ["67"])
        #expect(try StoreContent.rows("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY", result) == ["'Contact'|200"])
    }

    private static func managers(_ table: String) -> String {
        """
        SELECT a.ZNUMBER, b.ZNUMBER AS m FROM \(table) AS a JOIN \(table) AS b ON a.ZMANAGER = b.Z_PK ORDER BY a.ZNUMBER
        """
    }

    @Test("the mapping model in Swift gives what the file gives")
    func inSwift() async throws {
        let workshop = try Workshop()
        let source = try Self.history.store(at: "v1", in: workshop)
        let file = try await Self.history.migrate(source, to: "v2", in: workshop, code: Form.file.code)
        let swift = try await Self.history.migrate(source, to: "v2", in: workshop, code: Form.swift.code)
        StoreContent.expectSame(try StoreContent.dump(file), try StoreContent.dump(swift), "file and Swift")
    }

    @Test("a percentage of 101 breaks v2's rule and is named", arguments: Form.allCases)
    func violation(_ form: Form) async throws {
        let workshop = try Workshop()
        let source = try Self.history.store(at: "v1", in: workshop)
        try StoreContent.execute("UPDATE ZPERSON SET ZPERCENTAGE = 101 WHERE Z_PK = 17", source)
        let error = try await #require(throws: MigrationError.self) {
            try await Self.history.migrate(source, to: "v2", in: workshop, as: "refused.sqlite", code: form.code)
        }
        #expect(error.code == .sourceData)
        #expect(error.description.contains("percentage"))
        #expect(error.description.contains("/p17"))
        #expect(!FileManager.default.fileExists(atPath: workshop.path("refused.sqlite")))
    }
}
