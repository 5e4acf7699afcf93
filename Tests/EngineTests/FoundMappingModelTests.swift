import CausewayEngine
import CausewayMapping
import CausewayMappingFiles
import CausewayObjects
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// Mapping models around the models: which belong to them, and where they are found.
@Suite("Mapping models that are found", .timeLimit(.minutes(60)))
struct FoundMappingModelTests {
    /// `Thing` gets one more attribute in every version, so that a mapping model of its name fits every step.
    static func scenario(versions count: Int = 3) throws -> Scenario {
        let names = ["name", "a", "b", "c", "d"]
        return try Scenario(
            versions: (1...count).map { number in
                "\(names.prefix(number).map { attribute($0) }.joined())"
            }.map { model("<entity name=\"Thing\">\($0)</entity>") })
    }

    // MARK: - Of another model

    @Test("a mapping model of a bundle beside the models isn't used, and a short line says so")
    func otherBundle() throws {
        let scenario = try Self.scenario()
        try scenario.addBundle("Cache")
        try scenario.addMapping("CacheMapping", "App/Cache.xcdatamodeld/Cache", "App/Cache.xcdatamodeld/Cache 2")
        let plan = try Migration(scenario.request()).prepare()
        #expect(plan.objectRows.isEmpty)
        #expect(
            plan.mappingWarnings == [
                """
                mapping model \(scenario.folder)/CacheMapping.xcmappingmodel is for another model, Cache, and isn't used; \
                --mapping uses it
                """
            ])
        // Its versions may even have the same names.
        try scenario.addMapping("CacheMapping", "App/Cache.xcdatamodeld/V1", "App/Cache.xcdatamodeld/V2")
        #expect(try Migration(scenario.request()).prepare().objectRows.isEmpty)
    }

    @Test("a folder with thousands of files doesn't hide the one after it")
    func largeFolder() throws {
        let scenario = try Self.scenario(versions: 2)
        let folder = URL(filePath: scenario.folder).appending(path: "Assets")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for number in 0...5_000 { try Data().write(to: folder.appending(path: "\(number)")) }
        let below = URL(filePath: scenario.folder).appending(path: "Migrations")
        try FileManager.default.createDirectory(at: below, withIntermediateDirectories: true)
        try scenario.addMapping("Migrations/Map", "Model.xcdatamodeld/V1", "Model.xcdatamodeld/V2")
        let plan = try Migration(scenario.request()).prepare()
        #expect(!plan.objectRows.isEmpty)
        #expect(plan.mappingWarnings.count == 1)
        #expect(plan.mappingWarnings.first?.contains("\(folder.path) has more than 5000 files") == true)
    }

    @Test("one that doesn't fit either isn't mentioned in a plan")
    func otherEntities() throws {
        let scenario = try Self.scenario()
        try scenario.addBundle("Cache")
        try scenario.addMapping(
            "CacheMapping", "App/Cache.xcdatamodeld/Cache", "App/Cache.xcdatamodeld/Cache 2", entity: "Item")
        #expect(try Migration(scenario.request()).prepare().mappingWarnings == [])
    }

    @Test("a mapping model of versions that aren't there isn't used either, but one of a renamed bundle is")
    func renamedBundle() throws {
        let scenario = try Self.scenario()
        try scenario.addMapping("Map", "Old.xcdatamodeld/Old", "Old.xcdatamodeld/Old 2")
        let other = try Migration(scenario.request()).prepare()
        #expect(other.objectRows.isEmpty)
        #expect(other.mappingWarnings.count == 1)
        // It may be for the only step that it fits.
        try scenario.addMapping("Map", "Old.xcdatamodeld/Old", "Old.xcdatamodeld/Old 2", attributes: ["b"])
        var request = scenario.request()
        let error = try failure { _ = try Migration(request).prepare() }
        #expect(error.details.first?.hasSuffix("is for another model, Old, and isn't used; --mapping uses it") == true)
        request.infersDespiteMismatch = true
        #expect(try Migration(request).prepare().objectRows.isEmpty)
        try scenario.addMapping("Map", "Old.xcdatamodeld/V1", "Old.xcdatamodeld/V2")
        let renamed = try Migration(scenario.request()).prepare()
        #expect(!renamed.objectRows.isEmpty)
        #expect(renamed.mappingWarnings == [])
    }

    @Test("named with --mapping, it is used for a path of one step")
    func named() throws {
        let scenario = try Self.scenario()
        try scenario.addBundle("Cache")
        try scenario.addMapping("Map", "App/Cache.xcdatamodeld/Cache", "App/Cache.xcdatamodeld/Cache 2")
        var request = scenario.request(to: "V2")
        request.mappings = [scenario.folder + "/Map.xcmappingmodel"]
        #expect(try !Migration(request).prepare().objectRows.isEmpty)
        request.target = "V3"
        let error = try failure { _ = try Migration(request).prepare() }
        #expect(error.kind == .plan)
        #expect(error.details.count == 1)
        #expect(error.details[0].contains("it fits several steps (V1 → V2, V2 → V3)"))
        #expect(error.details[0].contains("end the path at its step with --to"))
    }

    // MARK: - Versions that aren't known any more

    @Test(
        "a mapping model of renamed versions that fits several steps stops the plan, unless steps are to be inferred",
        arguments: [("Model.xcdatamodeld/", "V3"), ("", "V3"), ("Model.xcdatamodeld/", "V2")])
    func ambiguous(bundle: String, target: String) throws {
        let scenario = try Self.scenario()
        try scenario.addMapping("Map", bundle + "First", bundle + "Second")
        var request = scenario.request(to: target)
        let error = try failure { _ = try Migration(request).prepare() }
        #expect(error.details.count == 1)
        #expect(error.details[0].contains("Map.xcmappingmodel isn't used: it fits several steps (V1 → V2, V2 → V3)"))
        #expect(error.details[0].contains("it was made for “First” → “Second”"))
        #expect(error.details[0].contains("--mapping"))
        request.infersDespiteMismatch = true
        let plan = try Migration(request).prepare()
        #expect(plan.objectRows.isEmpty)
        #expect(plan.mappingWarnings == error.details)
    }

    @Test("one that fits a single step is used for it")
    func single() throws {
        let scenario = try Self.scenario()
        try scenario.addMapping(
            "Map", "Model.xcdatamodeld/First", "Model.xcdatamodeld/Second", attributes: ["name", "a", "b"])
        let history = try ModelHistory(reading: scenario.models, edges: [:])
        let library = try MappingLibrary(given: [], besideModels: [scenario.models])
        #expect(try library.selection(for: history.hops, in: history).models.map(\.count) == [0, 1])
        #expect(try Migration(scenario.request()).prepare().mappingWarnings == [])
    }

    // MARK: - Folders

    @Test(
        "mapping models are found three folders deep, but not in packages, hidden folders and build products",
        arguments: [
            ("Migrations", true), ("Core Data/Migrations", true), ("a/v1.2/c", true), ("a/b/c/d", false),
            (".git", false), ("Pods", false), ("a/build", false), ("Other.app", false), ("Model.xcdatamodeld/a", false),
            ("Old.xcdatamodeld", false),
        ])
    func folders(folder: String, isFound: Bool) throws {
        let scenario = try Self.scenario(versions: 2)
        try scenario.addMapping("\(folder)/Map", "Model.xcdatamodeld/V1", "Model.xcdatamodeld/V2")
        let plan = try Migration(scenario.request()).prepare()
        #expect(!plan.objectRows.isEmpty == isFound)
        #expect(plan.mappingWarnings == [])
    }

    @Test("a link to a folder isn't followed")
    func links() throws {
        let (scenario, other) = (try Self.scenario(versions: 2), try Self.scenario(versions: 2))
        try other.addMapping("Migrations/Map", "Model.xcdatamodeld/V1", "Model.xcdatamodeld/V2")
        try FileManager.default.createSymbolicLink(
            atPath: scenario.folder + "/Migrations", withDestinationPath: other.folder + "/Migrations")
        let plan = try Migration(scenario.request()).prepare()
        #expect(plan.objectRows.isEmpty)
        #expect(
            plan.mappingWarnings == [
                "\(scenario.folder)/Migrations is a symbolic link to a folder and wasn't looked into for mapping models; "
                    + "name one with --mapping"
            ])
    }

    @Test("a link that leads nowhere, or in a circle, is named; it stops the plan where a step may need it")
    func danglingLinks() throws {
        let scenario = try Self.scenario(versions: 2)
        func link(_ name: String, to target: String) throws {
            try FileManager.default.createSymbolicLink(
                atPath: "\(scenario.folder)/\(name)", withDestinationPath: target)
        }
        try link("Circle", to: "Circle")
        try link("Gone.xcdatamodeld", to: "nowhere")
        try link("other.cdm", to: "nowhere")
        let warnings = try Migration(scenario.request()).prepare().warnings
        for (name, end) in [("Circle", "in a circle"), ("Gone.xcdatamodeld", "nowhere"), ("other.cdm", "nowhere")] {
            #expect(warnings.count { $0.contains("\(scenario.folder)/\(name)") && $0.contains("leads \(end)") } == 1)
        }
        try link("V1_to_V2.cdm", to: "nowhere")
        let error = try failure { _ = try Migration(scenario.request()).prepare() }
        #expect(error.details.count == 1)
        #expect(error.details.first?.contains("V1_to_V2.cdm") == true)
    }

    @Test("a mapping model beside the models counts before one in a folder; two equal ones are one")
    func nearer() throws {
        let scenario = try Self.scenario(versions: 2)
        let (v1, v2) = ("Model.xcdatamodeld/V1", "Model.xcdatamodeld/V2")
        try scenario.addMapping("Map", v1, v2)
        try scenario.addMapping("Archive/Map", v1, v2)
        #expect(try Migration(scenario.request()).prepare().mappingWarnings == [])
        try scenario.addMapping("Archive/A", v1, v2, attributes: ["name", "a"])
        let plan = try Migration(scenario.request()).prepare()
        #expect(plan.objectRows.count == 1)
        #expect(plan.mappingWarnings.count == 1)
        #expect(plan.mappingWarnings[0].contains("Archive/A.xcmappingmodel fits V1 → V2 too and isn't used"))
    }

    @Test("a mapping model below a folder belongs to the bundle of its name that is there")
    func sameName() throws {
        let scenario = try Self.scenario(versions: 2)
        try scenario.addMapping("Other/Migrations/Map", "Model.xcdatamodeld/V1", "Model.xcdatamodeld/V2")
        #expect(try !Migration(scenario.request()).prepare().objectRows.isEmpty)
        try scenario.addBundle("Other/Data/Model")
        let plan = try Migration(scenario.request()).prepare()
        #expect(plan.objectRows.isEmpty)
        #expect(plan.mappingWarnings.count == 1)
        let named = "\(scenario.folder)/Other/Data/Model.xcdatamodeld has the name of the models that were given"
        #expect(plan.warnings.count { $0.hasPrefix(named) } == 1)
    }

    @Test("of two versions with the store's hashes the plan says which counts, and why")
    func twoNames() throws {
        let thing = model("<entity name=\"Thing\">\(attribute("name"))</entity>")
        let scenario = try Scenario(
            versions: [thing, thing, model("<entity name=\"Thing\">\(attribute("name"))\(attribute("a"))</entity>")])
        let plan = try Migration(scenario.request()).prepare()
        #expect(plan.warnings.contains { $0.hasPrefix("\"V1\" and \"V2\" have the store's hashes: ") })
    }

    @Test("the search ends after a number of files, and says so")
    func bound() throws {
        let scenario = try Self.scenario(versions: 2)
        try scenario.addMapping("z/Map", "Model.xcdatamodeld/V1", "Model.xcdatamodeld/V2")
        for folder in ["a", "b", "c", "d", "e"].map({ "\(scenario.folder)/\($0)" }) {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for number in 0..<4_000 {
                #expect(FileManager.default.createFile(atPath: "\(folder)/\(number)", contents: nil))
            }
        }
        let library = try MappingLibrary(given: [], besideModels: [scenario.models])
        #expect(library.entries.isEmpty)
        #expect(library.notices.count == 2)
        #expect(library.notices.allSatisfy { $0.contains("--mapping") })
        #expect(library.notices.last?.contains("only the first 20000 files") == true)
        #expect(try Migration(scenario.request()).prepare().mappingWarnings == library.notices)
    }

    // MARK: - Damaged files

    @Test("a damaged mapping model that is named for a step stops the plan; another one is a warning")
    func damaged() throws {
        let scenario = try Self.scenario(versions: 2)
        let file = scenario.folder + "/V1_to_V2.cdm"
        try Data("nonsense".utf8).write(to: URL(filePath: file))
        var request = scenario.request()
        let error = try failure { _ = try Migration(request).prepare() }
        #expect(error.details.count == 1)
        #expect(error.details[0].contains("a step that is inferred instead may need it"))
        request.infersDespiteMismatch = true
        #expect(try Migration(request).prepare().mappingWarnings == error.details)
        try FileManager.default.moveItem(atPath: file, toPath: scenario.folder + "/other.cdm")
        let warnings = try Migration(scenario.request()).prepare().mappingWarnings
        #expect(warnings.count == 1)
        #expect(warnings[0].contains("a step that is inferred instead may need it"))
    }
}

