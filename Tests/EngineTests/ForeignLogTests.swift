import CausewayEngine
import CausewayExamination
import CausewayPreparation
import CausewaySQLite
import CausewayStores
import Foundation
import Testing

/// SQLite plays back any -wal whose own checksums are right.
@Suite("A -wal that doesn't belong to the store", .timeLimit(.minutes(60)))
struct ForeignLogTests {
    private static func scenario(_ text: String) throws -> Scenario {
        let scenario = try Scenario(FailureTests.from, FailureTests.to, rows: FailureTests.rows)
        try scenario.leaveWAL(
            [9, 10].map { "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (\($0), 1, 1, '\(text)')" })
        return scenario
    }

    private static func expectRefused(_ scenario: Scenario, _ reason: String) throws {
        let before = try snapshot(scenario.folder).filter { !$0.key.hasSuffix("-shm") }
        for output in [nil, scenario.folder + "/New.sqlite"] {
            var request = scenario.request(to: "V2")
            request.output = output
            let error = try failure { _ = try Migration(request).run() }
            #expect(error.kind == .sourceData && error.state == .untouched)
            #expect(error.message.hasPrefix("\(scenario.wal): doesn't belong to this store: "), "\(error)")
            #expect(
                error.message.contains(reason) && error.message.hasSuffix("the store by itself is sound"), "\(error)")
            #expect(!error.remedy.contains(".recover") && error.remedy.contains("-wal"))
        }
        #expect(try snapshot(scenario.folder).filter { !$0.key.hasSuffix("-shm") } == before)
    }

    /// Puts a store's log beside another store.
    private static func put(_ from: Scenario, besides scenario: Scenario) throws {
        try scenario.change(scenario.wal) { $0 = try Data(contentsOf: URL(filePath: from.wal)) }
        try? FileManager.default.removeItem(atPath: scenario.store + "-shm")
    }

    @Test("has pages of another size")
    func otherPages() throws {
        let (scenario, other) = (try Self.scenario("one"), try Scenario(FailureTests.from, FailureTests.to, rows: ""))
        try Scenario.execute("PRAGMA page_size = 1024; VACUUM", other.store)
        try other.leaveWAL(["INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (9, 1, 1, 'x')"])
        try Self.put(other, besides: scenario)
        try Self.expectRefused(scenario, "its pages have 1024 bytes, those of the store 4096")
    }

    @Test("has another store's UUID")
    func otherStore() throws {
        let (scenario, other) = (try Self.scenario("one"), try Scenario(FailureTests.from, FailureTests.to, rows: ""))
        let uuid = "11111111-2222-4333-8444-555555555555"
        try other.leaveWAL(["UPDATE Z_METADATA SET Z_UUID = '\(uuid)'"])
        try Self.put(other, besides: scenario)
        try Self.expectRefused(scenario, "with it the store's UUID is \(uuid)")
    }

    @Test("damages the store, which is sound without it")
    func otherMoment() throws {
        func rows(_ first: Int) -> String {
            """
            WITH RECURSIVE n(i) AS (SELECT \(first) UNION ALL SELECT i + 1 FROM n WHERE i < \(first) + 500) \
            INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZTEXT) SELECT i, 1, 1, printf('%.*c', 500, 'y') FROM n;
            """
        }
        // In the log the table's root has children that only the other store's file has.
        let scenario = try Self.scenario("one")
        let other = try Scenario(FailureTests.from, FailureTests.to, rows: FailureTests.rows + rows(100))
        try other.leaveWAL([rows(1_000)])
        try Self.put(other, besides: scenario)
        try Self.expectRefused(scenario, "the store is damaged with it")
    }

    /// Bytes that change: the header's salts and checksum, its page size, the salts of all frames, the first page.
    enum Beginning: CaseIterable {
        case header, pageSize, salts, page
    }

    @Test("of which nothing can be read: the store by itself is migrated", arguments: Beginning.allCases)
    func unreadable(_ beginning: Beginning) throws {
        let scenario = try Self.scenario("one")
        try scenario.change(scenario.wal) { bytes in
            switch beginning {
            case .header: bytes[16] ^= 1
            case .pageSize: bytes[10] ^= 0x30
            case .salts:
                for frame in stride(from: 32, to: bytes.count, by: Scenario.frameLength) { bytes[frame + 8] ^= 1 }
            case .page: bytes[32 + 100] ^= 1
            }
        }
        let outcome = try Migration(scenario.request(to: "V2")).run()
        #expect(outcome.warnings.contains { $0.contains("it doesn't belong to this store, or its beginning") })
        #expect(outcome.walBreak?.readableCommits == 0 && outcome.walBreak?.copy != nil)
        #expect(try scenario.rows("SELECT count(*) FROM ZTHING WHERE Z_PK = 9") == ["0"])
    }
}
