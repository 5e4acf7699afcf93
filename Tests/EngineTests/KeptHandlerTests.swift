import CausewayEngine
import CausewayObjects
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// Tables that stay in a step with handlers: handlers change rows, so these tables are counted before.
@Suite("Tables that stay, with handlers", .timeLimit(.minutes(60)))
struct KeptHandlerTests {
    static func request(_ scenario: Scenario, _ level: VerificationLevel) throws -> MigrationRequest {
        var request = KeptTableTests.careful(scenario)
        request.verification = level
        request.code.stages = try StagedMigration([
            CustomMigrationStage(migratingFrom: "V1", to: "V2", didMigrate: { _, _ in })
        ])
        return request
    }

    /// Stops as the handlers begin; then `sql` is run in the new store.
    private static func interrupted(_ level: VerificationLevel, _ sql: String) throws -> Scenario {
        let scenario = try KeptTableTests.scenario()
        // No object can have such a key.
        try Scenario.execute("DELETE FROM ZNOTE WHERE Z_PK < 1", scenario.store)
        try scenario.interrupt(request(scenario, level)) { event in
            if case .phaseBegan(let title) = event { title.contains("didMigrate") } else { false }
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: scenario.workDirectory)
        let staging = try #require(names.first { $0.hasPrefix("step-") && $0.hasSuffix(".sqlite") })
        if !sql.isEmpty { try Scenario.execute(sql, scenario.workDirectory + "/" + staging) }
        return scenario
    }

    @Test("pass where they are complete", arguments: [VerificationLevel.quick, .full])
    func complete(level: VerificationLevel) throws {
        let scenario = try Self.interrupted(level, "")
        let run = try scenario.rerun(Self.request(scenario, level))
        #expect(!run.warnings.contains { $0.contains("starts over") }, "\(run.warnings)")
        #expect(try scenario.rows("SELECT count(*) FROM Z_6TAGS") == ["2600"])
    }

    @Test(
        "are compared with the source",
        arguments: [
            ("DELETE FROM Z_6TAGS WHERE rowid = 5", "Z_6TAGS: 2600 rows in the source, the handlers found 2599"),
            ("DELETE FROM ZTAG WHERE Z_PK = 2", "ZTAG: 2 rows in the source, the handlers found 1"),
            ("DELETE FROM own WHERE rowid = 7", "own: 2 rows in the source, 1 are there"),
        ])
    func lost(sql: String, finding: String) throws {
        let scenario = try Self.interrupted(.quick, sql)
        let error = try failure { _ = try scenario.rerun(Self.request(scenario, .quick)) }
        #expect(error.kind == .verification && error.details.contains { $0.contains(finding) }, "\(error)")
    }

    @Test("of the app's own are compared value by value")
    func changed() throws {
        let scenario = try Self.interrupted(.full, "UPDATE own SET a = 8 WHERE rowid = 7")
        let error = try failure { _ = try scenario.rerun(Self.request(scenario, .full)) }
        #expect(error.kind == .verification && error.details.contains { $0.contains("own") }, "\(error)")
    }

    @Test("no object can have a key below 1: such a row ends the run before anything is written")
    func keysBelowOne() throws {
        let scenario = try KeptTableTests.scenario()
        let before = try Data(contentsOf: URL(filePath: scenario.store))
        let error = try failure { _ = try scenario.rerun(Self.request(scenario, .none)) }
        #expect(error.kind == .sourceData && error.details.contains { $0.contains("ZNOTE") }, "\(error)")
        #expect(try Data(contentsOf: URL(filePath: scenario.store)) == before)
    }
}
