import CausewayEngine
import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewayPreparation
import CausewaySQLite
import CausewayStores
import Foundation
import Testing

/// Chains of mapping models: steps that run together make the same store as steps that run one by one.
@Suite("Steps with mapping models that run together", .timeLimit(.minutes(60)))
struct FusedMappingTests {
    private static func request(
        _ scenario: Scenario, _ chain: Chain, output: String, fuses: Bool = true, engine: EngineChoice = .auto,
        batchRows: Int = 1_024, jobs: Int = 2
    ) -> MigrationRequest {
        var request = scenario.request(
            to: scenario.lastVersion, output: scenario.folder + "/" + output, batchRows: batchRows, jobs: jobs,
            engine: engine)
        var code = MigrationCode()
        for mapping in chain.mappings() { code.add(mapping) }
        (request.code, request.fusesSteps) = (code, fuses)
        if chain.fallsBack { request.violations = .useDefault }
        return request
    }

    /// `CAUSEWAY_CHAIN=policy` leaves those of which the description has this word.
    static let all = (chains + policyChains + betweenChains + families + converting).filter { chain in
        ProcessInfo.processInfo.environment["CAUSEWAY_CHAIN"].map { chain.testDescription.contains($0) } ?? true
    }

    /// The first line that differs: all of them would take minutes to print.
    private static func difference(_ found: [String], _ expected: [String]) -> String? {
        if found == expected { return nil }
        return zip(found, expected).first { $0 != $1 }.map { "\($0)" } ?? "\(found.count), \(expected.count) lines"
    }

