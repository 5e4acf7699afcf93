import CausewayEngine
import CausewayObjects
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// Steps with mapping models: columns that a mapping only copies are compared at `full`.
@Suite("Verification of mapped columns", .timeLimit(.minutes(60)))
struct VerifMappedTests {
    private static func migrate(_ level: VerificationLevel, tampering sql: String) throws {
        let scenario = try Scenario(
            model(entity("Person", attribute("name"), attribute("age", "Integer 32"))),
            model(entity("Contact", attribute("name"), attribute("double", "Integer 32"))),
            rows: """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
                INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME, ZAGE) SELECT i, 1, 1, 'name ' || i, i FROM n;
                """)
        var request = scenario.request(to: "V2")
        request.verification = level
        var code = MigrationCode()
        code.add(
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Person", to: "Contact") {
                    Copy("name")
                    Compute("double", "$source.age * 2")
                }
            })
        request.code = code
        _ = try Migration(request) { event in
            guard case .phaseBegan("verification") = event, !sql.isEmpty else { return }
            do {
                let names = try FileManager.default.contentsOfDirectory(atPath: scenario.workDirectory)
                let staging = try #require(names.first { $0 == "step-1.sqlite" })
                try Scenario.execute(sql, scenario.workDirectory + "/" + staging)
            } catch {
                Issue.record(error)
            }
        }.run()
    }

    @Test("a sound store passes at every level", arguments: VerificationLevel.allCases)
    func sound(level: VerificationLevel) throws {
        try Self.migrate(level, tampering: "")
    }

    @Test("a copied column that differs is found and named; a computed one isn't compared")
    func copied() throws {
        let error = try failure {
            try Self.migrate(.full, tampering: "UPDATE ZCONTACT SET ZNAME = 'x' WHERE Z_PK = 7")
        }
        #expect(error.kind == .verification)
        #expect(error.details.count == 1 && error.details[0].hasPrefix("Contact.name: its values differ"))
        try Self.migrate(.full, tampering: "UPDATE ZCONTACT SET ZDOUBLE = 1 WHERE Z_PK = 7")
    }
}
