import CausewayModel
import CausewayPlatform
package import CausewayPreparation
import CausewayStoreFormat
package import CausewayStores

/// What migrations and rollbacks have left beside a store, the oldest first.
public struct BackupList: Hashable, Sendable, Codable {
    /// The store's path, links resolved.
    public var store: String
    /// Whether the store itself is there.
    public var storeExists: Bool
    /// Originals and rolled back stores, by the time of their last change.
    public var backups: [Backup] = []

    /// Bytes of all files.
    public var bytes: Int { backups.reduce(0) { $0 + $1.bytes } }

    /// One store that was left.
    public struct Backup: Hashable, Sendable, Codable {
        /// Its path.
        public var path: String
        /// What left it.
        public var kind: Kind
        /// The version's name in the models, or else its identifier in the store's own cache; nil where neither tells.
        public var version: String?
        /// `versionChecksum` of the store's version; nil if it can't be read.
        public var checksum: String?
        /// When the file was last changed, in ISO 8601 and UTC: for an original, by the app before the migration.
        public var modified: String
        /// Bytes of the file and of the copies of its logs.
        public var bytes: Int
        /// Copies of `-wal`s and journals beside it.
        public var copies: [String] = []
        /// Why it can't be read; nil where it can.
        public var problem: String?
    }

    /// What left a store beside another; the raw value is in its name.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// The original of a migration, which `rollback` puts back.
        case premigration
        /// A migrated store whose place the original took back.
        case rolledback
    }

    /// - Parameters:
    ///   - store: the store's path; it need not be there any more.
    ///   - history: names the versions; nil for what the stores' own caches say.
    /// - Throws: `.missing` where neither the store nor a backup of it is there.
    package init(store: String, history: ModelHistory? = nil) throws(EngineError) {
        let location = try BackupRollback.place(of: store)
        self.store = location.path
        storeExists = try BackupRollback.isThere(location)
        let found = StoreBackups(location: location)
        let copies = try found.walCopies() + found.rolledBackCopies()
        var dated: [(time: Int64, backup: Backup)] = []
        for kind in Kind.allCases {
            for path in try found.paths(of: kind) {
                let own = copies.filter { $0.hasPrefix(path + ".") }
                // One that was removed meanwhile isn't listed.
                guard let status = try Self.status(of: path) else { continue }
                var bytes = Int(clamping: status.size)
                for copy in own { bytes += Int(clamping: try Self.status(of: copy)?.size ?? 0) }
                var backup = Backup(
                    path: path, kind: kind, modified: Self.text(ofTime: status.modificationTime), bytes: bytes,
                    copies: own)
                backup.read(history)
                dated.append((status.modificationTime, backup))
            }
        }
        backups = dated.sorted { ($0.time, $0.backup.path) < ($1.time, $1.backup.path) }.map(\.backup)
    }

    private static func status(of path: String) throws(EngineError) -> FileStatus? {
        try EngineError.reading(path) { try Files.statusIfExists(path) }
    }

    /// Nanoseconds since 1970 as a text.
    private static func text(ofTime time: Int64) -> String {
        let (seconds, rest) = time.quotientAndRemainder(dividingBy: 1_000_000_000)
        return UTCText.text(secondsSince1970: rest < 0 ? seconds - 1 : seconds)
    }
}

extension BackupList.Backup {
    /// Fills in the version, or why it can't be read.
    fileprivate mutating func read(_ history: ModelHistory?) {
        do throws(EngineError) {
            let (hashes, identifiers) = try SourceStore.reading(try StoreLocation(existing: path)) { store in
                (store.metadata.entityHashes, store.metadata.versionIdentifiers)
            }
            checksum = VersionHashes.checksum(of: hashes)
            let known = history?.versions.filter { $0.hashes.entities == hashes } ?? []
            let same = known.first { $0.model.versionIdentifiers == identifiers } ?? known.last
            version = same?.name ?? identifiers.sorted().first { !$0.isEmpty }
        } catch {
            problem = error.message
        }
    }
}
