import CausewayPlatform
import CausewayStores

/// The folder beside the store in which the new one is built; one process at a time (InsideCrashSafety §4.1).
///
/// An unfinished run leaves it, with what the next run needs to resume; a finished run removes it.
struct WorkDirectory: ~Copyable {
    let path: String
    private let lock: FileLock

    /// Makes the folder, or takes over an earlier run's, with everything in it.
    ///
    /// - Parameters:
    ///   - path: the folder's.
    ///   - needsLinks: whether hard links will be made beside it.
    ///   - remedy: what helps where the user may not write beside it.
    /// - Returns: the folder, held until it is removed or goes out of scope.
    /// - Throws: `.busy` while another process holds it, `.cannotCreate` if it can't be made or trusted, or if the file
    ///   system has no hard links, `.undecided` if it holds files that no run makes.
    static func taken(
        at path: String, needsLinks: Bool = true,
        remedy: String = "get write access to that folder, where the new store is built, or use --output"
    ) throws(EngineError) -> WorkDirectory {
        let directory = WorkDirectory(path: path, lock: try lock(path, remedy))
        KillPoint.reach(.locked)
        let names = try directory.names()
        let foreign = names.filter { !WorkFile.isOwn($0) }
        guard foreign.isEmpty else {
            throw EngineError(
                .undecided, "\(path): holds files that no migration makes", details: foreign.sorted(),
                remedy: "check them, then move them away")
        }
        // If there is work, the test has succeeded before.
        if needsLinks, names.allSatisfy({ $0 == WorkFile.lock || $0 == WorkFile.linkTest }) {
            do throws(EngineError) {
                try directory.testLink()
            } catch {
                // The error that matters is why no work can start here.
                try? directory.remove()
                throw error
            }
        }
        return directory
    }

    /// The swap keeps the original by a hard link; an output gets its name by one. Tested now, not after hours.
    private func testLink() throws(EngineError) {
        let test = path + "/" + WorkFile.linkTest
        do throws(FileError) {
            // Left by a run that was killed here.
            try Files.unlink(test)
            try Files.link(path + "/" + WorkFile.lock, as: test)
            try Files.unlink(test)
        } catch {
            let isFull = error.code == .noSpace || error.code == .io
            throw EngineError(
                isFull ? .inputOutput : .cannotCreate,
                "\(Paths.parent(of: path)): hard links can't be made here, and the swap needs them: \(error.message)",
                remedy: isFull
                    ? "make room, then run again"
                    : """
                    copy the store with its -wal and its support folder to a file system with hard links (ext4, XFS, \
                    APFS; not FAT or exFAT), or give an --output on one
                    """)
        }
    }

    /// Gives a file here everything that the new store gets from the old one besides its content: owner, group,
    /// permissions, extended attributes. Tested now, not after hours.
    ///
    /// - Throws: `.cannotCreate` where the file can't get them.
    func tryAttributes(of store: StoreLocation, ignoringOwner: Bool) throws(EngineError) {
        let test = path + "/" + WorkFile.attributeTest
        let remedy = "run as the store's owner, or let the new store be yours with --ignore-ownership"
        do {
            // Left by a run that was killed here.
            try Files.unlink(test)
            _ = try OpenFile(test, mode: .createNew)
            defer { _ = try? Files.unlink(test) }
            try Files.copyAttributes(from: store.path, to: test, ignoringOwner: ignoringOwner)
            let (wanted, found) = (try Files.status(of: store.path), try Files.status(of: test))
            let isOwned = ignoringOwner || (found.userID, found.groupID) == (wanted.userID, wanted.groupID)
            guard !isOwned || found.mode != wanted.mode else { return }
            throw EngineError(
                .cannotCreate,
                "\(store.path): its \(isOwned ? "permissions" : "owner and group") can't be given to a new file here",
                remedy: isOwned ? "change its permissions, or copy it to a file system that keeps them" : remedy)
        } catch let error as FileError {
            let isFull = error.code == .noSpace || error.isOfSystem
            throw EngineError(
                isFull ? .inputOutput : .cannotCreate,
                "\(store.path): its owner, permissions and attributes can't be given to a new file: \(error.message)",
                remedy: isFull ? "make room, then run again" : remedy)
        } catch {
            throw EngineError(error, during: test)
        }
    }

    private init(path: String, lock: consuming FileLock) {
        self.path = path
        self.lock = lock
    }

    /// How often to try again if the folder disappears meanwhile: each time needs another run that ends just then.
    private static let lockAttempts = 100

