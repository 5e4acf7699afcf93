import Causeway
import Foundation
import Testing

/// `causeway models` on histories with errors, and `plan` on links that end.
@Suite("The models command", .timeLimit(.minutes(60)))
struct ModelsCommandTests {
    private static func version(_ properties: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">\
        <entity name="A"/><entity name="B"/><entity name="Thing">\(properties)</entity></model>
        """
    }

    private static func bundle(_ versions: [String], in folder: WorkFolder) throws -> String {
        let path = folder.path("App.xcdatamodeld")
        for (index, text) in versions.enumerated() {
            let version = "\(path)/V\(index + 1).xcdatamodel"
            try FileManager.default.createDirectory(atPath: version, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(fileURLWithPath: version + "/contents"))
        }
        return path
    }

    @Test("for an unreadable version the exit status is 78, and the others are listed", arguments: [true, false])
    func unreadable(json: Bool) throws {
        let folder = try WorkFolder()
        let models = try Self.bundle([Self.version(""), "<model", Self.version("")], in: folder)
        let run = try ToolProcess(["models", models] + (json ? ["--json"] : []))
        #expect(run.status == 78)
        if json {
            let report = try JSONDecoder().decode(ModelsReport.self, from: Data(run.output.utf8))
            #expect(report.versions.map { $0.error != nil } == [false, true, false])
        } else {
            #expect(run.output.contains("3 versions"))
            #expect(run.output.contains("  V2: can't be read: "))
        }
        let alone = try ToolProcess(["models", models + "/V2.xcdatamodel"])
        #expect(alone.status == 78)
        #expect(try ToolProcess(["models", models + "/V1.xcdatamodel"]).status == 0)
    }

    @Test(
        "a step that can't be inferred shows what changes, and every reason", arguments: ["text", "markdown", "json"])
    func refused(format: String) throws {
        let folder = try ModelFolder()
        func version(_ number: String, _ properties: String) -> String {
            ModelFolder.entity("Thing", ModelFolder.attribute("number", number), properties)
        }
        let renamed = "<attribute name=\"new\" optional=\"YES\" attributeType=\"String\" elementID=\"old\"/>"
        try folder.bundle(
            "App",
            [
                ("V1", [version("Integer 16", ModelFolder.attribute("old"))]),
                ("V2", [version("String", renamed + ModelFolder.attribute("added"))]),
            ], current: "V2")
        let run = try folder.run("models", "App.xcdatamodeld", "--format", format)
        #expect(run.status == 0, "\(run.errors)")
        switch format {
        case "json":
            let report = try JSONDecoder().decode(ModelsReport.self, from: Data(run.output.utf8))
            #expect(report.steps[0].changes.map(\.kind) == [.added, .renamed, .converted])
            #expect(report.steps[0].refusals.count == 1)
        case "markdown":
            #expect(run.output.contains("-.->|\"can't be inferred, 3 changes\"|"))
            #expect(run.output.contains("| `Thing` | `number` | converted from Integer 16 to String |"))
        default:
            #expect(run.output.contains("      Thing.number  converted from Integer 16 to String\n"))
            #expect(run.output.contains("      Thing.new     renamed from old\n"))
        }
    }

    private static func link(_ destination: String) -> String {
        "<relationship name=\"link\" optional=\"YES\" maxCount=\"1\" deletionRule=\"Nullify\" "
            + "destinationEntity=\"\(destination)\"/>"
    }

    @Test("links that end are counted by plan and migrate, refused with 65, and end with --end-links")
    func endLinks() throws {
        let folder = try WorkFolder()
        let models = try Self.bundle([Self.version(Self.link("A")), Self.version(Self.link("B"))], in: folder)
        let store = folder.path("Store.sqlite")
        let made = try ToolProcess(["generate", models, store, "--version", "V1", "--rows", "30", "--seed", "3"])
        #expect(made.status == 0, "\(made.errors)")
        let before = try folder.content()
        for command in ["plan", "migrate"] {
            let refused = try ToolProcess([command, store, "--models", models, "--to", "V2"])
            #expect(refused.status == 65, "\(refused.errors)")
            #expect(refused.errors.contains("V1 → V2: would end "))
            #expect(refused.errors.contains(" of Thing.link"))
            #expect(refused.errors.contains("--end-links"))
        }
        let plan = try ToolProcess(["plan", store, "--models", models, "--to", "V2", "--end-links"])
        #expect(plan.status == 0, "\(plan.errors)")
        #expect(plan.output.contains("V1 → V2: will end "))
        #expect(try folder.content() == before)
        let run = try ToolProcess(["migrate", store, "--models", models, "--to", "V2", "--end-links"])
        #expect(run.status == 0, "\(run.errors)")
        #expect((run.output + run.errors).contains("V1 → V2: will end "))
    }
}
