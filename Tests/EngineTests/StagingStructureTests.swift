import CausewayEngine
import CausewayPreparation
import CausewaySQLite
import CausewayStores
import Foundation
import Testing

/// Pages of a new store that are damaged before it is verified: its tables are checked on several connections.
@Suite("Verification of a copy", .timeLimit(.minutes(60)))
struct StagingStructureTests {
    /// What is written to the file when the verification begins: bytes at an offset of a page.
    private struct Stroke: Sendable {
        var sql: String
        var offset: Int
        var bytes: [UInt8]
    }

    /// A kept table, a patched one, an index, the schema's free pages.
    private static let strokes = [
        Stroke(sql: "SELECT rootpage FROM sqlite_schema WHERE name = 'own'", offset: 0, bytes: [7]),
        Stroke(sql: "SELECT rootpage FROM sqlite_schema WHERE name = 'ZNOTE'", offset: 3, bytes: [0xff, 0xff]),
        Stroke(sql: "SELECT rootpage FROM sqlite_schema WHERE name = 'Z_Note_by'", offset: 5, bytes: [0xff, 0xff]),
        // The count of free pages.
        Stroke(sql: "SELECT 1", offset: 36, bytes: [0, 0, 0, 200]),
    ]

    private static func findings(_ stroke: Stroke, jobs: Int, autoVacuum: Int) throws -> EngineError {
        let scenario = try KeptTableTests.scenario()
        try Scenario.execute("PRAGMA auto_vacuum = \(autoVacuum); VACUUM", scenario.store)
        let request = scenario.request(to: "V2", jobs: jobs, engine: .pages)
        return try failure {
            _ = try Migration(request) { event in
                guard case .phaseBegan("verification") = event else { return }
                do {
                    let names = try FileManager.default.contentsOfDirectory(atPath: scenario.workDirectory)
                    let name = try #require(names.first { $0.hasPrefix("step-") && $0.hasSuffix(".sqlite") })
                    let staging = scenario.workDirectory + "/" + name
                    let found = try Database.rows(stroke.sql, in: staging)[0]
                    let pageSize = try Database.rows("PRAGMA page_size", in: staging)[0]
                    let (page, size) = (try #require(Int(found)), try #require(Int(pageSize)))
                    var data = try Data(contentsOf: URL(filePath: staging))
                    let place = (page - 1) * size + stroke.offset
                    data.replaceSubrange(place..<place + stroke.bytes.count, with: stroke.bytes)
                    try data.write(to: URL(filePath: staging))
                } catch {
                    Issue.record(error)
                }
            }.run()
        }
    }

    @Test("names the same damage for any number of connections", arguments: strokes.indices, [0, 1, 2])
    func sameFindings(stroke: Int, autoVacuum: Int) throws {
        let one = try Self.findings(Self.strokes[stroke], jobs: 1, autoVacuum: autoVacuum)
        let many = try Self.findings(Self.strokes[stroke], jobs: 4, autoVacuum: autoVacuum)
        #expect(one.kind == .verification && many.kind == .verification, "\(one)")
        // A page that is no b-tree page at all can't be read.
        #expect(!one.details.isEmpty || one.message.contains("can't be read"), "\(one)")
        #expect(one.details == many.details)
    }
}
