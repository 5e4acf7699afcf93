import CausewayEngine
import CausewayStores

/// The original that a migration kept beside the new store: put it back, or remove it for good.
///
/// ```swift
/// let undone = try StoreBackup(store: "Library.sqlite").rollback()
/// print("the original is back; the migrated store is at", undone.keptAt ?? "no place: it was gone")
/// ```
public struct StoreBackup: Hashable, Sendable {
    /// The store's main file.
    public let store: String
    /// The backup's path; nil if there is only one, or for all in `purge`.
    public let backup: String?

    /// Names a store's backup; nothing is read yet.
    ///
    /// - Parameters:
    ///   - store: path of the store's main file.
    ///   - backup: path of the backup, `<store>.premigration-<digits>`; nil for the only one.
    public init(store: String, backup: String? = nil) {
        self.store = store
        self.backup = backup
    }

    /// What a rollback has done.
    public struct Rollback: Hashable, Sendable, Codable {
        /// The store's path, where the original is back.
        public var store: String
        /// The name that the original had as a backup.
        public var restored: String
        /// The new path of the migrated store; nil if there was none.
        public var keptAt: String?
        /// Copies of the original's `-wal`, which couldn't be read to its end when it was migrated.
        public var walCopies: [String] = []
        /// What the user should know.
        public var warnings: [String] = []
    }

    /// Puts the backup back at the store's path, with one rename. The migrated store gets another name and keeps
    /// everything written to it; one that can't be read is kept as it is.
    ///
    /// - Returns: where the files are now.
    /// - Throws: `MigrationError`: `missing` without a backup, `busy` where a program uses the store, `sourceData` where
    ///   the backup is damaged, `undecided` where a migration of the store isn't finished. Nothing is changed then.
    public func rollback() throws(MigrationError) -> Rollback {
        try MigrationError.wrapping { () throws(EngineError) in
            let outcome = try BackupRollback(store: store, backup: backup).run()
            return Rollback(
                store: outcome.store, restored: outcome.restored, keptAt: outcome.keptAt,
                walCopies: outcome.walCopies, warnings: outcome.warnings)
        }
    }

    /// What a purge has removed.
    public struct Purge: Hashable, Sendable, Codable {
        /// The store's path.
        public var store: String
        /// Paths of the backups that are gone.
        public var removed: [String]
        /// Paths of the copies of `-wal`s that went with them.
        public var removedCopies: [String] = []
        /// Bytes that they had.
        public var bytes: Int
        /// What the user should know.
        public var warnings: [String] = []
    }

    /// Removes the backup, or all of them if none is named. The migration can't be undone afterwards.
    ///
    /// - Returns: what was removed; nothing where there was no backup.
    /// - Throws: `MigrationError`: `missing` or `sourceData` if the store itself is missing or isn't a store, so that a
    ///   backup may be all that is left, `undecided` where a migration of the store isn't finished.
    public func purge() throws(MigrationError) -> Purge {
        try MigrationError.wrapping { () throws(EngineError) in
            let outcome = try BackupPurge(store: store, backup: backup).run()
            return Purge(
                store: outcome.store, removed: outcome.removed, removedCopies: outcome.removedCopies,
                bytes: outcome.bytes, warnings: outcome.warnings)
        }
    }
}
