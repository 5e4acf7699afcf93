import CausewayEngine
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// What no SQLite writes, and what users ask for that seldom matters: both engines agree.
@Suite("Odd stores and options", .timeLimit(.minutes(60)))
struct OddStoreTests {
    private static let versions = [
        model(entity("Note", attribute("size", "Double"), attribute("other", "Double"))),
        model(
            entity(
                "Note", attribute("size", "Double"), attribute("other", "Double"),
                attribute("rank", "Integer 16", optional: false, default: "7"))),
    ]

    /// A store in which one number is NaN.
    private static func scenario() throws -> Scenario {
        let scenario = try Scenario(
            versions[0], versions[1],
            rows: """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
                INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZSIZE, ZOTHER) \
                SELECT i, 1, 1, CASE i WHEN 77 THEN 1234.5678901 ELSE i / 8.0 END, i / 3.0 FROM n;
                """)
        var bytes = try Data(contentsOf: URL(filePath: scenario.store))
        let pattern = (1234.5678901).bitPattern
        let number = Data((0..<8).map { UInt8(truncatingIfNeeded: pattern >> (56 - 8 * $0)) })
        let place = try #require(bytes.range(of: number))
        bytes.replaceSubrange(place, with: [0x7f, 0xf8, 0, 0, 0, 0, 0, 0])
        try bytes.write(to: URL(filePath: scenario.store))
        return scenario
    }

    @Test("a number that is NaN, which SQLite reads as NULL, becomes NULL", arguments: VerificationLevel.allCases)
    func notANumber(level: VerificationLevel) throws {
        var contents: [[String]] = []
        for engine in [EngineChoice.statements, .pages] {
            for splices in [true, false] {
                let scenario = try Self.scenario()
                var request = scenario.request(to: "V2", engine: engine)
                request.verification = level
                request.options.splices = splices
                _ = try Migration(request).run()
                #expect(try scenario.rows("SELECT typeof(ZSIZE) FROM ZNOTE WHERE Z_PK = 77") == ["'null'"])
                #expect(try scenario.rows("PRAGMA integrity_check") == ["'ok'"])
                contents.append(try Database.dump(scenario.store))
            }
        }
        #expect(Set(contents).count == 1)
    }

    @Test("a limit to the memory gives the same bytes for any number of workers", arguments: [1, 2, 7, 100])
    func memory(jobs: Int) throws {
        let usual = try PageEngineTests.scenario()
        _ = try Migration(usual.request(to: "V2", jobs: 2, engine: .pages)).run()
        let scenario = try PageEngineTests.scenario()
        var request = scenario.request(to: "V2", jobs: jobs, engine: .pages)
        request.options.memoryLimit = 40 << 20
        request.options.pageMemory = 40 << 20
        _ = try Migration(request).run()
        #expect(
            try Data(contentsOf: URL(filePath: scenario.store)) == Data(contentsOf: URL(filePath: usual.store)))
    }

    @Test("workers are as many as the memory for pages has room for")
    func workers() {
        var options = EngineOptions(jobs: 64)
        #expect(options.pageJobs(pageSize: 4_096) == 64)
        options.pageMemory = EngineOptions.defaultPageMemory
        for pageSize in [512, 4_096, 65_536] {
            let jobs = options.pageJobs(pageSize: pageSize)
            let needed = EngineOptions.pageMemoryBytes(jobs: jobs, pageSize: pageSize)
            #expect(jobs == 1 || needed <= EngineOptions.defaultPageMemory)
            #expect(
                jobs == 64
                    || EngineOptions.pageMemoryBytes(jobs: jobs + 1, pageSize: pageSize)
                        > EngineOptions.defaultPageMemory
            )
        }
    }

    @Test(
        "a header that says another largest root page than the schema has loses no row",
        arguments: [EngineChoice.pages, .statements], [1, 5, 0x7fff_ffff, 0x8000_0008, 0xffff_ffff] as [UInt32])
    func largestRootPage(engine: EngineChoice, value: UInt32) throws {
        let scenario = try Scenario(
            model(entity("Kept", attribute("a")), entity("Other", attribute("a"))),
            model(entity("Kept", attribute("a")), entity("Other", attribute("a"), attribute("b")), entity("Third")),
            rows: "INSERT INTO ZKEPT (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 1, 1, 'x'), (2, 1, 1, 'y')")
        try Scenario.execute("PRAGMA auto_vacuum = 2; VACUUM", scenario.store)
        let file = try #require(FileHandle(forUpdatingAtPath: scenario.store))
        try file.seek(toOffset: 52)
        try file.write(contentsOf: Data([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }))
        try file.close()
        let outcome = try Migration(scenario.request(to: "V2", engine: engine)).run()
        #expect(outcome.warnings.contains { $0.contains("max rootpage") }, "\(outcome.warnings)")
        #expect(try scenario.rows("SELECT Z_PK, ZA FROM ZKEPT") == ["1|'x'", "2|'y'"])
        #expect(try scenario.rows("PRAGMA integrity_check") == ["'ok'"])
    }
}
