import CausewayExpressions
import CausewayMapping
import CausewayMappingFiles
import CausewayModel
import CausewayPlist
import Foundation
import Testing

@Suite("Real mapping models", .timeLimit(.minutes(60)))
struct RealMappingModelTests {
    @Test("every mapping model is read without anything unknown", arguments: SharedMappingModels.foreign)
    func reads(name: String) throws {
        let mapping = try SharedMappingModels.read(name)
        #expect(mapping.notices.isEmpty)
        #expect(!mapping.entityMappings.isEmpty)
        #expect(mapping.path == SharedMappingModels.path(name))
        #expect(Set(mapping.entityMappings.map(\.name)).count == mapping.entityMappings.count)
        #expect(mapping.entityMappings.allSatisfy { $0.sourceEntity != nil || $0.destinationEntity != nil })
        if mapping.form == .editor {
            #expect(mapping.sourceModel?.path != nil && mapping.sourceModel?.editorArchive?.isEmpty == false)
            #expect(mapping.destinationModel?.path != nil && mapping.destinationModel?.editorArchive?.isEmpty == false)
        }
    }

    @Test("every mapping model prints, each entity and property once", arguments: SharedMappingModels.all)
    func prints(name: String) throws {
        let mapping = try SharedMappingModels.read(name)
        let lines = mapping.lines()
        let properties = mapping.entityMappings.flatMap { $0.attributeMappings + $0.relationshipMappings }
        #expect(lines.filter { $0.contains(" ← ") }.count == properties.count)
        #expect(lines.first?.hasPrefix(mapping.name) == true)
    }

    @Test("every mapping model written in its own form reads as the same value", arguments: SharedMappingModels.all)
    func roundTrips(name: String) throws {
        let mapping = try SharedMappingModels.read(name)
        let bytes =
            mapping.form == .compiled ? try mapping.compiledBytes() : Array(try mapping.editorDocument().utf8)
        #expect(try MappingModelReader.read(bytes, name: mapping.name, path: mapping.path) == mapping)
    }

    @Test(
        "the models of these mapping models exist",
        .enabled(if: SharedMappingModels.exist, "shared/stores is missing"))
    func modelsAreThere() {
        #expect(SharedMappingModels.resolvable.count >= 14)
    }

    @Test("a mapping model resolves against its two versions and fits them", arguments: SharedMappingModels.resolvable)
    func resolves(name: String) throws {
        let mapping = try SharedMappingModels.read(name)
        let (from, to) = try #require(try SharedMappingModels.versions(name))
        let resolved = try mapping.resolved(from: from, to: to)
        #expect(resolved.entityMappings.map(\.mapping.name) == mapping.entityMappings.map(\.name))
        for entity in resolved.entityMappings {
            #expect(entity.mapping.kind != .undefined)
            #expect(entity.mapping.filter == nil)
            #expect((entity.mapping.sourceEntity == nil) == (entity.rows == .none))
            let properties = entity.mapping.attributeMappings + entity.mapping.relationshipMappings
            #expect(properties.allSatisfy { $0.origin == nil })
        }
        #expect(mapping.match(from: from, to: to) == .fits)
    }

    @Test("a resolved mapping model survives both file forms", arguments: SharedMappingModels.resolvable)
    func resolvedRoundTrips(name: String) throws {
        let (from, to) = try #require(try SharedMappingModels.versions(name))
        let resolved = try SharedMappingModels.read(name).resolved(from: from, to: to)
        let compiled = resolved.compiled()
        let read = try MappingModelReader.read(compiled.compiledBytes(), name: compiled.name, path: compiled.path)
        #expect(read == compiled)
        #expect(try read.resolved(from: from, to: to) == resolved)
        let document = Array(try compiled.editorDocument().utf8)
        let edited = try MappingModelReader.read(document, name: compiled.name, path: compiled.path)
        #expect(try edited.resolved(from: from, to: to) == resolved)
    }

    // MARK: - CoreDataPlus V2 → V3: the same mapping model in both forms

    /// The three versions of SampleModel.
    private static func versions() throws -> [VersionedModel] {
        let names = ["SampleModel", "SampleModel2", "SampleModel3"]
        return try #require(try SharedMappingModels.versions(names, near: "coredataplus/V2toV3.cdm"))
    }

