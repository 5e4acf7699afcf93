import CausewayModel
import CausewayPlatform
import CausewayPreparation
import CausewayStores

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The versions of a model that have shipped, with their hashes: a file in a team's repository.
///
/// Stores of these versions are on users' devices, so the versions must not change any more. The file is JSON with
/// sorted keys, a line for each entity: a review shows what a release adds.
public struct ShippedModels: Hashable, Codable, Sendable {
    /// What the file says that it is.
    public static let format = "causeway-shipped-models-1"

    /// ``format``, in files of this release.
    public var format = ShippedModels.format
    /// Every version by its name.
    public var versions: [String: Version]

    /// A version that has shipped.
    public struct Version: Hashable, Codable, Sendable {
        /// `versionChecksum` of the model.
        public var checksum: String
        /// Every entity's version hash in base64, abstract ones included.
        public var entities: [String: String]

        init(_ hashes: VersionHashes) {
            checksum = hashes.checksum
            entities = hashes.entities.mapValues { Data($0).base64EncodedString() }
        }
    }

    /// A record of these versions.
    ///
    /// - Parameter versions: every version by its name.
    public init(versions: [String: Version] = [:]) {
        self.versions = versions
    }

    /// Bytes of the file; that of the longest known history, with 90 versions, has less than 1 MB.
    private static let maximumBytes = 64 << 20

    /// Reads the file.
    ///
    /// - Parameter path: where it is.
    /// - Throws: `MigrationError` where there is none, or it isn't such a file.
    public init(reading path: String) throws(MigrationError) {
        self = try MigrationError.wrapping { () throws(EngineError) in
            guard let found = try Self.found(at: path) else {
                throw EngineError(
                    .missing, "\(path): there is no record of shipped versions", remedy: "write it with --record")
            }
            return found
        }
    }

    /// nil where there is no file.
    static func found(at path: String) throws(EngineError) -> ShippedModels? {
        do {
            guard try Files.statusIfExists(path) != nil else { return nil }
            let bytes = try Files.readFile(path, limit: maximumBytes)
            let result = try JSONDecoder().decode(Self.self, from: Data(bytes))
            guard result.format == format else {
                throw EngineError(
                    .plan, "\(path): its format is \"\(result.format)\"; this release knows \"\(format)\"",
                    remedy: "use a newer release")
            }
            return result
        } catch let error as FileError {
            throw EngineError(reading: error, at: path)
        } catch let error as EngineError {
            throw error
        } catch {
            throw EngineError(
                .plan, "\(path): not a record of shipped versions: \(reason(error))",
                remedy: "take the file back from the repository's history, or remove it and write another with --record"
            )
        }
    }

    /// What a decoder complains about, without its own words.
    private static func reason(_ error: any Error) -> String {
        func place(_ path: [any CodingKey]) -> String { path.map(\.stringValue).joined(separator: ".") }
        return switch error {
        case DecodingError.keyNotFound(let key, let context): "it lacks \(place(context.codingPath + [key]))"
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            context.codingPath.isEmpty
                ? "it is no JSON object" : "\(place(context.codingPath)) has a value of another type"
        default: "it isn't JSON"
        }
    }

    /// Writes the file, whole or not at all.
    ///
    /// - Parameter path: where it is, or will be.
    /// - Throws: `MigrationError` where it can't be written.
    public func write(to path: String) throws(MigrationError) {
        try MigrationError.wrapping { () throws(EngineError) in
            try EngineError.at(path, as: .cannotCreate) {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
                // A link stays one, and a file keeps its permissions.
                let place = try Files.exists(path) ? Files.realPath(of: path) : path
                try Files.writeFileDurably(
                    place, Array(try encoder.encode(self)) + [UInt8(ascii: "\n")],
                    permissions: try Files.statusIfExists(place)?.mode ?? 0o644)
            }
        }
    }

    /// The recorded name of a version with these hashes: its own, or one that no version has any more (`names`), so
    /// that it was renamed. Two versions may have the same hashes; each is recorded.
    func name(of version: Version, called name: String, besides names: Set<String>) -> String? {
        if let own = versions[name] { return own.entities == version.entities ? name : nil }
        return versions.filter { $0.value.entities == version.entities && !names.contains($0.key) }.keys.min()
    }
}
