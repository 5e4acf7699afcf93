public import CausewayEngine
import CausewayPreparation
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
    /// - Throws: `MigrationError`: `missing` without a backup, `busy` where a program uses the store, `sourceData`
    ///   where the backup is damaged, `undecided` where a migration of the store isn't finished. Nothing is changed
    ///   then.
    public func rollback() throws(MigrationError) -> Rollback {
        try MigrationError.wrapping { () throws(EngineError) in
            try BackupRollback(store: store, backup: backup).run()
        }
    }

    /// Lists what migrations and rollbacks have left beside the store, the oldest first, whether the store itself is
    /// still there or not. Changes nothing.
    ///
    /// - Parameter models: path of the model's versions, which give the versions' names; nil for what the backups' own
    ///   caches say.
    /// - Returns: the list; an empty one where nothing was left. A backup that can't be read is in it, with the reason.
    /// - Throws: `MigrationError`: `missing` where neither the store nor a backup of it is there, and for models that
    ///   can't be read.
    public func list(models: String? = nil) throws(MigrationError) -> BackupList {
        try list(models: models.map { [$0] } ?? [])
    }

    /// Lists the same with a model in several files.
    ///
    /// - Parameter models: paths of model bundles or stores, which give the versions' names; none for what the backups'
    ///   own caches say.
    /// - Returns: the list; an empty one where nothing was left. A backup that can't be read is in it, with the reason.
    /// - Throws: `MigrationError`: `missing` where neither the store nor a backup of it is there, and for models that
    ///   can't be read.
    public func list(models: [String]) throws(MigrationError) -> BackupList {
        try MigrationError.wrapping { () throws(EngineError) in
            try BackupList(store: store, history: try ModelHistory.given(models))
        }
    }

    /// Removes the backup, or all of them if none is named. The migration can't be undone afterwards.
    ///
    /// - Parameter includingRolledBack: also removes the migrated stores that rollbacks have left, with everything that
    ///   was written to them; not if a backup is named.
    /// - Returns: what was removed; nothing where there was no backup.
    /// - Throws: `MigrationError`: `missing` or `sourceData` if the store itself is missing or isn't a store, so that a
    ///   backup may be all that is left, `undecided` where a migration of the store isn't finished.
    public func purge(includingRolledBack: Bool = false) throws(MigrationError) -> Purge {
        try MigrationError.wrapping { () throws(EngineError) in
            try BackupPurge(store: store, backup: backup, removesRolledBack: includingRolledBack).run()
        }
    }
}
