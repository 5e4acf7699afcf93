import CausewayMapping
import CausewayModel
import Foundation

/// The mapping models of shared/stores and of the project's own histories, with the two versions each says it's for.
enum SharedMappingModels {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../shared/stores").standardizedFileURL.path

    static let exist = FileManager.default.fileExists(atPath: folder)

    private static let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../..").standardizedFileURL.path

    /// Paths below the folder, sorted.
    static let foreign = mappingModels(in: folder)
    /// And our own, as `Fixtures/…`, so that the tests also work in a clone without shared/stores.
    static let all = foreign + mappingModels(in: project + "/Fixtures").map { "Fixtures/\($0)" }

    private static func mappingModels(in folder: String) -> [String] {
        let entries = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return entries.filter { $0.hasSuffix(".xcmappingmodel") || $0.hasSuffix(".cdm") }.sorted()
    }

    static func path(_ name: String) -> String { "\(name.hasPrefix("Fixtures/") ? project : folder)/\(name)" }

    static func read(_ name: String) throws -> MappingModelDescription { try MappingModelReader.read(path(name)) }

    /// Both versions from the only model history beside the mapping model that has them; nil where there is none.
    static func versions(_ names: [String], near mapping: String) throws -> [VersionedModel]? {
        let near = (path(mapping) as NSString).deletingLastPathComponent
        for entry in try FileManager.default.contentsOfDirectory(atPath: near) where entry.hasSuffix(".xcdatamodeld") {
            let bundle = try ModelReader.bundle(at: "\(near)/\(entry)")
            let versions = names.compactMap(bundle.version(named:))
            guard versions.count == names.count else { continue }
            return try versions.map { VersionedModel(name: $0.name, model: try $0.model.get()) }
        }
        return nil
    }

    /// Both versions that an `.xcmappingmodel` records; nil where one is missing.
    static func versions(_ mapping: String) throws -> (from: VersionedModel, to: VersionedModel)? {
        let description = try read(mapping)
        guard let source = description.sourceModel?.name, let destination = description.destinationModel?.name,
            let versions = try versions([source, destination], near: mapping)
        else { return nil }
        return (versions[0], versions[1])
    }

    /// The mapping models with both versions present.
    static let resolvable: [String] = all.filter { (try? versions($0)) != nil }
}
