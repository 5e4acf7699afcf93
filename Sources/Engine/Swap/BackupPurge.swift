import CausewayPlatform
package import CausewayStores

/// What a purge has removed.
public struct PurgeOutcome: Hashable, Sendable, Codable {
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

/// Removes backups: afterwards a migration can't be rolled back.
package struct BackupPurge {
    private let store: String
    private let backup: String?

    /// - Parameters:
    ///   - store: the store's path.
    ///   - backup: which backup; nil for all.
    package init(store: String, backup: String? = nil) {
        self.store = store
        self.backup = backup
    }

    /// - Throws: `.missing` where the store itself isn't there: then a backup may be all that is left.
    package func run() throws(EngineError) -> PurgeOutcome {
        let location = try StoreLocation(existing: store)
        let backups = StoreBackups(location: location)
        var paths = try backups.paths()
        if let backup { paths = [try backups.chosen(backup)] }
        let copies = try backups.walCopies(of: backup == nil ? nil : paths.first)
        // The file must be a store: else a backup may be the only good copy.
        let current = try SourceStore.reading(location)
        current.release()
        let directory = try backups.lock(needsLinks: false)
        var outcome = PurgeOutcome(store: location.path, removed: [], bytes: 0)
        do throws(FileError) {
            for path in paths {
                outcome.bytes += Int(clamping: try Files.statusIfExists(path)?.size ?? 0)
                // The file first: a backup without its -wal would lack rows.
                try Files.unlink(path)
                try Files.syncDirectory(location.directory)
                for suffix in ["-wal", "-shm", "-journal"] { try Files.unlink(path + suffix) }
                outcome.removed.append(path)
            }
            for path in copies {
                outcome.bytes += Int(clamping: try Files.statusIfExists(path)?.size ?? 0)
                try Files.unlink(path)
                outcome.removedCopies.append(path)
            }
            try Files.syncDirectory(location.directory)
        } catch {
            // The thrown failure matters.
            try? directory.remove()
            var failure = EngineError(
                .inputOutput, "\(location.directory): \(error.message)",
                details: outcome.removed.map { "removed already: \($0)" })
            if !outcome.removed.isEmpty {
                failure.state = .settled("\(outcome.removed.count) of its backups are removed")
                failure.work = .kept
            }
            throw failure
        }
        outcome.warnings = backups.unlock(directory)
        return outcome
    }
}