    private static func bytes(_ path: String?) throws -> Data { try Data(contentsOf: URL(filePath: #require(path))) }

    @Test(
        "make the rows of single steps, and the same bytes for any batches and workers",
        arguments: all)
    func same(_ chain: Chain) throws {
        let scenario = try Scenario(versions: chain.versions, rows: chain.rows(5_000))
        for (place, engine) in [EngineChoice.statements, .auto].enumerated() {
            let request = Self.request(scenario, chain, output: "single-\(place)", fuses: false, engine: engine)
            _ = try Migration(request).run()
        }
        let expected = try Database.dump(scenario.folder + "/single-0")
        #expect(Self.difference(try Database.dump(scenario.folder + "/single-1"), expected) == nil)
        var first: Data?
        for (jobs, batchRows) in [(1, 1_024), (2, 7), (4, 1_000)] {
            let request = Self.request(scenario, chain, output: "fused-\(jobs)", batchRows: batchRows, jobs: jobs)
            var (barriers, begun): ([String?], [[String]]) = ([], [])
            let rerun = try scenario.rerun(request)
            for event in rerun.events {
                if case .prepared(let prepared) = event { barriers = prepared.fusion.barriers }
                if case .stepBegan(let versions, _, _, _) = event { begun.append(versions) }
            }
            #expect(barriers.dropFirst().map { $0 == nil } == chain.together, "\(barriers)")
            #expect(begun.count == 1 + chain.together.count { $0 == chain.fallsBack } + (chain.fallsBack ? 1 : 0))
            #expect(rerun.warnings.contains { $0.contains("one by one") } == chain.fallsBack)
            let bytes = try Self.bytes(request.output)
            if let first { #expect(bytes == first, "\(jobs) workers") }
            if bytes != first {
                #expect(Self.difference(try Database.dump(try #require(request.output)), expected) == nil)
            }
            first = first ?? bytes
        }
    }

    @Test("rows that a policy appends to ordered relationships have the same places on both engines")
    func appended() throws {
        let chain = Self.appending
        let scenario = try Scenario(versions: chain.versions, rows: chain.rows(2_000))
        for (place, engine) in [EngineChoice.statements, .auto].enumerated() {
            _ = try Migration(Self.request(scenario, chain, output: "made-\(place)", engine: engine)).run()
        }
        let expected = try Database.dump(scenario.folder + "/made-0")
        #expect(Self.difference(try Database.dump(scenario.folder + "/made-1"), expected) == nil)
    }

    @Test("whose rows statements write are the same bytes for any batches, workers, and stops", arguments: all)
    func bytesByStatement(_ chain: Chain) throws {
        let scenario = try Scenario(versions: chain.versions, rows: chain.rows(3_000))
        var first: Data?
        for (jobs, batchRows) in [(1, 1_024), (3, 7), (2, 300)] {
            var request = Self.request(
                scenario, chain, output: "made-\(jobs)", engine: .statements, batchRows: batchRows, jobs: jobs)
            request.options.mappingBatchRows = 1_024
            if jobs == 2 {
                request.options.checkpointInterval = 0
                _ = try Scenario.isStopped(request, atProgress: 3)
                request.options.jobs = 1
            }
            if try !FileManager.default.fileExists(atPath: #require(request.output)) {
                _ = try Migration(request).run()
            }
            let bytes = try Self.bytes(request.output)
            if let first { #expect(bytes == first, "\(jobs) workers") }
            first = first ?? bytes
        }
    }

    @Test(
        "a link to no row ends, though a new row gets its key", arguments: [EngineChoice.auto, .statements],
        [true, false])
    func beyond(engine: EngineChoice, fuses: Bool) throws {
        let chain = Self.beyond
        let scenario = try Scenario(versions: chain.versions, rows: chain.rows(1_000))
        _ = try Migration(Self.request(scenario, chain, output: "made", fuses: fuses, engine: engine)).run()
        let store = try Connection(path: scenario.folder + "/made", mode: .readOnly, hardening: .own)
        var links = try store.prepare("SELECT count(*), sum(ZA IS NULL), sum(ZA = ZX) FROM ZREM")
        let hasLinks = try links.step()
        try #require(hasLinks)
        #expect((0...2).map { links.int64(at: $0) } == [1_000, 111, 889])
    }

    /// Whatever a run is given that goes on with another's work.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Progress events after which a run stops: among the first rows, and later, among links.
        let stops: [Int]
        var verification = VerificationLevel.quick
        var engine = EngineChoice.auto
        var fuses = true
    }

    @Test(
        "make the same rows after a stop at any progress, whatever the next run is given",
        arguments: all,
        [
            Change(testDescription: "the same", stops: [1, 13]),
            Change(testDescription: "full", stops: [2, 15], verification: .full),
            Change(testDescription: "none", stops: [3, 11], verification: .none),
            Change(testDescription: "--no-fuse", stops: [2, 17], fuses: false),
            Change(testDescription: "statements", stops: [1, 20], engine: .statements),
        ])
    func stopped(_ chain: Chain, _ change: Change) throws {
        let scenario = try Scenario(versions: chain.versions, rows: chain.rows(3_000))
        let whole = Self.request(scenario, chain, output: "whole", batchRows: 300)
        _ = try Migration(whole).run()
        let bytes = try Self.bytes(whole.output)
        // One of two, in turn: each chain has both, and so has each change.
        let turn = (Self.all.firstIndex { $0.testDescription == chain.testDescription } ?? 0) + change.stops[0]
        let stop = change.stops[turn % 2]
        var request = Self.request(scenario, chain, output: "stopped", batchRows: 300)
        request.options.checkpointInterval = 0
        if try Scenario.isStopped(request, atProgress: stop) {
            (request.options.batchRows, request.options.jobs) = (7, 3)
            // Not after every seven rows: a commit takes milliseconds on a slow disk.
            request.options.checkpointInterval = 5
            (request.verification, request.options.engine) = (change.verification, change.engine)
            request.fusesSteps = change.fuses
            if chain.composes, !change.fuses { request.resume = .restart }
            _ = try Migration(request).run()
        }
        let isSame = try Self.bytes(request.output) == bytes
        if !isSame {
            let expected = try Database.dump(scenario.folder + "/whole")
            let found = try Database.dump(scenario.folder + "/stopped")
            #expect(Self.difference(found, expected) == nil, "stopped at \(stop)")
        }
        if change.verification == .quick, change.engine == .auto, change.fuses { #expect(isSame) }
    }

    @Test(
        "end with the error of the step whose rule a row breaks, as single steps do",
        arguments: [left, mandatory, failing, demanding, narrowing, failingPolicy, breakingPolicy])
    func violations(_ chain: Chain) throws {
        let scenario = try Scenario(versions: chain.versions, rows: chain.rows(2_000))
        let errors = try [true, false].map { fuses in
            try failure { _ = try Migration(Self.request(scenario, chain, output: "x", fuses: fuses)).run() }
        }
        #expect(!errors[0].details.isEmpty)
        #expect(errors[0].details == errors[1].details)
        #expect(errors[0].message == errors[1].message)
        #expect(errors[0].kind == errors[1].kind)
    }

    @Test("are told from those that can't, with the reason")
    func barriers() throws {
        func barriers(_ request: MigrationRequest) throws -> [String] {
            try Migration(request).plan().fusion.barriers.dropFirst().map { $0 ?? "" }
        }
        let scenario = try Scenario(versions: Self.needing.versions, rows: Self.rows(100))
        let request = Self.request(scenario, Self.needing, output: "x")
        #expect(try barriers(request) == ["“LineToLine” reads more of “V2” than the row itself", ""])
        var other = request
        other.fusesSteps = false
        #expect(try barriers(other) == ["--no-fuse", "--no-fuse"])
        other = request
        other.verification = .full
        #expect(try barriers(other)[1].hasPrefix("--verify full"))
        other = request
        other.keyMap = scenario.folder + "/keys"
        #expect(try barriers(other)[1].hasPrefix("--key-map"))
        other = request
        other.options.engine = .statements
        #expect(try barriers(other)[1].contains("statements"))
    }

    @Test("an inferred step after mapping models isn't refused for a rule that nobody else compiles")
    func unknownRule() throws {
        let chain = Chain(
            testDescription: "",
            versions: [
                Self.version(), Self.version(attribute("more")),
                Self.version(attribute("more", extra: "regularExpressionString=\"(\"")),
            ], together: []
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Line")
                    TransformEntity("Maker")
                }
            ]
        }
        let scenario = try Scenario(versions: chain.versions, rows: chain.rows(100))
        let rerun = try scenario.rerun(Self.request(scenario, chain, output: "x"))
        guard
            case .prepared(let prepared)? = rerun.events.first(where: { if case .prepared = $0 { true } else { false } }
            )
        else {
            Issue.record("no plan")
            return
        }
        #expect(prepared.fusion.barriers.last??.contains("can't be checked") == true)
    }
}