    @Test(
        "the editor's form resolves to what Xcode compiled of it",
        .enabled(if: SharedMappingModels.exist, "shared/stores is missing"))
    func editorEqualsCompiled() throws {
        let versions = try Self.versions()
        let (from, to) = (versions[1], versions[2])
        let edited = try SharedMappingModels.read("coredataplus/V2toV3.xcmappingmodel").resolved(from: from, to: to)
        let compiled = try SharedMappingModels.read("coredataplus/V2toV3.cdm").resolved(from: from, to: to)
        #expect(edited.entityMappings == compiled.entityMappings)
        #expect(edited.warnings == compiled.warnings)
        #expect(edited.losses == compiled.losses)
        #expect(compiled.losses.isEmpty)
        // Xcode's file, except for the kind of PersonToPerson: “copy” despite different hashes.
        var untouched = try SharedMappingModels.read("coredataplus/V2toV3.cdm").entityMappings
        #expect(untouched[2].kind == .copy)
        untouched[2].kind = .transform
        #expect(compiled.entityMappings.map(\.mapping) == untouched)
        #expect(compiled.entityMappings.map(\.mapping.kind) == [.custom, .custom, .transform, .custom, .add])
        #expect(compiled.entityMappings.map(\.filter) == [nil, nil, nil, nil, nil])
        #expect(compiled.entityMappings.last?.rows == SourceRows.none)
    }

    @Test(
        "the compiled form doesn't fit other versions, and says which entities differ",
        .enabled(if: SharedMappingModels.exist, "shared/stores is missing"))
    func mismatch() throws {
        let versions = try Self.versions()
        let (first, from, to) = (versions[0], versions[1], versions[2])
        let mapping = try SharedMappingModels.read("coredataplus/V2toV3.cdm")
        #expect(mapping.match(from: from, to: to) == .fits)
        guard case .differs(let sentences) = mapping.match(from: first, to: to) else {
            Issue.record("V1 → V3 must not fit")
            return
        }
        #expect(sentences.contains { $0.hasPrefix("CarToCar: ") && $0.contains("source entity “Car”") })
        #expect(sentences.contains { $0.contains("has no entity “LuxuryCar”") })
        #expect(throws: MappingResolutionError.self) { try mapping.resolved(from: first, to: to) }
    }

    @Test(
        "a written .cdm has the classes and keys of Xcode's",
        .enabled(if: SharedMappingModels.exist, "shared/stores is missing"))
    func compiledKeys() throws {
        let original = Array(
            try Data(contentsOf: URL(fileURLWithPath: SharedMappingModels.path("coredataplus/V2toV3.cdm"))))
        let written = try MappingModelReader.read(original, name: "V2toV3").compiledBytes()
        #expect(try Self.fields(written) == Self.fields(original))
    }

    /// Field names by class, expressions included.
    private static func fields(_ bytes: [UInt8]) throws -> [ArchivedClass: Set<String>] {
        let archive = try KeyedArchive(parsing: bytes)
        var fields: [ArchivedClass: Set<String>] = [:]
        for index in 0..<archive.count {
            guard let reference = archive.reference(at: index), let kind = archive.archivedClass(of: reference) else {
                continue
            }
            fields[kind, default: []].formUnion(archive.fieldNames(of: reference))
        }
        return fields
    }

    // MARK: - Details that the files show

    @Test(
        "key paths through entity mappings compile to the manager's call",
        .enabled(if: SharedMappingModels.exist, "shared/stores is missing"))
    func keyPaths() throws {
        let name = "moody/Moody 2-Moody 3.xcmappingmodel"
        let (from, to) = try #require(try SharedMappingModels.versions(name))
        let resolved = try SharedMappingModels.read(name).resolved(from: from, to: to)
        let moods = resolved.entityMapping(named: "ContinentToContinent")?.mapping.relationshipMappings
            .first { $0.name == "moods" }
        let written = try Expression(
            parsing: """
                FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'MoodToMood', \
                $source.countries.@distinctUnionOfSets.moods)
                """)
        #expect(moods?.expression == written)
        // Mapping numbers, not the file's order.
        #expect(
            resolved.entityMappings.map(\.mapping.name) == ["MoodToMood", "CountryToCountry", "ContinentToContinent"])
    }

    @Test(
        "properties that were deleted in the editor are skipped",
        .enabled(if: SharedMappingModels.exist, "shared/stores is missing"))
    func orphans() throws {
        let mapping = try SharedMappingModels.read("loopkit/Modelv1v4.xcmappingmodel")
        #expect(mapping.entityMappings.count == 6)
        #expect(mapping.entityMappings.last?.name == "DeletedCarbObjectToCachedCarbObject")
    }

    @Test(
        "recorded models decide between versions whose entities look alike",
        .enabled(if: SharedMappingModels.exist, "shared/stores is missing"))
    func recordedNames() throws {
        let name = "openemu/1.0 Beta to 0.2.xcmappingmodel"
        let mapping = try SharedMappingModels.read(name)
        let (from, to) = try #require(try SharedMappingModels.versions(name))
        let other = try #require(try SharedMappingModels.versions(["OEDatabase 0.5"], near: name)?.first)
        let history: Set = ["OEDatabase", "OEDatabase 0.2", "OEDatabase 0.5"]
        #expect(mapping.match(from: from, to: to, history: history) == .fits)
        #expect(
            mapping.match(from: other, to: to, history: history)
                == .differs(["its source model is “OEDatabase”, not “OEDatabase 0.5”"]))
        #expect(mapping.match(from: other, to: to) == .fits)
    }
}
