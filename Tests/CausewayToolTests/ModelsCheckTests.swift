import Causeway
import Foundation
import Testing

/// `causeway models --check`, as a team's CI runs it.
@Suite("The check of a team's models", .timeLimit(.minutes(60)))
struct ModelsCheckTests {
    private static let book = ModelFolder.entity("Book", ModelFolder.attribute("title"))
    private static let shelf = ModelFolder.entity("Shelf", ModelFolder.attribute("name"))
    private static let moreBook = ModelFolder.entity(
        "Book", ModelFolder.attribute("title"), ModelFolder.attribute("year", "Integer 16"))
    private static let odd = ModelFolder.entity("Book", ModelFolder.attribute("title", "Binary"))

    private static func library() throws -> ModelFolder {
        let models = try ModelFolder()
        try models.bundle("App", [("V1", [book, shelf]), ("V2", [moreBook, shelf])], current: "V2")
        return models
    }

    private static func recorded() throws -> ModelFolder {
        let models = try library()
        let run = try models.run("models", "App.xcdatamodeld", "--check", "shipped.json", "--record")
        #expect(run.status == 0, "\(run.errors)")
        return models
    }

    private static func check(_ models: ModelFolder, _ options: String...) throws -> ToolProcess {
        try ToolProcess(
            ["models", "App.xcdatamodeld", "--check", "shipped.json"] + options, in: models.folder.url)
    }

