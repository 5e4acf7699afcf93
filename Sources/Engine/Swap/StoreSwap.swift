import CausewayPlatform
import CausewayPreparation
import CausewayStores

/// Puts a verified staging store in its place (InsideCrashSafety §§2.3, 4.2).
///
/// A hard link keeps the original; one rename is the commit point: at every instant the path holds the complete old or
/// the complete new store. FileManager's replace is never used: on Linux it has lost both files (InsideCrashSafety §1).
/// Every step can be repeated after a crash.
struct StoreSwap {
    let staging: String
    let plan: PlanRecord
    let timeout: Double
    let ignoresOwnership: Bool
    let verification: VerificationLevel
    let cancellation: Cancellation

    /// Replaces the store and keeps the original beside it.
    ///
    /// - Returns: the backup's path, those of copies of a -wal that couldn't be read to its end, and the old file's
    ///   attributes that couldn't be kept.
    func replace(
        _ store: SourceStore, _ descriptor: StoreDescriptor, in work: borrowing WorkDirectory
    ) throws(EngineError) -> (backup: String, walCopies: [String], warnings: [String]) {
        let location = store.location
        let backup = location.path + plan.backupSuffix
        // Before the attributes are copied: the old store's permissions may forbid writing.
        let file = try EngineError.at(staging) { try OpenFile(staging, mode: .readWrite) }
        let warnings = try prepare(like: location)
        KillPoint.reach(.externalFilesLinked)
        try store.lockForSwap(timeout: timeout, cancellation: cancellation)
        KillPoint.reach(.lockedExclusively)
        try proveSame(descriptor)
        try proveAbsent([location.wal, location.shm, location.journal], location)
        KillPoint.reach(.sidecarsAbsent)
        if Mutant.isOn(.rawClose) { _ = try? Files.readPrefix(of: location.path, length: 1) }
        let sidecars = SidecarCopies(work: work.path)
        let copies = try sidecars.publish(sidecars.paths(.wal), .wal, beside: backup)
        try work.write(try intent(location, backup: backup, source: descriptor.identity()))
        try link(location, as: backup, descriptor)
        let old = try EngineError.at(backup) { try Files.status(of: backup) }
        let handover = try StoreHandover(file, from: old, at: location.path)
        try rename(to: location)
        do throws(EngineError) {
            try proveDurable(location, backup: backup)
        } catch {
            // The new store has the name anyway, and programs with the old one open must not find its journals.
            store.swapped()
            var error = error
            error.details += handover.end()
            throw error
        }
        store.swapped()
        return (backup, copies, warnings + handover.end())
    }

    /// Gives the new store a name that doesn't exist yet.
    ///
    /// - Returns: the source file's attributes that couldn't be kept.
    func publish(
        at location: StoreLocation, like source: StoreLocation, _ descriptor: StoreDescriptor,
        in work: borrowing WorkDirectory
    ) throws(EngineError) -> [String] {
        let mark = try EngineError.at(staging) {
            try OutputMark(plan.fingerprint, plan.source, verification, staging, sideFiles: plan.sideFiles).text
        }
        let warnings = try prepare(like: source, mark: mark)
        try work.write(try intent(location, backup: location.name + plan.backupSuffix, source: descriptor.identity()))
        do {
            // A link never replaces a file that appeared meanwhile; a rename would.
            try Files.link(staging, as: location.path)
            KillPoint.reach(.swapped)
            try Files.syncDirectory(location.directory)
            KillPoint.reach(.swapDurable)
        } catch {
            guard error.code == .exists else {
                throw EngineError(.inputOutput, "\(location.path): \(error.message)")
            }
            // Nothing was published: with the intent, the file there would look like a new store that was replaced.
            try work.removeIntent()
            throw EngineError(
                .cannotCreate, "\(location.path): appeared while the store was migrated",
                remedy: "move it away, then run again")
        }
        return warnings
    }

    private func intent(
        _ location: StoreLocation, backup: String, source: FileIdentity
    ) throws(EngineError) -> SwapIntent {
        try EngineError.at(staging) {
            guard let destination = try FileIdentity(of: staging) else {
                throw EngineError(.verification, "\(staging): is gone")
            }
            return SwapIntent(
                fingerprint: plan.fingerprint.text, migration: plan.migration, store: location.name,
                backup: Paths.name(of: backup), source: source, destination: destination,
                staging: Paths.name(of: staging))
        }
    }

