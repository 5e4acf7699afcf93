import CausewayModel
import CausewayPlatform
import CausewayPreparation
import CausewayStores

/// A model as Xcode's source: of a store's own cache, a compiled model, or one version of a bundle.
///
/// For a store whose model exists only in its cache (SwiftData, Photos, Notes), and for a version whose source is lost.
///
/// ```swift
/// let export = try ModelExport(models: "Library.sqlite")
/// try export.write(to: "Library.xcdatamodel")
/// print(export.leftOut.joined(separator: "\n"))
/// ```
public struct ModelExport: Hashable, Codable, Sendable {
    /// Where the model was read.
    public var models: String
    /// The version's name.
    public var version: String
    /// `versionChecksum` of the model, which is that of the source too.
    public var checksum: String
    /// Every entity's version hash in base64, abstract ones included; those of the source are the same.
    public var entityHashes: [String: String]
    /// What the model has and Xcode's source can't say, one sentence each: default values of an app's own class,
    /// validation rules that only code makes. No version hash depends on it.
    public var leftOut: [String]
    /// The XML of `X.xcdatamodel/contents`, the same for the same model.
    public var contents: String

    /// What no store and no compiled model says, so that no export has it: one sentence each.
    public static let unknown = [
        "scalar accessors and code generation: the source asks for neither",
        "fetch request templates, and sort descriptors of fetched properties",
        "names of composite types: each is called after the first attribute that uses it",
    ]

    /// Entities of the model.
    public var entityCount: Int { entityHashes.count }

    /// Reads a model and makes its source. It is read back and compared before this returns: entities, hashes and
    /// checksum are the same.
    ///
    /// - Parameters:
    ///   - models: path of a store, for its own cache; or of an `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`.
    ///   - version: a version's name, version identifier or checksum; nil for the current one.
    /// - Throws: `MigrationError`: `missing` where there is nothing to read; `plan` for an unknown version, and for a
    ///   model that version hashes depend on more of than Xcode's source can say, with every such part.
    public init(models: String, version: String? = nil) throws(MigrationError) {
        self = try MigrationError.wrapping { () throws(EngineError) in
            let history = try ModelHistory(reading: models, edges: [:])
            let found: ModelHistory.Version
            do throws(EngineError) {
                found = try history.version(named: try history.resolve(version))
            } catch {
                var failure = error
                failure.remedy = "name another version with --version"
                throw failure
            }
            do throws(ModelError) {
                return Self(found, of: models, try SourceModelWriter.source(of: found.model))
            } catch {
                throw EngineError(
                    .plan, "\(models): version \"\(found.name)\" can't be exported: \(error.message)",
                    details: error.problems.map(\.description))
            }
        }
    }

    private init(_ version: ModelHistory.Version, of models: String, _ source: SourceModelWriter.Source) {
        self.models = models
        self.version = version.name
        checksum = version.hashes.checksum
        entityHashes = version.hashes.entities.mapValues { Base64.encode($0) }
        leftOut = source.leftOut.map(\.description)
        contents = String(decoding: source.bytes, as: UTF8.self)
    }

    // MARK: - Writing

    private static let folderExtension = ".xcdatamodel"

    /// Writes the folder that Xcode opens, and that any `models` argument takes. It is written beside the path and
    /// renamed: it is there complete or not at all.
    ///
    /// - Parameter path: `X.xcdatamodel`; nothing may have this name yet.
    /// - Throws: `MigrationError`: `usage` for another extension, `cannotCreate` where something has the name
    ///   or the folder can't be written, `inputOutput` where the disk fails or is full.
    public func write(to path: String) throws(MigrationError) {
        try MigrationError.wrapping { () throws(EngineError) in
            var path = path
            while path.count > 1, path.hasSuffix("/") { path.removeLast() }
            guard path.hasSuffix(Self.folderExtension), Paths.name(of: path) != Self.folderExtension else {
                throw EngineError(
                    .usage, "\(path): a model's source is a folder named X\(Self.folderExtension)",
                    remedy: "give such a name")
            }
            do throws(FileError) {
                try write(folder: path)
            } catch {
                guard error.code != .exists else {
                    throw EngineError(
                        .cannotCreate, "\(path) exists already", remedy: "remove it or give another name")
                }
                guard error.code.isOfTheDevice else {
                    throw EngineError(
                        .cannotCreate, "\(path): \(error.message)", remedy: "check that its folder can be written")
                }
                throw EngineError(.inputOutput, "\(error.path): \(error.message)")
            }
        }
    }

    private func write(folder path: String) throws(FileError) {
        guard try !Files.exists(path) else {
            throw FileError(code: .exists, operation: "write", path: path, message: "it exists already")
        }
        let temporary = path + ".tmp"
        // What an export left that was killed.
        try Self.remove(temporary)
        do throws(FileError) {
            // A model is no secret: as Xcode makes it.
            try Files.makeDirectory(temporary, mode: 0o777)
            try Files.writeFileDurably(Paths.join(temporary, "contents"), Array(contents.utf8), permissions: 0o666)
            try Files.rename(temporary, to: path)
        } catch {
            // The thrown failure matters.
            try? Self.remove(temporary)
            throw error
        }
        try Files.syncDirectory(Paths.parent(of: path))
    }

    /// Only what an export makes is removed: another file in the folder stops it.
    private static func remove(_ temporary: String) throws(FileError) {
        guard try Files.exists(temporary) else { return }
        for name in ["contents", "contents.tmp"] { try Files.unlink(Paths.join(temporary, name)) }
        try Files.removeDirectory(temporary)
    }
}
