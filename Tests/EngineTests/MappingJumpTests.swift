import CausewayEngine
import CausewayMapping
import CausewayMappingFiles
import CausewayObjects
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// Mapping models that lead over versions of the path.
@Suite("Mapping models that lead over versions", .timeLimit(.minutes(60)))
struct MappingJumpTests {
    /// V1 to V4 with a mapping model for each of these steps.
    private static func scenario(_ steps: [(Int, Int)]) throws -> Scenario {
        let scenario = try FoundMappingModelTests.scenario(versions: 4)
        for (from, to) in steps {
            try scenario.addMapping("\(from)-\(to)", "Model.xcdatamodeld/V\(from)", "Model.xcdatamodeld/V\(to)")
        }
        return scenario
    }

    @Test("from the store's version to the target it replaces the steps, and the plan says so")
    func direct() throws {
        let scenario = try Self.scenario([(1, 4)])
        var request = scenario.request()
        let plan = try Migration(request).prepare()
        #expect(plan.path == ["V1", "V4"])
        #expect(!plan.objectRows.isEmpty)
        let file = scenario.folder + "/1-4.xcmappingmodel"
        #expect(
            plan.mappingWarnings == [
                """
                "V1" → "V4" is one step, by the mapping model \(file); --next "V1=V2" takes the versions in between
                """
            ])
        request.edges = ["V1": "V2"]
        let steps = try Migration(request).prepare()
        #expect(steps.path == ["V1", "V2", "V3", "V4"])
        #expect(steps.objectRows.isEmpty)
        #expect(steps.mappingWarnings == [])
    }

    @Test("a refusal of the one step names the mapping model that led to it, and the option for the steps")
    func refusal() throws {
        let scenario = try Self.scenario([])
        try scenario.addMapping("Map", "Model.xcdatamodeld/V1", "Model.xcdatamodeld/V4", policy: "Missing")
        let error = try failure { _ = try Migration(scenario.request()).prepare() }
        #expect(error.kind == .plan)
        #expect(error.details.last?.hasSuffix("--next \"V1=V2\" takes the versions in between") == true, "\(error)")
    }

    @Test("one that no longer matches, or that is outranked by no step's own, isn't a reason to infer all steps")
    func mismatch() throws {
        let scenario = try Self.scenario([])
        try scenario.addMapping("Map", "Model.xcdatamodeld/V1", "Model.xcdatamodeld/V4", entity: "Gone")
        var request = scenario.request()
        let error = try failure { _ = try Migration(request).prepare() }
        #expect(error.kind == .plan)
        #expect(error.details.first?.contains("exists but doesn't match V1 → V4") == true, "\(error)")
        request.infersDespiteMismatch = true
        #expect(try Migration(request).prepare().path == ["V1", "V2", "V3", "V4"])
        // One of a copy beside the bundle isn't passed over silently.
        let copied = try Self.scenario([])
        try copied.addBundle("Copy")
        try copied.addMapping("Map", "Copy.xcdatamodeld/V1", "Copy.xcdatamodeld/V4")
        #expect(
            try Migration(copied.request()).prepare().mappingWarnings.first?.contains("is for another model, Copy")
                == true)
        // A leftover of unknown versions that fits a step by its content alone doesn't count as the step's own.
        let other = try Self.scenario([(1, 4)])
        try other.addMapping("Old", "Model.xcdatamodeld/A", "Model.xcdatamodeld/B", attributes: ["b"])
        #expect(try Migration(other.request()).prepare().path == ["V1", "V4"])
    }

    @Test("the same with --mapping, and with a mapping model in Swift")
    func givenAndSwift() throws {
        let scenario = try Self.scenario([(1, 3)])
        var request = scenario.request(to: "V3")
        request.mappings = [scenario.folder + "/1-3.xcmappingmodel"]
        #expect(try Migration(request).prepare().path == ["V1", "V3"])
        request.target = "V4"
        let error = try failure { _ = try Migration(request).prepare() }
        #expect(error.details.count == 1)
        #expect(error.details[0].hasSuffix("--next \"V1=V3\" uses it"))
        let plain = try Self.scenario([])
        var other = plain.request()
        other.code.add(SwiftMappingModel(from: "V1", to: "V4") { CopyEntity("Thing") })
        #expect(try Migration(other).prepare().path == ["V1", "V4"])
    }

    @Test("a compiled one is known by its hashes")
    func compiled() throws {
        let scenario = try Self.scenario([(1, 4)])
        let history = try ModelHistory(reading: scenario.models, edges: [:])
        let ends = try (#require(history.hops.first).from, #require(history.hops.last).to)
        let file = scenario.folder + "/1-4.xcmappingmodel"
        let compiled = try MappingModelReader.read(file).resolved(from: ends.0, to: ends.1).compiled()
        try FileManager.default.removeItem(atPath: file)
        try Data(try compiled.compiledBytes()).write(to: URL(filePath: scenario.folder + "/jump.cdm"))
        #expect(try Migration(scenario.request()).prepare().path == ["V1", "V4"])
        #expect(try Migration(scenario.request(to: "V3")).prepare().path == ["V1", "V2", "V3"])
    }

    @Test("where a step has a mapping model of its own, the steps are taken, with a notice")
    func mappedStep() throws {
        let scenario = try Self.scenario([(1, 4), (2, 3)])
        let plan = try Migration(scenario.request()).prepare()
        #expect(plan.path == ["V1", "V2", "V3", "V4"])
        let file = scenario.folder + "/1-4.xcmappingmodel"
        #expect(
            plan.mappingWarnings == [
                """
                mapping model \(file) leads from "V1" to "V4" at once and isn't used, as V2 → V3 has one of its own: \
                --next "V1=V4" uses it
                """
            ])
    }

    @Test("over a part of the path it isn't used, with a notice; beyond the path nothing is said")
    func part() throws {
        let scenario = try Self.scenario([(2, 4)])
        let plan = try Migration(scenario.request()).prepare()
        #expect(plan.path == ["V1", "V2", "V3", "V4"])
        #expect(plan.mappingWarnings.count == 1)
        #expect(plan.mappingWarnings.first?.hasSuffix("isn't used: --next \"V2=V4\" uses it") == true)
        #expect(try Migration(scenario.request(to: "V3")).prepare().mappingWarnings == [])
        var request = scenario.request()
        request.edges = ["V2": "V4"]
        #expect(try Migration(request).prepare().path == ["V1", "V2", "V4"])
    }

    @Test("one whose versions were renamed doesn't replace steps")
    func unnamed() throws {
        let scenario = try Self.scenario([])
        try scenario.addMapping(
            "Map", "Model.xcdatamodeld/First", "Model.xcdatamodeld/V4", attributes: ["name", "a", "b", "c"])
        #expect(try Migration(scenario.request()).prepare().path == ["V1", "V2", "V3", "V4"])
    }

    @Test("reports on the models say what leads over versions")
    func reports() throws {
        func notices(_ steps: [(Int, Int)]) throws -> [String] {
            let scenario = try Self.scenario(steps)
            let history = try ModelHistory(reading: scenario.models, edges: [:])
            return try MappingLibrary(given: [], besideModels: [scenario.models]).jumps(in: history)
                .map { $0.notice(in: history) }
        }
        let taken = try notices([(1, 4)])
        #expect(taken.count == 1)
        #expect(taken.first?.hasSuffix("takes stores of \"V1\" to \"V4\" at once, without \"V2\", \"V3\"") == true)
        let other = try notices([(1, 3)])
        #expect(other.first?.hasSuffix("not on the way to another version: --next \"V1=V3\" does that") == true)
        #expect(try notices([(1, 4), (2, 3)]).first?.contains("as V2 → V3 has one of its own") == true)
        #expect(try notices([(1, 2), (2, 3)]) == [])
    }
}