extension PreparedMigration {
    /// Warnings about which mapping models are used.
    var mappingWarnings: [String] {
        warnings.filter { $0.contains("mapping model") && !$0.contains("doesn't mention") }
    }
}

extension Scenario {
    /// An empty bundle.
    func addBundle(_ name: String) throws {
        try FileManager.default.createDirectory(
            atPath: "\(folder)/\(name).xcdatamodeld", withIntermediateDirectories: true)
    }

    /// Writes a mapping model of one entity, as Xcode's editor saves it for these two versions.
    func addMapping(
        _ name: String, _ source: String, _ destination: String, entity: String = "Thing",
        attributes: [String] = ["name"], policy: String? = nil
    ) throws {
        var mapping = EntityMappingDescription(
            name: "\(entity)To\(entity)", kind: .undefined, sourceEntity: entity, destinationEntity: entity)
        mapping.policyClassName = policy
        mapping.attributeMappings = attributes.map { .init(name: $0, expression: nil, origin: .automatic) }
        let description = MappingModelDescription(
            name: "", form: .editor, entityMappings: [mapping],
            sourceModel: RecordedModel(path: source + ".xcdatamodel"),
            destinationModel: RecordedModel(path: destination + ".xcdatamodel"))
        let path = "\(folder)/\(name).xcmappingmodel"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Data(try description.editorDocument().utf8).write(to: URL(filePath: path + "/xcmapping.xml"))
    }
}
