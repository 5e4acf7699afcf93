import CausewayPlatform
package import CausewayStores

/// What a purge has removed.
public struct PurgeOutcome: Hashable, Sendable, Codable {
    /// The store's path.
    public var store: String
    /// Paths of the backups that are gone.
    public var removed: [String]
    /// Paths of stores that rollbacks had left, and that are gone too.
    public var removedRolledBack: [String] = []
    /// Paths of the copies of `-wal`s and journals that went with them.
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
    private let removesRolledBack: Bool

    /// - Parameters:
    ///   - store: the store's path.
    ///   - backup: which backup; nil for all.
    ///   - removesRolledBack: also the migrated stores that rollbacks have left; not with `backup`.
    package init(store: String, backup: String? = nil, removesRolledBack: Bool = false) {
        self.store = store
        self.backup = backup
        self.removesRolledBack = removesRolledBack && backup == nil
    }

    /// - Throws: `.missing` where the store itself isn't there: then a backup may be all that is left.
    package func run() throws(EngineError) -> PurgeOutcome {
        let location = try StoreLocation(existing: store)
        let backups = StoreBackups(location: location)
        let chosen = try backup.map { given throws(EngineError) in try backups.chosen(given) }
        // The file must be a store: else a backup may be the only good copy.
        let current = try SourceStore.reading(location)
        current.release()
        guard let directory = try Self.locked(backups, location) else {
            return try removing(chosen, backups)
        }
        var outcome: PurgeOutcome
        do throws(EngineError) {
            outcome = try removing(chosen, backups)
        } catch {
            // The thrown failure matters.
            try? directory.remove()
            throw error
        }
        outcome.warnings = backups.unlock(directory)
        return outcome
    }

    /// Room that a folder with a file takes, on any file system.
    private static let roomOfLock = 64 << 10

    /// The lock; nil where the disk is so full that none can be made: then no migration can begin either, and to remove
    /// a backup is what makes room.
    private static func locked(
        _ backups: StoreBackups, _ location: StoreLocation
    ) throws(EngineError) -> WorkDirectory? {
        do throws(EngineError) {
            return try backups.lock(needsLinks: false)
        } catch {
            let isFull = try EngineError.reading(location.directory) {
                try DiskSpace.available(at: location.directory) < roomOfLock && !Files.exists(location.workDirectory)
            }
            guard error.kind == .inputOutput, isFull else { throw error }
            return nil
        }
    }

    private func removing(_ chosen: String?, _ backups: StoreBackups) throws(EngineError) -> PurgeOutcome {
        let location = backups.location
        let paths = if let chosen { [chosen] } else { try backups.paths() }
        let rolledBack = removesRolledBack ? try backups.paths(of: .rolledback) : []
        let copies = try backups.walCopies(of: chosen) + (removesRolledBack ? backups.rolledBackCopies() : [])
        var outcome = PurgeOutcome(store: location.path, removed: [], bytes: 0)
        do throws(FileError) {
            for path in paths {
                outcome.bytes += try remove(path, in: location)
                outcome.removed.append(path)
            }
            for path in rolledBack {
                outcome.bytes += try remove(path, in: location)
                outcome.removedRolledBack.append(path)
            }
            for path in copies {
                outcome.bytes += Int(clamping: try Files.statusIfExists(path)?.size ?? 0)
                try Files.unlink(path)
                outcome.removedCopies.append(path)
            }
            try Files.syncDirectory(location.directory)
        } catch {
            var failure = EngineError(
                .inputOutput, "\(error.path): \(error.message)",
                details: (outcome.removed + outcome.removedRolledBack).map { "removed already: \($0)" })
            if !outcome.removed.isEmpty || !outcome.removedRolledBack.isEmpty {
                failure.state = .settled(
                    "\(outcome.removed.count + outcome.removedRolledBack.count) of its backups are removed")
                failure.work = .kept
            }
            throw failure
        }
        return outcome
    }

    /// Removes a database with its sidecars, durably.
    ///
    /// - Returns: the bytes that it had.
    private func remove(_ path: String, in location: StoreLocation) throws(FileError) -> Int {
        let bytes = Int(clamping: try Files.statusIfExists(path)?.size ?? 0)
        // The file first: a backup without its -wal would lack rows.
        try Files.unlink(path)
        try Files.syncDirectory(location.directory)
        for suffix in ["-wal", "-shm", "-journal"] { try Files.unlink(path + suffix) }
        return bytes
    }
}
