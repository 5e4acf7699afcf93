import CausewayEngine
import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// Messages about paths that can't be taken.
@Suite("Messages about paths and steps", .timeLimit(.minutes(60)))
struct PathMessageTests {
    private static let text = model(entity("Thing", attribute("pending", "Binary")))
    private static let same = model(entity("Thing", attribute("pending", "Binary"), attribute("more")))
    private static let date = model(entity("Thing", attribute("state", "Date", was: "pending"), attribute("more")))

    private static func scenario() throws -> Scenario { try Scenario(text, same, date, model(entity("Thing"))) }

    private static func failing(
        _ scenario: Scenario, to target: String = "V4", from: String? = nil, through: String? = nil
    ) throws -> EngineError {
        var request = scenario.request(to: target)
        if let from, let through {
            request.code.add(SwiftMappingModel(from: from, to: through) { TransformEntity("Thing", to: "Thing") })
        }
        return try failure { _ = try Migration(request).prepare() }
    }

    @Test("a step that can't be inferred is named with both sides of each change that prevents it")
    func step() throws {
        let error = try Self.failing(try Self.scenario())
        #expect(error.kind == .plan)
        #expect(error.details.count == 1)
        #expect(error.details.first?.hasPrefix("V2 → V3: Thing.state (from pending): ") == true, "\(error)")
    }

    @Test(
        "a mapping model that spans the refused step is named with the option that uses it",
        arguments: [
            ("V1", "V3", "V4", "--next \"V1=V3\" uses it"), ("V2", "V4", "V4", "--next \"V2=V4\" uses it"),
            ("V2", "V4", "V3", "--to \"V4\" --next \"V2=V4\" uses it"),
        ])
    func spanning(from: String, to: String, target: String, advice: String) throws {
        let error = try Self.failing(try Self.scenario(), to: target, from: from, through: to)
        #expect(error.details.count == 2)
        #expect(error.details.last?.contains("(\(from) → \(to)) spans this step: \(advice)") == true, "\(error)")
    }

    @Test("the message's advice works")
    func following() throws {
        let scenario = try Self.scenario()
        var request = scenario.request(to: "V4")
        request.edges = ["V2": "V4"]
        request.code.add(SwiftMappingModel(from: "V2", to: "V4") { TransformEntity("Thing", to: "Thing") })
        #expect(try Migration(request).prepare().path == ["V1", "V2", "V4"])
    }

    @Test("a mapping model of another step isn't named")
    func elsewhere() throws {
        #expect(try Self.failing(try Self.scenario(), from: "V1", through: "V2").details.count == 1)
    }

    @Test("for a path that seems to lead backwards the message names --next and versions.json, not a backup")
    func backwards() throws {
        let scenario = try Self.scenario()
        let store = scenario.folder + "/Later.sqlite"
        try Scenario.makeStore(at: store, model: Self.date)
        var request = scenario.request(to: "V1")
        request.store = store
        let error = try failure { _ = try Migration(request).prepare() }
        #expect(error.kind == .plan)
        for word in ["\"V1\"", "\"V3\"", "--next", "versions.json"] { #expect(error.message.contains(word)) }
        #expect(!error.description.contains("backup"))
    }

    private static func mark(_ version: String, in scenario: Scenario) throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>\(version).xcdatamodel</string></dict></plist>
            """
        try Data(text.utf8).write(to: URL(filePath: scenario.models + "/.xccurrentversion"))
    }

    @Test("a warning says when a bundle's first version is marked as the current one")
    func forgottenMark() throws {
        let scenario = try Self.scenario()
        try Self.mark("V1", in: scenario)
        let plan = try Migration(scenario.request()).prepare()
        let says = { (text: String) in text.contains("\"V1\" is marked as the current version") && text.contains("--to")
        }
        #expect(plan.targetVersion == "V1")
        #expect(plan.warnings.contains(where: says))
        // No warning where the target version is given.
        #expect(try !Migration(scenario.request(to: "V2")).prepare().warnings.contains(where: says))
        let store = scenario.folder + "/Later.sqlite"
        try Scenario.makeStore(at: store, model: Self.date)
        var request = scenario.request()
        request.store = store
        #expect(try failure { _ = try Migration(request).prepare() }.details.contains(where: says))
        try Self.mark("V2", in: scenario)
        #expect(try !Migration(scenario.request()).prepare().warnings.contains(where: says))
    }

    @Test("the order of versions.json gives the last version where none is marked")
    func ordered() throws {
        let scenario = try Scenario(Self.text, Self.same)
        try Data(#"{ "order": ["V2", "V1"] }"#.utf8).write(to: URL(filePath: scenario.folder + "/versions.json"))
        #expect(try ModelHistory(reading: scenario.models, edges: [:]).currentVersion == "V1")
    }

    @Test("losses of steps that run as one are named by their step, once", arguments: [true, false])
    func losses(fuses: Bool) throws {
        let full = model(
            entity("Base", attribute("a"), attribute("b")),
            entity("Leaf", parent: "Base", toOne("owner", "Owner", inverse: "leaves")),
            entity("Owner", toMany("leaves", "Leaf", inverse: "owner")), entity("Gone"))
        let scenario = try Scenario(
            full,
            model(
                entity("Base", attribute("b"), attribute("between")), entity("Leaf", parent: "Base"), entity("Owner")),
            model(entity("Base"), entity("Leaf", parent: "Base"), entity("Owner")))
        let steps = try Migration(scenario.request(to: "V3", fuses: fuses)).prepare().steps
        #expect(steps.count == (fuses ? 1 : 2))
        #expect(
            steps.flatMap(\.losses).sorted() == [
                "V1 → V2: will drop Base.a", "V1 → V2: will drop entity Gone and the links to its rows",
                "V1 → V2: will drop the links of Leaf.owner and Owner.leaves", "V2 → V3: will drop Base.b",
            ])
    }
}