    @Test("--record writes sorted JSON, the same for the same models; the check of untouched models passes")
    func recording() throws {
        let models = try Self.library()
        let first = try Self.check(models, "--record")
        #expect(first.output == "shipped.json: 2 versions added, 0 unchanged\n")
        let file = models.path("shipped.json")
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(
            text.hasPrefix("{\n  \"format\" : \"causeway-shipped-models-1\",\n  \"versions\" : {\n    \"V1\" : {\n"))
        #expect(text.hasSuffix("}\n"))
        #expect(text.contains("\n        \"Book\" : \""))
        #expect(try ShippedModels(reading: file).versions.keys.sorted() == ["V1", "V2"])
        #expect(try Self.check(models, "--record").output == "shipped.json: 0 versions added, 2 unchanged\n")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
        let check = try Self.check(models)
        #expect(check.status == 0)
        #expect(
            check.output == """
                Models   App.xcdatamodeld
                Shipped  shipped.json, 2 versions

                Nothing is wrong

                """)
    }

    @Test("without a record the exit status is 66, and the message says how to write one")
    func noRecord() throws {
        let run = try Self.check(try Self.library())
        #expect(run.status == 66)
        #expect(run.errors.contains("--record"))
    }

    @Test(
        "a file that is no record is refused with 78 and the reason, without a decoder's own words",
        arguments: [
            ("", "it isn't JSON"), ("[", "it isn't JSON"), ("[]", "no JSON object"), ("{}", "it lacks format"),
            ("{\"format\":\"causeway-shipped-models-1\",\"versions\":{\"V1\":{}}}", "it lacks versions.V1.checksum"),
            ("{\"format\":\"other\",\"versions\":{}}", "its format is \"other\""),
        ])
    func noRecordAtAll(content: String, reason: String) throws {
        let models = try Self.library()
        try models.write(content, to: "shipped.json")
        for options in [[], ["--record"]] {
            let run = try ToolProcess(
                ["models", "App.xcdatamodeld", "--check", "shipped.json"] + options, in: models.folder.url)
            #expect(run.status == 78)
            #expect(run.errors.contains(reason), "\(run.errors)")
            #expect(!run.errors.contains("DecodingError"))
        }
    }

    @Test("a version after the current one isn't recorded, and its edits are nobody's business")
    func development() throws {
        let models = try ModelFolder()
        try models.bundle("App", [("V1", [Self.book]), ("V2", [Self.moreBook])], current: "V1")
        #expect(try Self.check(models, "--record").output.contains("1 version added"))
        try models.bundle("App", [("V2", [Self.moreBook, Self.shelf])])
        let run = try Self.check(models)
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains("New      V2\n"))
    }

    @Test("a record that is a link stays one, and a record keeps its permissions")
    func linkedRecord() throws {
        let models = try Self.recorded()
        let (link, file) = (models.path("shipped.json"), models.path("real.json"))
        try FileManager.default.moveItem(atPath: link, toPath: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "real.json")
        let before = try Data(contentsOf: URL(fileURLWithPath: file))
        #expect(try Self.check(models, "--record", "--force").status == 0)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "real.json")
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("hashes that a format doesn't have are refused")
    func markdownHashes() throws {
        let models = try Self.library()
        let run = try models.run("models", "App.xcdatamodeld", "--hashes", "--format", "markdown")
        #expect(run.status == 64 && run.errors.contains("no hashes"), "\(run.errors)")
    }

    @Test("a check that can't be made is an annotation, too, and keeps its exit status")
    func annotatedFailure() throws {
        let models = try Self.library()
        let run = try Self.check(models, "--format", "github")
        #expect(run.status == 66 && run.errors.hasPrefix("error: "))
        #expect(run.output.hasPrefix("::error title=The models can't be checked::"), "\(run.output)")
        #expect(run.output.contains("there is no record of shipped versions%0Awrite it with --record\n"))
    }

    @Test("a shipped version that is gone from one of two bundles is named", arguments: ["text", "github", "json"])
    func removedFromOne(format: String) throws {
        let models = try ModelFolder()
        let pen = ModelFolder.entity("Pen", ModelFolder.attribute("ink"))
        try models.bundle("App", [("V1", [Self.book]), ("V2", [Self.moreBook])], current: "V2")
        try models.bundle("More", [("V1", [pen]), ("V2", [pen])], current: "V2")
        func check(_ options: String...) throws -> ToolProcess {
            try ToolProcess(
                ["models", "App.xcdatamodeld", "More.xcdatamodeld", "--check", "shipped.json"] + options,
                in: models.folder.url)
        }
        let recorded = try check("--record")
        #expect(recorded.status == 0, "\(recorded.errors)")
        try FileManager.default.removeItem(atPath: models.path("More.xcdatamodeld/V1.xcdatamodel"))
        try models.bundle("More", [("V3", [pen])], current: "V2")
        let run = try check("--format", format)
        #expect(run.status == 3, "\(run.output)\(run.errors)")
        #expect(run.output.contains("V1") && run.output.contains("More.xcdatamodeld"), "\(run.output)")
    }

    @Test("an edited entity of a shipped version fails with 3, its file and line, in every format")
    func edited() throws {
        let models = try Self.recorded()
        let text = ModelFolder.entity("Shelf", ModelFolder.attribute("label"))
        try models.bundle("App", [("V1", [Self.book, text])])
        let place = "App.xcdatamodeld/V1.xcdatamodel/contents"
        let run = try Self.check(models)
        #expect(run.status == 3)
        #expect(run.output.contains("\n1 problem\n"))
        #expect(run.output.contains("\"V1\" has shipped, and since then its entity \"Shelf\" was edited"))
        #expect(run.output.contains("(\(place):6)"))
        let json = try Self.check(models, "--format", "json")
        #expect(json.status == 3)
        let check = try JSONDecoder().decode(ModelsCheck.self, from: Data(json.output.utf8))
        #expect(check.problems.map(\.kind) == [.shippedVersionEdited])
        #expect(check.problems.first?.entity == "Shelf")
        #expect(check.problems.first?.line == 6)
        let github = try Self.check(models, "--format", "github")
        #expect(github.status == 3)
        #expect(
            github.output.hasPrefix(
                "::error file=\(place),line=6,title=A shipped version was edited::\"V1\" has shipped"))
    }

    @Test("--record refuses a shipped version that was edited or removed; with --force it takes the models' word")
    func refusedRecord() throws {
        let models = try Self.recorded()
        let file = models.path("shipped.json")
        let before = try Data(contentsOf: URL(fileURLWithPath: file))
        try models.remove("App.xcdatamodeld/V1.xcdatamodel")
        try models.bundle("App", [("V2", [Self.moreBook]), ("V3", [Self.moreBook, Self.shelf])], current: "V3")
        let refused = try Self.check(models, "--record")
        #expect(refused.status == 3)
        #expect(refused.output.contains("not written"))
        #expect(refused.output.contains("\"V1\" has shipped and isn't among the models any more"))
        #expect(refused.output.contains("its entity \"Shelf\" was removed"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
        let forced = try Self.check(models, "--record", "--force")
        #expect(forced.status == 0, "\(forced.output)")
        #expect(forced.output.contains("replaced or removed: V1, V2"))
        #expect(try Self.check(models).status == 0)
    }

    @Test("all reasons come at once: an edit, a removal, an impossible step, a foreign mapping model, a store")
    func everything() throws {
        let models = try Self.recorded()
        let store = try models.store("Old.sqlite", of: "App.xcdatamodeld", version: "V1")
        try models.remove("App.xcdatamodeld/V1.xcdatamodel")
        try models.bundle("App", [("V2", [Self.moreBook]), ("V3", [Self.odd])], current: "V3")
        try models.write("not a mapping model", to: "Broken.cdm")
        let run = try Self.check(models, "--format", "json", "--store", store)
        #expect(run.status == 3)
        let check = try JSONDecoder().decode(ModelsCheck.self, from: Data(run.output.utf8))
        #expect(
            check.problems.map(\.kind) == [
                .shippedVersionEdited, .shippedVersionRemoved, .step, .mappingModel, .store,
            ])
        let step = try #require(check.problems.first { $0.kind == .step })
        #expect(step.version == "V2")
        #expect(step.nextVersion == "V3")
        #expect(step.details.contains { $0.contains("title") })
        let github = try Self.check(models, "--format", "github", "--store", store)
        let lines = github.output.split(separator: "\n")
        #expect(lines.count { $0.hasPrefix("::error ") } == 5)
        #expect(lines.contains { $0.contains("Broken.cdm") && $0.contains("%0A- ") })
    }

    @Test("a renamed version with the same hashes is a notice, no failure")
    func renamed() throws {
        let models = try Self.recorded()
        try models.remove("App.xcdatamodeld/V1.xcdatamodel")
        try models.bundle("App", [("V0", [Self.book, Self.shelf])])
        let run = try Self.check(models)
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains("\"V1\" has shipped and is called \"V0\" now"))
    }

    @Test("what can't be read fails the check only where it may be of no other model")
    func otherModels() throws {
        let models = try Self.recorded()
        try models.write("not a mapping model", to: "Migrations/Broken.cdm")
        #expect(try Self.check(models).status == 3)
        try models.bundle("Migrations/Other", [("Other", [Self.shelf])])
        let run = try Self.check(models)
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        #expect(run.output.contains("Migrations/Broken.cdm can't be used, and may be for another model"))
        try models.write("not a mapping model", to: "Broken.cdm")
        #expect(try Self.check(models).status == 3)
    }

    @Test("a mapping model of another model, and one that leads over a version, are notices; an ambiguous one fails")
    func mappingModels() throws {
        let models = try Self.recorded()
        // V1 → V2 can't be inferred, and no store takes that step.
        try models.bundle("App", [("V2", [Self.odd, Self.shelf]), ("V3", [Self.shelf])], current: "V3")
        try models.bundle("Other", [("Other", [Self.shelf]), ("Other 2", [Self.shelf])])
        try models.mappingModel(
            "Migrations/Other", from: "Other.xcdatamodeld/Other", to: "Other.xcdatamodeld/Other 2", entity: "Shelf")
        try models.mappingModel(
            "Migrations/Jump", from: "App.xcdatamodeld/V1", to: "App.xcdatamodeld/V3", entity: "Shelf")
        _ = try Self.check(models, "--record", "--force")
        let run = try Self.check(models)
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        #expect(run.output.contains("takes stores of \"V1\" to \"V3\" at once"))
        #expect(run.output.contains("is for another model, Other"))
        let list = try models.run("models", "App.xcdatamodeld", "--mappings")
        #expect(list.output.contains("Other.xcmappingmodel: fits no step:\n    - it is for another model, Other\n"))
        #expect(list.output.contains("takes stores of \"V1\" to \"V3\" at once"))
        try models.mappingModel(
            "Migrations/Old", from: "App.xcdatamodeld/A", to: "App.xcdatamodeld/B", entity: "Shelf")
        let failing = try Self.check(models)
        #expect(failing.status == 3)
        #expect(failing.output.contains("it fits several steps (V1 → V2, V2 → V3)"))
    }

    @Test(
        "options that belong together are asked for",
        arguments: [
            ["--record"], ["--store", "x"], ["--force"], ["--check", "x", "--mappings"], ["--check", "x", "--hashes"],
        ])
    func usage(options: [String]) throws {
        #expect(try ToolProcess(["models", "App.xcdatamodeld"] + options).status == 64)
    }

    private static let bundles = [
        "colourful-posts/CoreDataMigration_Example.xcdatamodeld", "students/TestModel.xcdatamodeld",
        "coredataplus/SampleModel.momd", "coredataplus/SampleModel3.xcdatamodeld", "wire/zmessaging.xcdatamodeld",
        "moody/Moody.xcdatamodeld",
    ]

    @Test("real models: what is recorded is found unchanged", .enabled(if: SharedStores.exist), arguments: bundles)
    func real(bundle: String) throws {
        let folder = try WorkFolder()
        let (models, file) = (SharedStores.path(bundle), folder.path("shipped.json"))
        let recorded = try ToolProcess(["models", models, "--check", file, "--record"])
        #expect(recorded.status == 0, "\(recorded.output)\(recorded.errors)")
        let run = try ToolProcess(["models", models, "--check", file, "--json"])
        let check = try JSONDecoder().decode(ModelsCheck.self, from: Data(run.output.utf8))
        #expect(!check.recorded.isEmpty)
        #expect(check.problems.filter { [.shippedVersionEdited, .shippedVersionRemoved].contains($0.kind) } == [])
        #expect(run.status == (check.problems.isEmpty ? 0 : 3))
    }

    @Test("a step that can't be inferred passes with its mapping model", .enabled(if: SharedStores.exist))
    func mapped() throws {
        let folder = try WorkFolder()
        let file = folder.path("shipped.json")
        _ = try ShippedModels.record(models: [SharedStores.models], at: file)
        let check = try ModelsCheck(models: [SharedStores.models], shipped: file)
        #expect(check.problems == [])
        // The policy of 2 → 3 isn't registered: the store can't be migrated with this executable.
        let withStore = try ModelsCheck(
            models: [SharedStores.models], shipped: file, stores: [SharedStores.version1])
        #expect(withStore.problems.map(\.kind) == [.store])
    }
}
