import CausewayEngine
import CausewayMapping
import CausewayMappingFiles
import CausewayModel
import CausewayObjects
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// Which mapping models are used for which step, and the messages about the others.
@Suite("Mapping models of a path", .timeLimit(.minutes(60)))
struct MappingLibraryTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let shared = root.deletingLastPathComponent().appendingPathComponent("shared/stores")
    static var sharedStoresExist: Bool { FileManager.default.fileExists(atPath: shared.path) }

    private static func fixture(_ name: String) -> String { root.appendingPathComponent("Fixtures/\(name)").path }

    /// A path through a bundle's versions with the mapping models around it.
    private struct Path {
        var history: ModelHistory
        var hops: [MappingHop]
        var library: MappingLibrary

        init(
            _ models: String, _ names: [String], given: [String] = [], code: MigrationCode = MigrationCode(),
            infers: Bool = false
        ) throws {
            let history = try ModelHistory(reading: models, edges: [:])
            self.history = history
            let versions = try names.map { name in
                let version = try #require(history.versions.first { $0.name == name })
                return VersionedModel(name: name, model: version.model, hashes: version.hashes)
            }
            hops = zip(versions, versions.dropFirst()).map { MappingHop(from: $0, to: $1) }
            library = try MappingLibrary(
                given: given, besideModels: [models], code: code, infersDespiteMismatch: infers)
        }

        func selection() throws -> MappingSelection { try library.selection(for: hops, in: history) }

        /// The names of the mapping models by hop.
        func names() throws -> [[String]] { try selection().models.map { $0.map(\.name) } }
    }

    /// A copy of a fixture whose files may be changed.
    private final class Copy {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("causeway-library-\(UUID().uuidString)")

        init(_ fixture: String) throws {
            try FileManager.default.copyItem(atPath: MappingLibraryTests.fixture(fixture), toPath: url.path)
        }

        deinit { try? FileManager.default.removeItem(at: url) }

        func path(_ name: String) -> String { url.appendingPathComponent(name).path }

        func replace(_ text: String, by other: String, in name: String) throws {
            let file = url.appendingPathComponent(name)
            let content = String(decoding: try Data(contentsOf: file), as: UTF8.self)
            #expect(content.contains(text))
            try Data(content.replacingOccurrences(of: text, with: other).utf8).write(to: file)
        }

        func write(_ bytes: [UInt8], as name: String) throws {
            try Data(bytes).write(to: url.appendingPathComponent(name))
        }

        /// What Xcode would compile of Staff's mapping model.
        func compiled(without attribute: String? = nil) throws -> [UInt8] {
            let path = try Path(path("Staff.xcdatamodeld"), ["v1", "v2"])
            let mapping = try MappingModelReader.read(self.path("v1-v2.xcmappingmodel"))
            var compiled = try mapping.resolved(from: path.hops[0].from, to: path.hops[0].to).compiled()
            compiled.entityMappings[0].attributeMappings.removeAll { $0.name == attribute }
            return try compiled.compiledBytes()
        }
    }

    private func failure(_ path: Path, _ place: SourceLocation = #_sourceLocation) throws -> EngineError {
        try #require(throws: EngineError.self, sourceLocation: place) { _ = try path.selection() }
    }

    // MARK: - The project's own histories

    @Test(
        "a mapping model beside the models is used only for its step",
        arguments: [
            ("ColourfulPosts", ["v1", "v2", "v3", "v4"], [[], ["v2-v3"], []]),
            ("BookStore", ["v1", "v2", "v3", "v4", "v5"], [[], [], ["v3-v4"], ["v4-v5"]]),
            ("BookStore", ["v1", "v2"], [[]]),
            ("Staff", ["v1", "v2"], [["v1-v2"]]),
            ("Jumps", ["v3", "v4", "v5", "v6"], [["v3-v4"], [], []]),
            ("Jumps", ["v1", "v4"], [[]]),
            ("Jumps", ["v2", "v4"], [[]]),
            ("Tracks", ["v1", "v2", "v3"], [[], []]),
        ])
    func fixtures(history: String, versions: [String], expected: [[String]]) throws {
        let path = try Path(Self.fixture("\(history)/\(history).xcdatamodeld"), versions)
        #expect(try path.names() == expected)
        #expect(try path.selection().warnings.isEmpty)
    }

    @Test("a mapping model inside the bundle is found too, and a link isn't followed")
    func insideAndLinks() throws {
        let copy = try Copy("Staff")
        let models = copy.path("Staff.xcdatamodeld")
        try FileManager.default.moveItem(
            atPath: copy.path("v1-v2.xcmappingmodel"), toPath: "\(models)/v1-v2.xcmappingmodel")
        #expect(try Path(models, ["v1", "v2"]).names() == [["v1-v2"]])
        try FileManager.default.moveItem(
            atPath: "\(models)/v1-v2.xcmappingmodel", toPath: copy.path("elsewhere"))
        try FileManager.default.createSymbolicLink(
            atPath: "\(models)/v1-v2.xcmappingmodel", withDestinationPath: copy.path("elsewhere"))
        let selection = try Path(models, ["v1", "v2"]).selection()
        #expect(selection.models == [[]])
        #expect(selection.warnings.count == 1)
        #expect(selection.warnings[0].contains("symbolic link"))
    }

    // MARK: - Named mapping models

    @Test("a named mapping model that lies beside the models counts once")
    func givenAndFound() throws {
        let path = try Path(
            Self.fixture("Staff/Staff.xcdatamodeld"), ["v1", "v2"],
            given: [Self.fixture("Staff/v1-v2.xcmappingmodel"), Self.fixture("Staff/../Staff/v1-v2.xcmappingmodel/")])
        #expect(try path.names() == [["v1-v2"]])
        #expect(path.library.entries.map(\.origin) == [.given])
    }

    @Test("a named mapping model of another step is refused")
    func givenElsewhere() throws {
        let mapping = Self.fixture("BookStore/v3-v4.xcmappingmodel")
        let error = try failure(
            try Path(Self.fixture("BookStore/BookStore.xcdatamodeld"), ["v1", "v2"], given: [mapping]))
        #expect(error.kind == .plan)
        #expect(error.details == ["mapping model \(mapping) is for v3 → v4, which isn't on the path v1 → v2"])
    }

    @Test("a named mapping model of other models is refused with the entities that differ")
    func givenForeign() throws {
        let error = try failure(
            try Path(
                Self.fixture("Staff/Staff.xcdatamodeld"), ["v1", "v2"],
                given: [Self.fixture("BookStore/v4-v5.xcmappingmodel")], infers: true))
        #expect(error.kind == .plan)
        #expect(error.details.count == 1)
        #expect(error.details[0].contains("exists but doesn't match v1 → v2"))
        #expect(error.details[0].contains("Publication"))
    }

    @Test("a named mapping model that can't be read is refused at once")
    func givenUnreadable() throws {
        let copy = try Copy("Staff")
        try copy.write(Array("nonsense".utf8), as: "bad.cdm")
        for (name, kind) in [("missing.cdm", EngineError.Kind.missing), ("bad.cdm", .plan)] {
            let error = try #require(throws: EngineError.self) {
                _ = try MappingLibrary(given: [copy.path(name)], besideModels: [copy.path("Staff.xcdatamodeld")])
            }
            #expect(error.kind == kind)
            #expect(error.message.contains(name))
        }
    }

    // MARK: - Found mapping models that don't match

    @Test("a found mapping model that can't be read is a warning")
    func foundUnreadable() throws {
        let copy = try Copy("Staff")
        try copy.write(Array("nonsense".utf8), as: "bad.cdm")
        let selection = try Path(copy.path("Staff.xcdatamodeld"), ["v1", "v2"]).selection()
        #expect(selection.models.map(\.count) == [1])
        #expect(selection.warnings.count == 1)
        #expect(selection.warnings[0].hasPrefix("mapping model \(copy.path("bad.cdm")): "))
    }

    @Test("a step isn't inferred where its mapping model doesn't match, unless an option allows it")
    func editorMismatch() throws {
        let copy = try Copy("Staff")
        try copy.replace("Contact", by: "Kontakt", in: "Staff.xcdatamodeld/v2.xcdatamodel/contents")
        let models = copy.path("Staff.xcdatamodeld")
        let error = try failure(try Path(models, ["v1", "v2"]))
        #expect(error.kind == .plan)
        #expect(error.details.count == 1)
        #expect(error.details[0].contains("exists but doesn't match v1 → v2"))
        #expect(error.details[0].contains("no entity “Contact”"))
        #expect(error.remedy.contains("--infer"))
        let selection = try Path(models, ["v1", "v2"], infers: true).selection()
        #expect(selection.models == [[]])
        #expect(selection.warnings == error.details)
        // The step has a mapping model in Swift. Nothing is inferred, so the file is only mentioned.
        var code = MigrationCode()
        code.add(SwiftMappingModel(from: "v1", to: "v2") { TransformEntity("Person", to: "Kontakt") })
        let replaced = try Path(models, ["v1", "v2"], code: code).selection()
        #expect(replaced.models.map { $0.map(\.name) } == [["v1 to v2"]])
        #expect(replaced.warnings == error.details)
    }

    @Test("a compiled mapping model of a model that was edited afterwards is refused, with the entity's hashes")
    func compiledMismatch() throws {
        let copy = try Copy("Staff")
        try copy.write(try copy.compiled(), as: "v1-v2.cdm")
        try FileManager.default.removeItem(atPath: copy.path("v1-v2.xcmappingmodel"))
        let models = copy.path("Staff.xcdatamodeld")
        #expect(try Path(models, ["v1", "v2"]).names() == [["v1-v2"]])
        try copy.replace(
            "name=\"phone\" optional=\"YES\"", by: "name=\"phone\"",
            in: "Staff.xcdatamodeld/v2.xcdatamodel/contents")
        let error = try failure(try Path(models, ["v1", "v2"]))
        #expect(error.details.count == 1)
        #expect(error.details[0].contains("another version of the destination entity “Contact”: its hash is "))
        #expect(try Path(models, ["v1", "v2"], infers: true).selection().warnings == error.details)
    }

    // MARK: - Several that fit

    @Test("the editor's form and its compiled form side by side are one mapping model")
    func bothForms() throws {
        let copy = try Copy("Staff")
        try copy.write(try copy.compiled(), as: "v1-v2.cdm")
        let selection = try Path(copy.path("Staff.xcdatamodeld"), ["v1", "v2"]).selection()
        #expect(selection.models.map { $0.map(\.form) } == [[.compiled]])
        #expect(selection.warnings.isEmpty)
    }

    @Test("of two different mapping models for the same rows one must be named")
    func conflict() throws {
        let copy = try Copy("Staff")
        try copy.write(try copy.compiled(without: "phone"), as: "other.cdm")
        let models = copy.path("Staff.xcdatamodeld")
        let error = try failure(try Path(models, ["v1", "v2"]))
        #expect(error.remedy.contains("choose with --mapping"))
        #expect(error.details.count == 1)
        #expect(error.details[0].contains("map Person → Contact"))
        let selection = try Path(models, ["v1", "v2"], given: [copy.path("other.cdm")]).selection()
        #expect(selection.models.map { $0.map(\.name) } == [["other"]])
        #expect(selection.warnings.count == 1)
        #expect(selection.warnings[0].contains("isn't used"))
    }

    @Test("mapping models of different rows run one after another, Swift first")
    func severalPasses() throws {
        var code = MigrationCode()
        code.add(
            SwiftMappingModel(from: "v1", to: "v2", name: "low") {
                TransformEntity("Person", to: "Contact", name: "Low") { Filter("salary < 1000") }
            })
        code.add(
            SwiftMappingModel(from: "v1", to: "v2", name: "high") {
                TransformEntity("Person", to: "Contact", name: "High") { Filter("salary >= 1000") }
            })
        let copy = try Copy("Staff")
        try FileManager.default.removeItem(atPath: copy.path("v1-v2.xcmappingmodel"))
        #expect(try Path(copy.path("Staff.xcdatamodeld"), ["v1", "v2"], code: code).names() == [["low", "high"]])
        // The file reads all rows, those of both Swift models too.
        let beside = try Path(Self.fixture("Staff/Staff.xcdatamodeld"), ["v1", "v2"], code: code).selection()
        #expect(beside.models.map { $0.map(\.name) } == [["low", "high"]])
        #expect(beside.warnings.count == 1)
    }

    @Test("a mapping model in Swift for an unknown version is refused; one for another step isn't used")
    func codeElsewhere() throws {
        var code = MigrationCode()
        code.add(SwiftMappingModel(from: "v2", to: "v3") { CopyEntity("Post") })
        let models = Self.fixture("ColourfulPosts/ColourfulPosts.xcdatamodeld")
        #expect(try Path(models, ["v1", "v2"], code: code).names() == [[]])
        code.add(SwiftMappingModel(from: "v2", to: "v33") { CopyEntity("Post") })
        let error = try failure(try Path(models, ["v1", "v2"], code: code))
        #expect(error.details.count == 1)
        #expect(error.details[0].contains("no version “v33”"))
    }

    // MARK: - Other apps' mapping models

    @Test(
        "mapping models of real apps are used for their steps",
        .enabled(if: sharedStoresExist, "shared/stores is missing"),
        arguments: [
            (
                "moody/Moody.xcdatamodeld", ["Moody", "Moody 2", "Moody 3", "Moody 4", "Moody 5", "Moody 6"],
                [
                    [], ["Moody 2-Moody 3"], ["Moody 3-Moody 4"], ["Moody 4-Moody 5"], ["Moody 5-Moody 6"],
                ]
            ),
            (
                "coredataplus/SampleModel.xcdatamodeld", ["SampleModel", "SampleModel2", "SampleModel3"],
                [[], ["V2toV3"]]
            ),
            (
                "colourful-posts/CoreDataMigration_Example.xcdatamodeld",
                [
                    "CoreDataMigration_Example", "CoreDataMigration_Example 2", "CoreDataMigration_Example 3",
                    "CoreDataMigration_Example 4",
                ], [[], ["Migration2to3ModelMapping"], []]
            ),
            (
                "posts-and-colors/CoreDataMigration_Example.xcdatamodeld",
                [
                    "CoreDataMigration_Example", "CoreDataMigration_Example 2", "CoreDataMigration_Example 3",
                    "CoreDataMigration_Example 4",
                ], [["Migration1to2"], ["Migration2to3"], []]
            ),
        ])
    func realMappings(models: String, versions: [String], expected: [[String]]) throws {
        let path = try Path(Self.shared.appendingPathComponent(models).path, versions)
        #expect(try path.names() == expected)
        #expect(try path.selection().warnings.isEmpty)
    }

    @Test(
        "a named mapping model fits models from stores' caches (CareKit 2.0 → 2.1)",
        .enabled(if: sharedStoresExist, "shared/stores is missing"))
    func careKit() throws {
        func file(_ name: String) -> String { Self.shared.appendingPathComponent("carekit/\(name)").path }
        let history = try ModelHistory(reading: file("SampleStore2.1.sqlite"), edges: [:])
        let old = try #require(try ModelHistory(reading: file("SampleStore2.0.sqlite"), edges: [:]).versions.first)
        let new = try #require(history.versions.first)
        let hop = MappingHop(
            from: VersionedModel(name: "2.0 (from the store)", model: old.model, hashes: old.hashes),
            to: VersionedModel(name: new.name, model: new.model, hashes: new.hashes))
        // Mapping models beside a store aren't searched for.
        let alone = try MappingLibrary(given: [], besideModels: [file("SampleStore2.1.sqlite")])
        #expect(alone.entries.isEmpty && alone.unread.isEmpty)
        let library = try MappingLibrary(
            given: [file("2.0_2.1_Mapping.xcmappingmodel")], besideModels: [file("SampleStore2.1.sqlite")])
        #expect(try library.selection(for: [hop], in: history).models.map { $0.map(\.name) } == [["2.0_2.1_Mapping"]])
    }
}