    /// Owner, permissions and extended attributes, then everything on the medium.
    private func prepare(like source: StoreLocation, mark: String? = nil) throws(EngineError) -> [String] {
        do {
            let refused = try Files.copyAttributes(
                from: source.path, to: staging, ignoringOwner: ignoresOwnership, mark: mark)
            KillPoint.reach(.attributesCopied)
            try Files.syncFile(staging)
            try Files.syncDirectory(Paths.parent(of: staging))
            KillPoint.reach(.stagingSynced)
            return refused.map { "\(source.path): the extended attribute \($0) can't be given to the new store" }
        } catch {
            var failure = EngineError(
                .inputOutput, "\(staging): \(error.message)",
                remedy: error.code == .permissionDenied
                    ? "run as the store's owner, or let the new store be yours with --ignore-ownership" : "")
            failure.isFailedSync = error.operation == "sync"
            throw failure
        }
    }

    private func link(_ location: StoreLocation, as backup: String, _ descriptor: StoreDescriptor) throws(EngineError) {
        try EngineError.at("\(backup): the backup can't be made") {
            if Mutant.isOn(.twoRenames) {
                try Files.rename(location.path, to: backup)
            } else if let there = try Files.statusIfExists(backup) {
                // Left by a run that ended after it made it; anything else belongs to someone else.
                let source = try descriptor.identity()
                guard there.inode == source.inode, there.device == source.device else {
                    throw EngineError(
                        .cannotCreate, "\(backup): already exists, and isn't the store", remedy: "move it away")
                }
            } else {
                try Files.link(location.path, as: backup)
            }
            try Files.syncDirectory(location.directory)
        }
        KillPoint.reach(.backupLinked)
    }

    private func rename(to location: StoreLocation) throws(EngineError) {
        try EngineError.at("\(location.path): can't be replaced") { try Files.rename(staging, to: location.path) }
        KillPoint.reach(.swapped)
    }

    private func proveDurable(_ location: StoreLocation, backup: String) throws(EngineError) {
        try Self.proveDurable(location, remedy: "check the disk, then run again; the original is at \(backup)")
        do {
            try Files.syncDirectory(Paths.parent(of: staging))
        } catch {
            throw EngineError(.inputOutput, "\(staging): \(error.message)", state: .alreadyNew)
        }
        KillPoint.reach(.swapDurable)
    }

    /// Makes a new name durable; until then a power cut restores the old state.
    static func proveDurable(
        _ location: StoreLocation, remedy: String = "check the disk, then run again"
    ) throws(EngineError) {
        do {
            try Files.syncDirectory(location.directory)
        } catch {
            throw EngineError(
                .inputOutput, "\(location.path): the swap isn't proven durable: \(error.message)", remedy: remedy,
                state: .alreadyNew)
        }
    }

    /// The file that was read must still be the one at the path.
    private func proveSame(_ descriptor: StoreDescriptor) throws(EngineError) {
        let path = descriptor.location.path
        let identity = try descriptor.identity()
        let status = try EngineError.at("\(path): is gone", as: .undecided) { try Files.status(of: path) }
        if status.inode == identity.inode, status.device == identity.device { return }
        throw EngineError(
            .undecided, "\(path): another file was put there while the store was migrated",
            remedy: "run again with --restart to migrate the one that is there now")
    }

    /// An old -wal beside the new file would restore the old store; SQLite ignores it when its unlink fails.
    private func proveAbsent(_ paths: [String], _ location: StoreLocation) throws(EngineError) {
        if Mutant.isOn(.noSidecarCheck) { return }
        for path in paths {
            try EngineError.at("\(path): can't be removed") {
                guard let status = try Files.statusIfExists(path) else { return }
                guard try path == location.shm || location.isSpent(path, status) else {
                    throw EngineError(
                        .busy, "\(path): appeared while the store was migrated",
                        remedy: "close the application that uses the store, then run again")
                }
                try Files.unlink(path)
                guard try Files.statusIfExists(path) == nil else {
                    throw EngineError(.inputOutput, "\(path): can't be removed")
                }
            }
        }
        try EngineError.at(location.directory) { try Files.syncDirectory(location.directory) }
    }
}
