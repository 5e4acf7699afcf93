import CausewayPlatform

/// Puts a verified staging store in its place (reliability.md §§2.3, 4.2).
///
/// A hard link keeps the original; one rename is the commit point: at every instant the path holds the complete old or
/// the complete new store. FileManager's replace is never used: on Linux it has lost both (reliability.md §0.3).
struct StoreSwap {
    let staging: String

    /// Replaces the store and keeps the original beside it.
    ///
    /// - Returns: the backup's path.
    func replace(_ store: SourceStore) throws(EngineError) -> String {
        let location = store.location
        let backup = try freeBackupName(for: location)
        do {
            try Files.copyAttributes(from: location.path, to: staging)
            try Files.syncFile(staging)
            try Files.syncDirectory(Paths.parent(of: staging))
        } catch {
            throw EngineError(.inputOutput, "\(staging): \(error.message)")
        }
        try store.lockForSwap()
        try proveSame(store)
        try proveAbsent([location.wal, location.shm, location.journal], location)
        do {
            try Files.link(location.path, as: backup)
            try Files.syncDirectory(location.directory)
        } catch {
            throw EngineError(.inputOutput, "\(backup): the backup can't be made: \(error.message)")
        }
        do {
            try Files.rename(staging, to: location.path)
        } catch {
            // The backup is one more name of the untouched store: without the swap nobody needs it.
            _ = try? Files.unlink(backup)
            throw EngineError(.inputOutput, "\(location.path): can't be replaced: \(error.message)")
        }
        store.swapped()
        do {
            try Files.syncDirectory(location.directory)
        } catch {
            throw EngineError(
                .inputOutput, "\(location.path): the swap isn't proven durable: \(error.message)",
                remedy: "check the disk; the original is at \(backup)", state: .alreadyNew)
        }
        return backup
    }

    /// Gives the new store a name at which nothing is yet.
    func publish(at location: StoreLocation, like source: StoreLocation) throws(EngineError) {
        do {
            try Files.copyAttributes(from: source.path, to: staging)
            try Files.syncFile(staging)
            // A link never replaces a file that appeared meanwhile; a rename would.
            try Files.link(staging, as: location.path)
            try Files.unlink(staging)
            try Files.syncDirectory(location.directory)
        } catch {
            throw EngineError(
                error.code == .exists ? .cannotCreate : .inputOutput, "\(location.path): \(error.message)")
        }
    }

    /// The file that was read must still be the one at the path.
    private func proveSame(_ store: SourceStore) throws(EngineError) {
        let path = store.location.path
        do {
            if try Files.status(of: path).isSameFile(as: store.identity) { return }
        } catch {
            throw EngineError(.undecided, "\(path): is gone: \(error.message)")
        }
        throw EngineError(
            .undecided, "\(path): another file was put there while the store was migrated",
            remedy: "run again to migrate the one that is there now")
    }

    /// An old -wal beside the new file would bring the old store back; SQLite ignores a failing unlink of it.
    private func proveAbsent(_ paths: [String], _ location: StoreLocation) throws(EngineError) {
        for path in paths {
            do {
                guard let status = try Files.statusIfExists(path) else { continue }
                guard status.size == 0 || path == location.shm else {
                    throw EngineError(
                        .busy, "\(path): appeared while the store was migrated",
                        remedy: "close the application that uses the store, then run again")
                }
                try Files.unlink(path)
                guard try Files.statusIfExists(path) == nil else {
                    throw EngineError(.inputOutput, "\(path): can't be removed")
                }
            } catch let error as FileError {
                throw EngineError(.inputOutput, "\(path): can't be removed: \(error.message)")
            } catch let error as EngineError {
                throw error
            } catch {
                throw EngineError(.inputOutput, "\(path): \(error)")
            }
        }
    }

    /// A run that was killed between link and rename leaves a second name of the untouched store: it goes.
    static func removeUnusedBackup(of location: StoreLocation) throws(FileError) {
        let store = try Files.status(of: location.path)
        guard store.kind == .regular, store.linkCount > 1 else { return }
        for number in 1...999 {
            let name = backupName(location, number)
            guard let backup = try Files.statusIfExists(name) else { return }
            if backup.isSameFile(as: store) {
                try Files.unlink(name)
                try Files.syncDirectory(location.directory)
                return
            }
        }
    }

    private static func backupName(_ location: StoreLocation, _ number: Int) -> String {
        number == 1 ? location.path + ".premigration" : "\(location.path).premigration-\(number)"
    }

    private func freeBackupName(for location: StoreLocation) throws(EngineError) -> String {
        for number in 1...999 {
            let name = Self.backupName(location, number)
            do {
                if try Files.statusIfExists(name) == nil { return name }
            } catch {
                throw EngineError(.inputOutput, "\(name): \(error.message)")
            }
        }
        throw EngineError(
            .cannotCreate, "\(location.path): there are 999 backups", remedy: "remove the ones that aren't needed")
    }
}
