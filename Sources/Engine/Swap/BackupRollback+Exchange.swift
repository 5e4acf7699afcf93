import CausewayPlatform
import CausewayStores

/// The one rename, with both files locked.
extension BackupRollback {
    /// Seconds to wait for readers to end.
    private static let timeout = 10.0

    /// `defect` says why the store can't be read.
    ///
    /// - Returns: which processes still have the old file open, and which files were moved.
    func exchange(
        _ location: StoreLocation, _ backup: StoreLocation, areWAL: (store: Bool, backup: Bool), keepingAs kept: String,
        _ defect: inout String?
    ) throws(EngineError) -> (users: [FileUser], moved: [String]) {
        let descriptor = try Self.isThere(location) ? StoreDescriptor(location) : nil
        defer { withExtendedLifetime(descriptor) {} }
        // Each folds a -wal in, so that the kept file has all rows, including those that the application added since.
        // Busy if a program has one of them open in WAL mode; in rollback mode SQLite tells that program at its next
        // write that the file was moved.
        let backupGuard = try Guardian(backup, restoringWAL: areWAL.backup)
        let storeGuard = try reading(&defect) { () throws(EngineError) in
            try Guardian(location, restoringWAL: areWAL.store)
        }
        let broken = try storeGuard == nil ? BrokenStore(location) : nil
        defer { withExtendedLifetime(broken) {} }
        var moved: [String] = []
        var hasTwoNames = false
        do throws(EngineError) {
            for case (let guardian?, let place) in [(backupGuard, backup), (storeGuard, location)] {
                try Self.lock(guardian, place)
                try Self.removeSidecars(of: place)
            }
            if let broken {
                // The file has its second name before its log does: a run that ends in between leaves them together.
                if let descriptor {
                    try Self.keep(location, as: kept, descriptor)
                    hasTwoNames = true
                }
                moved = try broken.moveSidecars(to: kept)
                KillPoint.reach(.sidecarsMoved)
            }
            try Self.rename(backup, to: location, keepingAs: kept, descriptor)
        } catch {
            broken?.moveSidecarsBack()
            if hasTwoNames { _ = try? Files.unlink(kept) }
            storeGuard?.release(keepingWork: false)
            backupGuard.release(keepingWork: false)
            throw error
        }
        // Both have another name now: nothing may be written through the old one. The new store's lock is kept until no
        // process has the old one open (`StoreHandover`).
        storeGuard?.release(keepingWork: true)
        defer { backupGuard.release(keepingWork: true) }
        do {
            try Files.syncDirectory(location.directory)
            return (descriptor == nil ? [] : StoreHandover.waitForUsers(of: try Files.status(of: kept)), moved)
        } catch {
            throw EngineError(
                .inputOutput,
                "\(location.path): the backup is in place, but may not survive a power loss: \(error.message)",
                remedy: "check the disk" + (descriptor == nil ? "" : "; the store that was there is at \(kept)"),
                state: .restored)
        }
    }

    private static func lock(_ guardian: Guardian, _ place: StoreLocation) throws(EngineError) {
        do throws(EngineError) {
            try guardian.lockExclusively(timeout: timeout)
        } catch {
            guard error.kind == .undecided else { throw error }
            throw EngineError(
                .busy, "\(place.path): a program wrote to it just now",
                remedy: "close the program that uses it, then run again")
        }
    }

    /// Proves that there is no file beside a locked one that SQLite would write into its successor, or that would stay
    /// behind.
    private static func removeSidecars(of place: StoreLocation) throws(EngineError) {
        try EngineError.at(place.path) {
            for path in [place.wal, place.shm, place.journal] {
                guard let status = try Files.statusIfExists(path) else { continue }
                guard try path == place.shm || place.isSpent(path, status) else {
                    throw EngineError(
                        .busy, "\(path): appeared during the rollback",
                        remedy: "close the application that uses the store")
                }
                try Files.unlink(path)
                guard try Files.statusIfExists(path) == nil else {
                    throw EngineError(.inputOutput, "\(path): can't be removed")
                }
            }
            try Files.syncDirectory(place.directory)
        }
    }

    private static func rename(
        _ backup: StoreLocation, to location: StoreLocation, keepingAs kept: String, _ descriptor: StoreDescriptor?
    ) throws(EngineError) {
        try EngineError.at(location.path) {
            if let descriptor {
                try keep(location, as: kept, descriptor)
            } else if try isThere(location) {
                throw EngineError(
                    .busy, "\(location.path): appeared during the rollback",
                    remedy: "close the application that uses the store")
            }
            do throws(FileError) {
                try Files.rename(backup.path, to: location.path)
            } catch {
                // Every migration would refuse a store with two names.
                if descriptor != nil { _ = try? Files.unlink(kept) }
                throw error
            }
        }
    }

    /// Gives the store that is there one more name.
    private static func keep(
        _ location: StoreLocation, as kept: String, _ descriptor: StoreDescriptor
    ) throws(EngineError) {
        try EngineError.at(location.path) {
            guard let there = try Files.statusIfExists(kept) else {
                try Files.link(location.path, as: kept)
                return try Files.syncDirectory(location.directory)
            }
            // Left by a rollback that ended here: it is the same file.
            let store = try descriptor.identity()
            guard there.inode == store.inode, there.device == store.device else {
                throw EngineError(.cannotCreate, "\(kept): already exists", remedy: "move it away")
            }
        }
    }
}
