public import CausewayEngine
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
    public typealias Rollback = RollbackOutcome
    /// What a purge has removed.
    public typealias Purge = PurgeOutcome

    /// Puts the backup back at the store's path, with one rename. The migrated store gets another name and keeps
    /// everything written to it; one that can't be read is kept as it is.
    ///
    /// - Returns: where the files are now.
    /// - Throws: `MigrationError`: `missing` without a backup, `busy` where a program uses the store, `sourceData` where
    ///   the backup is damaged, `undecided` where a migration of the store isn't finished. Nothing is changed then.
    public func rollback() throws(MigrationError) -> Rollback {
        try MigrationError.wrapping { () throws(EngineError) in
            try BackupRollback(store: store, backup: backup).run()
        }
    }

    /// Removes the backup, or all of them if none is named. The migration can't be undone afterwards.
    ///
    /// - Returns: what was removed; nothing where there was no backup.
    /// - Throws: `MigrationError`: `missing` or `sourceData` if the store itself is missing or isn't a store, so that a
    ///   backup may be all that is left, `undecided` where a migration of the store isn't finished.
    public func purge() throws(MigrationError) -> Purge {
        try MigrationError.wrapping { () throws(EngineError) in
            try BackupPurge(store: store, backup: backup).run()
        }
    }
}
