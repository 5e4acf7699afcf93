import CausewayEngine
import CausewayObjects
import CausewayPlanning
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// Entity mappings whose rows keep their keys in one table: it is read once, and each row is made by the mapping of its
/// entity.
@Suite("Rows of several mappings in one table", .timeLimit(.minutes(60)))
struct MappedHierarchyTests {
    private static func bytes(_ path: String?) throws -> Data { try Data(contentsOf: URL(filePath: #require(path))) }

    private static func scenario(_ change: Change, rows count: Int) throws -> Scenario {
        try Scenario(version(), change.target, rows: rows(count))
    }

    /// What a run has said of its passes, and how many mappings it made pages of.
    private struct Told {
        var passes: [String] = []
        var begun: [String] = []
        var byPages = 0

        mutating func receive(_ event: EngineEvent) {
            switch event {
            case .prepared(let prepared): byPages = prepared.steps[0].methods.mappingsByPages.count
            case .passBegan(let title): begun.append(title)
            case .passEnded(let title, let rows, let dropped, _): passes.append("\(title) \(rows) \(dropped)")
            default: break
            }
        }
    }

    @Test("are the same by pages and by statements, and the same bytes for any batches and workers", arguments: changes)
    func same(_ change: Change) throws {
        let scenario = try Self.scenario(change, rows: 2_500)
        var statements = scenario.request(by: change.mapping(), .statements, output: "statements")
        statements.keyMap = scenario.folder + "/statements.jsonl"
        var expectedTold = Told()
        let outcome = try Migration(statements) { expectedTold.receive($0) }.run()
        let expected = try Database.dump(scenario.folder + "/statements")
        let keys = try String(contentsOfFile: try #require(statements.keyMap), encoding: .utf8)
        var first: Data?
        for (place, batchRows) in [1_024, 7, 1].enumerated() {
            for jobs in [1 + place, 4] {
                let name = "pages-\(batchRows)-\(jobs)"
                var request = scenario.request(
                    by: change.mapping(), .auto, output: name, batchRows: batchRows, jobs: jobs)
                request.keyMap = scenario.folder + "/\(name).jsonl"
                var told = Told()
                let found = try Migration(request) { told.receive($0) }.run()
                #expect(told.byPages == change.byPages)
                #expect(told.passes.sorted() == expectedTold.passes.sorted())
                #expect(told.begun.sorted() == expectedTold.begun.sorted())
                #expect((found.rows, found.dropped) == (outcome.rows, outcome.dropped))
                #expect(try String(contentsOfFile: try #require(request.keyMap), encoding: .utf8) == keys)
                let bytes = try Self.bytes(request.output)
                if let first { #expect(bytes == first, "\(batchRows) rows, \(jobs) workers") }
                if bytes != first {
                    let dump = try Database.dump(scenario.folder + "/" + name)
                    #expect(
                        dump == expected, "\(zip(dump, expected).first { $0 != $1 }.map { "\($0)\n\($1)" } ?? "lines")")
                }
                first = first ?? bytes
            }
        }
    }

    @Test("are the same bytes after a stop at any progress", arguments: changes)
    func stopped(_ change: Change) throws {
        let scenario = try Self.scenario(change, rows: 9_000)
        let whole = scenario.request(by: change.mapping(), .auto, output: "whole")
        _ = try Migration(whole).run()
        let expected = try Self.bytes(whole.output)
        for stop in [1, 2, 3, 5, 8] {
            var request = scenario.request(by: change.mapping(), .auto, output: "stopped")
            request.options.checkpointInterval = 0
            if try Scenario.isStopped(request, atProgress: stop) {
                (request.options.batchRows, request.options.jobs, request.verification) = (7, 3, .full)
                request.options.checkpointInterval = 5
                _ = try Migration(request).run()
            }
            #expect(try Self.bytes(request.output) == expected, "stopped at \(stop)")
            try FileManager.default.removeItem(atPath: scenario.folder + "/stopped")
        }
    }

    @Test("that break rules are the same by pages and by statements", arguments: [false, true])
    func violations(areRejected: Bool) throws {
        let change = Change(
            testDescription: "",
            target: Self.version(
                attribute("ownerName", optional: false)
                    + attribute("half", "Double", extra: "minValueString=\"1\" maxValueString=\"4\"")), byPages: 6
        ) {
            SwiftMappingModel(from: "V1", to: "V2") {
                for name in ["Bird", "Cat", "Dog", "Puppy"] {
                    TransformEntity(name) {
                        Compute("half", "$source.weight / 2")
                        Compute("ownerName", "$source.owner.name")
                    }
                }
                TransformEntity("Owner")
                TransformEntity("Visit")
            }
        }
        let scenario = try Self.scenario(change, rows: 2_000)
        var results: [[String]] = []
        for (place, engine) in [EngineChoice.auto, .statements].enumerated() {
            var request = scenario.request(by: change.mapping(), engine, output: "made-\(place)")
            if areRejected {
                request.violations = .reject
                request.rejects = scenario.folder + "/rejects-\(place).jsonl"
                _ = try Migration(request).run()
                let rejects = try String(contentsOfFile: try #require(request.rejects), encoding: .utf8)
                results.append(try Database.dump(scenario.folder + "/made-\(place)") + [rejects])
            } else {
                let error = try failure { _ = try Migration(request).run() }
                #expect(!error.details.isEmpty)
                results.append([error.message] + error.details)
            }
        }
        #expect(results[0] == results[1])
    }

    @Test("where one names no entity of the table, none is lost without a word", arguments: [99, 6])
    func strayNumber(_ number: Int) throws {
        let change = Self.changes[0]
        let scenario = try Self.scenario(change, rows: 1_000)
        try Scenario.execute("UPDATE ZANIMAL SET Z_ENT = \(number) WHERE Z_PK = 640", scenario.store)
        let errors = try [EngineChoice.auto, .statements].map { engine in
            try failure { _ = try Migration(scenario.request(by: change.mapping(), engine, output: "x")).run() }
        }
        #expect(errors[0].kind == errors[1].kind)
        #expect((errors[0].message, errors[0].details) == (errors[1].message, errors[1].details))
    }

    @Test("one of an abstract entity is left out and counted, as no mapping can take it")
    func abstractNumber() throws {
        let change = Self.changes[0]
        let scenario = try Self.scenario(change, rows: 1_000)
        try Scenario.execute("UPDATE ZANIMAL SET Z_ENT = 1 WHERE Z_PK = 640", scenario.store)
        let outcomes = try [EngineChoice.auto, .statements].map { engine in
            try Migration(scenario.request(by: change.mapping(), engine, output: "\(engine)")).run()
        }
        #expect((outcomes[0].rows, outcomes[0].dropped) == (outcomes[1].rows, outcomes[1].dropped))
        let dump = try Database.dump(scenario.folder + "/auto")
        #expect(dump == (try Database.dump(scenario.folder + "/statements")))
    }

    @Test("the plan says why statements write the rows of a table")
    func reasons() throws {
        let scenario = try Self.scenario(Self.changes[5], rows: 100)
        let plan = try Migration(scenario.request(by: Self.changes[5].mapping(), .auto, output: "x")).plan()
        let reasons = plan.steps[0].methods.mappings.sorted { $0.key < $1.key }.map { $0.value.reason ?? "" }
        #expect(reasons[2].contains("several mappings fill its table, and the rows of “Young”"))
        #expect(reasons[4] == "other mappings read its rows too")
    }
}
