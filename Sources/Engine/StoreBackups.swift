import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat

/// The originals that migrations have left beside a store: `<store>.premigration-XXXXXXXX`.
struct StoreBackups {
    let location: StoreLocation

    /// Paths, sorted.
    func paths() throws(EngineError) -> [String] {
        let prefix = location.name + ".premigration-"
        do {
            return try Files.list(location.directory).filter { Self.isBackup($0, prefix) }
                .map { location.directory + "/" + $0 }
        } catch {
            throw EngineError(.missing, "\(location.directory): \(error.message)")
        }
    }

    /// The prefix and eight hexadecimal digits, nothing after: never a backup's own `-wal`.
    private static func isBackup(_ name: String, _ prefix: String) -> Bool {
        guard name.hasPrefix(prefix) else { return false }
        let digits = name.dropFirst(prefix.count)
        return digits.count == 8 && digits.allSatisfy { $0.isASCII && $0.isHexDigit && !$0.isUppercase }
    }

    /// The backup that is meant: the one given, or the only one that there is.
    func chosen(_ given: String?) throws(EngineError) -> String {
        let all = try paths()
        if let given {
            let path = try StoreLocation(existing: given).path
            guard all.contains(path) else {
                throw EngineError(
                    .usage, "\(given): isn't a backup of \(location.path)",
                    details: all, remedy: "name one of the backups beside the store")
            }
            return path
        }
        guard let only = all.first else {
            throw EngineError(.missing, "\(location.path): there is no backup beside the store")
        }
        guard all.count == 1 else {
            throw EngineError(
                .usage, "\(location.path): there are \(all.count) backups", details: all,
                remedy: "say which one is meant with --backup")
        }
        return only
    }

    /// Takes the work directory, so that no migrator works meanwhile, and refuses where one has unfinished work.
    func lock() throws(EngineError) -> WorkDirectory {
        let directory = try WorkDirectory.taken(at: location.workDirectory)
        let found = try UnfinishedWork(in: directory.path, for: location, isOutput: false)
        guard found.plan == nil || found.state == .swapped else {
            throw EngineError(
                .undecided, "\(directory.path): there is unfinished work of a migration",
                remedy: "finish it, or discard it with migrate --restart")
        }
        return directory
    }
}

/// Puts a backup back in the store's place.
///
/// The store that is there keeps a name of its own, so that nothing is lost: `<store>.rolledback-XXXXXXXX`. One rename is
/// the commit point, as in the swap.
package struct BackupRollback {
    private let store: String
    private let backup: String?

    package struct Outcome: Hashable, Sendable {
        package var store: String
        /// The backup, whose file is the store now.
        package var restored: String
        /// Where the store is that was there before.
        package var keptAt: String
    }

    /// - Parameters:
    ///   - store: the store's path.
    ///   - backup: which backup; nil where there is only one.
    package init(store: String, backup: String? = nil) {
        self.store = store
        self.backup = backup
    }

    /// - Throws: `.missing` without a backup, `.busy` where somebody uses the store, `.sourceData` where the backup is
    ///   damaged, `.undecided` where a migration of the store isn't finished.
    package func run() throws(EngineError) -> Outcome {
        let location = try StoreLocation(existing: store)
        let backups = StoreBackups(location: location)
        let chosen = try backups.chosen(backup)
        let directory = try backups.lock()
        let outcome: Outcome
        do throws(EngineError) {
            outcome = try replace(location, with: chosen)
        } catch {
            try? directory.remove()
            throw error
        }
        try directory.remove()
        return outcome
    }

    private func replace(_ location: StoreLocation, with backup: String) throws(EngineError) -> Outcome {
        try requireSound(backup)
        let kept = location.path + ".rolledback-" + String(backup.suffix(8))
        let descriptor = try StoreDescriptor(location)
        defer { withExtendedLifetime(descriptor) {} }
        // Folds a -wal in and keeps everybody else away; rows that the application has added since are in what is kept.
        let guardian = try Guardian(location, restoringWAL: false)
        defer { guardian.release(keepingWork: true) }
        try guardian.lockExclusively(timeout: Self.timeout)
        do {
            for path in [location.wal, location.shm, location.journal] {
                guard let status = try Files.statusIfExists(path) else { continue }
                guard status.size == 0 || path == location.shm else {
                    throw EngineError(
                        .busy, "\(path): appeared meanwhile", remedy: "close the application that uses the store")
                }
                try Files.unlink(path)
            }
            try Files.syncDirectory(location.directory)
            try link(location, as: kept, descriptor)
            try Files.rename(backup, to: location.path)
            try Files.syncDirectory(location.directory)
        } catch {
            throw EngineError(error, during: location.path)
        }
        return Outcome(store: location.path, restored: backup, keptAt: kept)
    }

    /// Seconds to wait for readers to end.
    private static let timeout = 10.0

    /// A name for the store that is there; one that an ended rollback has given it already is the same file.
    private func link(_ location: StoreLocation, as kept: String, _ descriptor: StoreDescriptor) throws {
        if let there = try Files.statusIfExists(kept) {
            let store = try descriptor.identity()
            guard there.inode == store.inode, there.device == store.device else {
                throw EngineError(.cannotCreate, "\(kept): is there already", remedy: "move it away")
            }
            return
        }
        try Files.link(location.path, as: kept)
        try Files.syncDirectory(location.directory)
    }

    /// A backup that can't be read isn't put in place of a store that can.
    private func requireSound(_ backup: String) throws(EngineError) {
        let store = try SourceStore.reading(StoreLocation(existing: backup))
        defer { store.release() }
        try store.checkIntegrity()
    }
}

/// Removes backups, which ends the possibility to roll back.
package struct BackupPurge {
    private let store: String
    private let backup: String?

    package struct Outcome: Hashable, Sendable {
        package var store: String
        package var removed: [String]
        /// Bytes of the removed files.
        package var bytes: Int
    }

    /// - Parameters:
    ///   - store: the store's path.
    ///   - backup: which backup; nil for all.
    package init(store: String, backup: String? = nil) {
        self.store = store
        self.backup = backup
    }

    /// - Throws: `.missing` where the store itself isn't there: then a backup may be all that is left.
    package func run() throws(EngineError) -> Outcome {
        let location = try StoreLocation(existing: store)
        let backups = StoreBackups(location: location)
        var paths = try backups.paths()
        if let backup { paths = [try backups.chosen(backup)] }
        // The store must be one: else a backup may be the only good copy.
        let current = try SourceStore.reading(location)
        current.release()
        let directory = try backups.lock()
        var outcome = Outcome(store: location.path, removed: [], bytes: 0)
        do throws(FileError) {
            for path in paths {
                let size = try Files.statusIfExists(path)?.size ?? 0
                for suffix in ["-wal", "-shm", "-journal", ""] { try Files.unlink(path + suffix) }
                outcome.removed.append(path)
                outcome.bytes += Int(clamping: size)
            }
            try Files.syncDirectory(location.directory)
        } catch {
            try? directory.remove()
            throw EngineError(.inputOutput, "\(location.directory): \(error.message)")
        }
        try directory.remove()
        return outcome
    }
}
