import CausewayMapping
import CausewayPreparation
import CausewayStores

/// One mapping model by itself, without the versions that it is for.
///
/// ```swift
/// print(try MappingModelReport(path: "v1-v2.xcmappingmodel").lines.joined(separator: "\n"))
/// ```
public struct MappingModelReport: Hashable, Codable, Sendable {
    /// The mapping model's name: its file's without extension.
    public var name: String
    /// The file or folder.
    public var path: String
    /// The name of the version before, as Xcode's editor recorded it; nil where the file names none.
    public var sourceVersion: String?
    /// The name of the version after.
    public var destinationVersion: String?
    /// Names of the policies' classes, in the order of the entity mappings.
    public var policies: [String]
    /// The mapping model for people: entity mappings in their order, under each its properties.
    public var lines: [String]

    /// Reads a mapping model.
    ///
    /// - Parameter path: of an `.xcmappingmodel` or a `.cdm`.
    /// - Throws: `MigrationError` where it is missing or can't be understood.
    public init(path: String) throws(MigrationError) {
        let description = try MigrationError.wrapping { () throws(EngineError) in
            try MappingLibrary.mappingModel(at: path)
        }
        name = description.name
        self.path = path
        sourceVersion = description.sourceModel?.name
        destinationVersion = description.destinationModel?.name
        policies = description.entityMappings.compactMap(\.policyClassName)
        lines = description.lines()
    }
}
