import Causeway
import Foundation
import Testing

/// Attributes whose numeric type changes, on the command line.
@Suite("Commands on conversions of numbers", .timeLimit(.minutes(60)))
struct ConversionsTests {
    private static func models(_ types: [String], in folder: WorkFolder) throws -> String {
        for (index, type) in types.enumerated() {
            let text = """
                <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"><entity name="Thing">\
                <attribute name="count" attributeType="\(type)" optional="YES"/></entity>\
                <entity name="Part" parentEntity="Thing"/></model>
                """
            let path = folder.path("Model.xcdatamodeld/V\(index + 1).xcdatamodel")
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/contents"))
        }
        return folder.path("Model.xcdatamodeld")
    }

    @Test("models and plan list every conversion once, as text and as JSON")
    func listed() throws {
        let folder = try WorkFolder()
        let models = try Self.models(["Boolean", "Integer 32", "Double"], in: folder)
        let text = try ToolProcess(["models", models])
        #expect(text.output.contains("V1 → V2: can be inferred\n"))
        #expect(text.output.contains("      Thing.count  converted from Boolean to Integer 32\n"))
        #expect(!text.output.contains("Part.count"))
        let json = try ToolProcess(["models", models, "--json"])
        let report = try JSONDecoder().decode(ModelsReport.self, from: Data(json.output.utf8))
        #expect(
            report.steps.map(\.conversions) == [
                ["Thing.count: Boolean → Integer 32"], ["Thing.count: Integer 32 → Double"],
            ])

        let store = folder.path("Store.sqlite")
        let made = try ToolProcess([
            "generate", models + "/V1.xcdatamodel", store, "--rows", "20", "--seed", "1",
        ])
        try #require(made.status == 0, "\(made.errors)")
        let plan = try ToolProcess(["plan", store, "--models", models, "--to", "V3"])
        #expect(
            plan.output.contains(
                """
                  Changes in V2:
                    Thing.count  converted from Boolean to Integer 32
                  Changes in V3:
                    Thing.count  converted from Integer 32 to Double

                """), "\(plan.output)\(plan.errors)")
        let planned = try ToolProcess(["plan", store, "--models", models, "--to", "V3", "--json"])
        let decoded = try JSONDecoder().decode(MigrationPlan.self, from: Data(planned.output.utf8))
        #expect(
            decoded.steps.map(\.conversions) == [
                ["V2: Thing.count: Boolean → Integer 32", "V3: Thing.count: Integer 32 → Double"]
            ])
        let run = try ToolProcess(["migrate", store, "--models", models, "--to", "V3", "--verify", "full"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try ToolProcess(["verify", store, "--models", models]).status == 0)
    }

    @Test("numbers that don't fit exit with 65 and say what to do; values that lose precision are a warning")
    func misfits() throws {
        let folder = try WorkFolder()
        let models = try Self.models(["Integer 64", "Boolean"], in: folder)
        let store = folder.path("Store.sqlite")
        let made = try ToolProcess([
            "generate", models + "/V1.xcdatamodel", store, "--rows", "50", "--seed", "1",
        ])
        try #require(made.status == 0, "\(made.errors)")
        for command in ["plan", "migrate"] {
            let run = try ToolProcess([command, store, "--models", models, "--to", "V2"])
            #expect(run.status == 65)
            #expect(run.errors.contains("V2: Thing.count: Integer 64 → Boolean: values that Boolean can't hold: "))
            #expect(run.errors.contains("/Thing/p1") && run.errors.contains("--bad-rows quarantine"))
        }
        let rejects = folder.path("rejects.jsonl")
        let run = try ToolProcess([
            "migrate", store, "--models", models, "--to", "V2", "--bad-rows", "quarantine", "--rejects", rejects,
        ])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try String(contentsOfFile: rejects, encoding: .utf8).contains("the value is neither 0 nor 1"))
    }
}
