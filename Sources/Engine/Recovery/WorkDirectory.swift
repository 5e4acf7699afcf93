import CausewayPlatform
import CausewayStores

/// The folder beside the store in which the new one is built; one migrator at a time (InsideCrashSafety §4.1).
///
/// A run that ends leaves it, with what the next needs to go on; a run that is done removes it.
struct WorkDirectory: ~Copyable {
    let path: String
    private let lock: FileLock

    /// Makes the folder, or takes over one that an ended run left, with everything in it.
    ///
    /// - Parameters:
    ///   - path: the folder's.
    ///   - needsLinks: whether hard links will be made beside it.
    /// - Returns: the folder, held until it is removed or goes out of scope.
    /// - Throws: `.busy` while another migrator holds it, `.cannotCreate` where it can't be made or trusted, or where the
    ///   file system makes no hard links, `.undecided` where it holds what no run leaves.
    static func taken(at path: String, needsLinks: Bool = true) throws(EngineError) -> WorkDirectory {
        let directory = WorkDirectory(path: path, lock: try lock(path))
        KillPoint.reach(.locked)
        let names = try directory.names()
        let foreign = names.filter { !WorkFile.isOwn($0) }
        guard foreign.isEmpty else {
            throw EngineError(
                .undecided, "\(path): holds files that no migration makes", details: foreign.sorted(),
                remedy: "look at them, and move them away")
        }
        // Where something was begun, the test has been passed.
        if needsLinks, names.allSatisfy({ $0 == WorkFile.lock || $0 == WorkFile.linkTest }) {
            do throws(EngineError) {
                try directory.testLink()
            } catch {
                // What counts is why nothing can be begun here.
                try? directory.remove()
                throw error
            }
        }
        return directory
    }

    /// The swap keeps the original by a hard link; an output gets its name by one. Found out now, not after hours.
    private func testLink() throws(EngineError) {
        let test = path + "/" + WorkFile.linkTest
        do throws(FileError) {
            // Of a run that was killed here.
            try Files.unlink(test)
            try Files.link(path + "/" + WorkFile.lock, as: test)
            try Files.unlink(test)
        } catch {
            let isFull = error.code == .noSpace || error.code == .io
            throw EngineError(
                isFull ? .inputOutput : .cannotCreate,
                "\(Paths.parent(of: path)): no hard link can be made here, which the swap needs: \(error.message)",
                remedy: isFull
                    ? "make room, then run again"
                    : """
                    copy the store with its -wal and its support folder to a file system with hard links (ext4, XFS, \
                    APFS; not FAT or exFAT), or give an --output on one
                    """)
        }
    }

    /// Gives a file here all that the new store is to get from the old one beside its content: owner, group, permissions,
    /// extended attributes. Found out now, not after hours.
    ///
    /// - Throws: `.cannotCreate` where the file can't get them.
    func tryAttributes(of store: StoreLocation, ignoringOwner: Bool) throws(EngineError) {
        let test = path + "/" + WorkFile.attributeTest
        let remedy = "run as the store's owner, or let the new store be yours with --ignore-ownership"
        do {
            // Of a run that was killed here.
            try Files.unlink(test)
            _ = try OpenFile(test, mode: .createNew)
            defer { _ = try? Files.unlink(test) }
            try Files.copyAttributes(from: store.path, to: test, ignoringOwner: ignoringOwner)
            let (wanted, found) = (try Files.status(of: store.path), try Files.status(of: test))
            let isOwned = ignoringOwner || (found.userID, found.groupID) == (wanted.userID, wanted.groupID)
            guard !isOwned || found.mode != wanted.mode else { return }
            throw EngineError(
                .cannotCreate,
                """
                \(store.path): its \(isOwned ? "permissions" : "owner and group") can't be given to a new file here
                """,
                remedy: isOwned
                    ? "change its permissions, or copy it to a file system that keeps them" : remedy)
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

    /// How often to begin anew where the folder went between two looks: each needs another run that ends just then.
    private static let lockAttempts = 100

    private static func lock(_ path: String, attempt: Int = 1) throws(EngineError) -> FileLock {
        do {
            try requireSafeParent(path)
            if let status = try Files.statusIfExists(path) {
                guard status.kind == .directory, status.userID == ProcessFacts.userID, status.mode & 0o077 == 0 else {
                    throw EngineError(
                        .cannotCreate, "\(path): exists, but isn't a private folder of this user",
                        remedy: "look at it, and remove it if it isn't needed")
                }
            } else {
                try make(path)
            }
            let lock = try FileLock(path + "/" + WorkFile.lock)
            try lock.write(LockText(phase: "").text)
            return lock
        } catch let error as FileError where error.code == .busy {
            throw EngineError(
                .busy, "\(path): another migrator works on this store", remedy: "wait for it to end, then run again")
        } catch let error as FileError where error.code == .notFound && attempt < lockAttempts {
            // Another run has ended, and has removed its folder.
            return try lock(path, attempt: attempt + 1)
        } catch let error as FileError {
            let isFull = error.code == .noSpace || error.code == .io
            var failure = EngineError(isFull ? .inputOutput : .cannotCreate, "\(path): \(error.message)")
            if [.permissionDenied, .readOnly].contains(error.code) {
                failure.remedy = """
                    the work is done in the folder of the new store: make it one that you may write to, or name another \
                    place with --output
                    """
            }
            throw failure
        } catch let error as EngineError {
            throw error
        } catch {
            throw EngineError(.cannotCreate, "\(path): \(error)")
        }
    }

    /// A folder that others may rename can be another one with every call, however private it is.
    private static func requireSafeParent(_ path: String) throws {
        let parent = Paths.parent(of: path)
        guard try Files.isSafeParent(parent) else {
            throw EngineError(
                .cannotCreate, "\(parent): everybody may rename what is in this folder, the work directory too",
                remedy: "take the right to write from others (chmod o-w), or set the folder's sticky bit")
        }
    }

    private static func make(_ path: String) throws {
        do throws(FileError) {
            try Files.makeDirectory(path, mode: 0o700)
        } catch {
            // Another migrator was faster: who gets the lock will be seen.
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

    /// Whether a file says something about the store whatever becomes of the work, and is no work itself.
    static func outlastsWork(_ name: String) -> Bool { SidecarCopies.isCopy(name) || name == WorkFile.originalMode }

    /// Whether a folder has records that say what the work in it is, so that another run can use it.
    static func hasRecords(at path: String) -> Bool {
        [WorkFile.plan, WorkFile.swap].contains { name in
            // What can't be looked at is there.
            (try? Files.exists(path + "/" + name)) ?? true
        }
    }

    // MARK: - Clearing

    /// Removes what an earlier run left; the plan last, so that what is left is always of a known plan.
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

    /// Removes the folder; where it holds what outlasts the work, all but that.
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
            // Another migrator has begun in the folder meanwhile: it is that one's now.
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