    private static func lock(_ path: String, _ remedy: String, attempt: Int = 1) throws(EngineError) -> FileLock {
        do {
            try requireSafeParent(path)
            if let status = try Files.statusIfExists(path) {
                guard status.kind == .directory, status.userID == ProcessFacts.userID, status.mode & 0o077 == 0 else {
                    throw EngineError(
                        .cannotCreate, "\(path): exists, but isn't a private folder of this user",
                        remedy: "check it, and remove it if it isn't needed")
                }
            } else {
                try make(path)
            }
            let lock = try FileLock(path + "/" + WorkFile.lock)
            do throws(FileError) {
                try lock.write(LockText(phase: "").text)
            } catch {
                // It is locked without its text, too, and who wants to make room needs the lock.
                guard error.code == .noSpace else { throw error }
            }
            return lock
        } catch let error as FileError where error.code == .busy {
            throw EngineError(
                .busy, "\(path): another process is migrating this store", remedy: "wait for it to end, then run again")
        } catch let error as FileError where error.code == .notFound && attempt < lockAttempts {
            // Another run has ended, and has removed its folder.
            return try lock(path, remedy, attempt: attempt + 1)
        } catch let error as FileError {
            let isFull = error.code == .noSpace || error.code == .io
            // A folder without a lock, if this run has made it just now. The failure matters.
            if isFull { _ = try? Files.removeDirectory(path) }
            var failure = EngineError(isFull ? .inputOutput : .cannotCreate, "\(path): \(error.message)")
            if [.permissionDenied, .readOnly].contains(error.code) { failure.remedy = remedy }
            throw failure
        } catch {
            throw EngineError(error, during: path)
        }
    }

    /// A folder that others may rename can be another folder at every call, however private it is.
    private static func requireSafeParent(_ path: String) throws {
        let parent = Paths.parent(of: path)
        guard try Files.isSafeParent(parent) else {
            throw EngineError(
                .cannotCreate, "\(parent): every user may rename files in this folder, the work directory too",
                remedy: "remove write access for others (chmod o-w), or set the folder's sticky bit")
        }
    }

    private static func make(_ path: String) throws {
        do throws(FileError) {
            try Files.makeDirectory(path, mode: 0o700)
        } catch {
            // Another process was faster: the lock decides.
            guard error.code == .exists else { throw error }
        }
        try Files.syncDirectory(Paths.parent(of: path))
        KillPoint.reach(.workDirectoryMade)
    }

    /// Whether an earlier run has left anything.
    func hasWork() throws(EngineError) -> Bool {
        try names().contains {
            ![WorkFile.lock, WorkFile.linkTest, WorkFile.attributeTest].contains($0) && !Self.outlastsWork($0)
        }
    }

    /// Whether a file is about the store, independent of the work, and isn't work itself.
    static func outlastsWork(_ name: String) -> Bool { SidecarCopies.isCopy(name) || name == WorkFile.originalMode }

    /// Whether a folder has records that say what the work in it is, so that another run can use it.
    static func hasRecords(at path: String) -> Bool {
        [WorkFile.plan, WorkFile.swap].contains { name in
            // An entry without a readable status counts as existing.
            (try? Files.exists(path + "/" + name)) ?? true
        }
    }

    // MARK: - Clearing

    /// Removes what an earlier run left; the plan last, so that the rest always belongs to a known plan.
    func clear() throws(EngineError) {
        let names = try names()
        // Without its plan a file has no owner; without its intent a finished swap looks like a foreign store.
        let last = [WorkFile.plan, WorkFile.swap, WorkFile.lock]
        try remove(names.filter { !last.contains($0) && !Self.outlastsWork($0) })
        try remove([WorkFile.plan])
        KillPoint.reach(.planRemoved)
        try remove([WorkFile.swap])
        KillPoint.reach(.intentRemoved)
        try sync()
    }

    /// Removes the folder, or everything in it except files that outlast the work.
    consuming func remove() throws(EngineError) {
        KillPoint.reach(.cleaningUp)
        try clear()
        let path = path
        do {
            // Removed while it is held, so that no other process can hold it meanwhile.
            try lock.removeAndRelease()
            KillPoint.reach(.lockRemoved)
            try Files.removeDirectory(path)
            try Files.syncDirectory(Paths.parent(of: path))
        } catch {
            // Another process has started in the folder meanwhile: it owns it now.
            if error.code == .notEmpty { return }
            throw EngineError(.inputOutput, "\(path): \(error.message)")
        }
    }

    private func names() throws(EngineError) -> [String] {
        try EngineError.at(path, as: .cannotCreate) { try Files.list(path) }
    }

    func remove(_ names: [String]) throws(EngineError) {
        do {
            try WorkFile.remove(names, in: path)
        } catch {
            throw EngineError(.inputOutput, "\(error.path): \(error.message)")
        }
    }

    func sync() throws(EngineError) {
        try EngineError.at(path) { try Files.syncDirectory(path) }
    }
}
