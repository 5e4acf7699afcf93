/// The versions of one model in a bundle, in the order of `VersionOrder`.
///
/// A version that can't be read stays in the list with its error, so that the others remain usable and a plan can
/// route around it.
package struct ModelBundle: Sendable {
    package enum Kind: String, Hashable, Sendable {
        /// `.xcdatamodeld`: versions as Xcode's source.
        case sourceHistory
        /// `.xcdatamodel` or its `contents`: one version as source.
        case source
        /// `.momd`: compiled versions.
        case compiledHistory
        /// `.mom`: one compiled version.
        case compiled
    }

    package struct Version: Sendable {
        /// The file's name without its extension; the version's name in Core Data.
        package let name: String
        package let path: String
        package let model: Result<ManagedObjectModel, ModelError>
        /// The entry of `VersionInfo.plist` for this version; nil without one.
        package let recorded: RecordedHashes?

        package init(
            name: String, path: String, model: Result<ManagedObjectModel, ModelError>, recorded: RecordedHashes? = nil
        ) {
            self.name = name
            self.path = path
            self.model = model
            self.recorded = recorded
        }
    }

    /// The compiler's own hashes of a version, from `VersionInfo.plist`.
    package struct RecordedHashes: Hashable, Sendable {
        /// `NSManagedObjectModel_VersionHashes`.
        package let entities: [String: [UInt8]]
        /// `NSManagedObjectModel_VersionChecksums`; only newer compilers write it.
        package let checksum: String?

        package init(entities: [String: [UInt8]], checksum: String?) {
            self.entities = entities
            self.checksum = checksum
        }
    }

    /// The bundle's name without its extension.
    package let name: String
    package let path: String
    package let kind: Kind
    package let versions: [Version]
    /// The bundle's own entry, or the only version; nil without either. It may name a missing version: then `notices`
    /// says so.
    package let currentVersionName: String?
    /// Minor problems of the bundle, one sentence each.
    package let notices: [String]

    package init(
        name: String, path: String, kind: Kind, versions: [Version], currentVersionName: String?, notices: [String] = []
    ) {
        self.name = name
        self.path = path
        self.kind = kind
        let order = VersionOrder.sorted(versions.map(\.name), current: currentVersionName)
        let places = Dictionary(order.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        self.versions = versions.sorted { (places[$0.name] ?? 0) < (places[$1.name] ?? 0) }
        self.currentVersionName = currentVersionName
        self.notices = notices
    }

    package func version(named name: String) -> Version? { versions.first { $0.name == name } }

    /// The versions that could be read.
    package var models: [(name: String, model: ManagedObjectModel)] {
        versions.compactMap { version in
            guard case .success(let model) = version.model else { return nil }
            return (version.name, model)
        }
    }

    /// The versions that could not be read.
    package var failures: [(name: String, error: ModelError)] {
        versions.compactMap { version in
            guard case .failure(let error) = version.model else { return nil }
            return (version.name, error)
        }
    }
}
