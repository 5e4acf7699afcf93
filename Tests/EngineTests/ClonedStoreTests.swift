import CausewayEngine
import CausewayPlanning
import CausewayPreparation
import CausewaySQLite
import CausewayStores
import Foundation
import Testing

/// A new store that begins with the source's own extents. Kept tables aren't read then, but at `full`.
@Suite(
    "Cloned stores", .timeLimit(.minutes(60)),
    .enabled(if: SharingFolder.isPossible, "XFS on a loop device needs Linux, root and mkfs.xfs (xfsprogs)"))
struct ClonedStoreTests {
    private let disk: SharingFolder

    init() throws { disk = try SharingFolder() }

    /// ZNOTE and ZKIND stay, with their entities' numbers.
    private static func scenario(rows: String = "", on disk: SharingFolder? = nil) throws -> Scenario {
        let scenario = try Scenario(
            versions: [KeptTableTests.versions[0], KeptTableTests.late], rows: KeptTableTests.rows + rows,
            in: disk?.url ?? FileManager.default.temporaryDirectory)
        // Without pointer maps SQLite checks files as wholes.
        try Scenario.execute("PRAGMA auto_vacuum = 2; VACUUM", scenario.store)
        return scenario
    }

    @Test(
        "have the rows and the bytes of copied ones, and say what wasn't read", arguments: VerificationLevel.allCases,
        [1, 4])
    func same(level: VerificationLevel, jobs: Int) throws {
        let (clone, copy) = (try Self.scenario(on: disk), try Self.scenario())
        var unread: [Int] = []
        for scenario in [clone, copy] {
            var request = scenario.request(to: "V2", jobs: jobs, engine: .pages)
            request.verification = level
            unread.append(try Migration(request).run().unreadBytes)
        }
        #expect(try Data(contentsOf: URL(filePath: clone.store)) == Data(contentsOf: URL(filePath: copy.store)))
        #expect(try clone.rows("PRAGMA integrity_check") == ["'ok'"])
        #expect((unread[0] == 0) == (level == .full) && unread[1] == 0, "\(unread)")
    }

    @Test("`full` ends a link to an entity that isn't its target's, as where rows are read", arguments: [7, 99, -1])
    func unknownTarget(number: Int) throws {
        let odd = "UPDATE ZNOTE SET Z3_KIND = \(number) WHERE Z_PK = 1500;"
        let (clone, other) = (try Self.scenario(rows: odd, on: disk), try Self.scenario(rows: odd))
        var request = clone.request(to: "V2", engine: .pages)
        request.verification = .full
        let run = try clone.rerun(request)
        _ = try Migration(other.request(to: "V2", engine: .statements)).run()
        #expect(run.warnings.contains { $0.contains("ZNOTE") && $0.contains("starts over") }, "\(run.warnings)")
        #expect(try KeptTableTests.content(clone.store) == KeptTableTests.content(other.store))
    }

    @Test("`full` ends with a row of an entity that the model doesn't have", arguments: ["ZNOTE", "ZKIND"])
    func unknownEntity(table: String) throws {
        let clone = try Self.scenario(rows: "UPDATE \(table) SET Z_ENT = 99 WHERE Z_PK = 30;", on: disk)
        let before = try Data(contentsOf: URL(filePath: clone.store))
        var request = clone.request(to: "V2", engine: .pages)
        request.verification = .full
        let error = try failure { _ = try Migration(request).run() }
        #expect(error.kind == .sourceData, "\(error)")
        #expect(try Data(contentsOf: URL(filePath: clone.store)) == before)
    }

    @Test(
        "damage in a kept table is found by `full`, and said to be the source's", arguments: VerificationLevel.allCases)
    func damage(level: VerificationLevel) throws {
        for disk in [disk, nil] {
            let scenario = try Self.scenario(on: disk)
            try scenario.change(scenario.store) { bytes in
                // An overflow page of a text: its chain goes on at a page that isn't there.
                let pages = stride(from: 0, to: bytes.count, by: 4_096)
                let page = pages.first { page in
                    bytes[page + 4..<page + 4_096].allSatisfy { $0 == UInt8(ascii: "x") }
                }
                #expect(page != nil)
                if let page { bytes[page] = 0xFF }
            }
            let before = try Data(contentsOf: URL(filePath: scenario.store))
            var request = scenario.request(to: "V2", engine: .pages)
            request.verification = level
            if level == .none || level == .quick && disk != nil {
                _ = try Migration(request).run()
                continue
            }
            let error = try failure { _ = try Migration(request).run() }
            #expect(error.kind == .sourceData, "\(error)")
            #expect(
                error.message.contains(scenario.store) && !error.message.contains(scenario.workDirectory), "\(error)")
            #expect(try Data(contentsOf: URL(filePath: scenario.store)) == before)
        }
    }
}
