import CausewayPlatform

/// The folder beside the store in which the new one is built; one migrator at a time.
struct WorkDirectory: ~Copyable {
    let path: String
    private let lock: FileLock

    /// Names of what a run leaves: anything else in the folder isn't ours.
    private static let lockName = "lock"
    private static let stepPrefix = "step-"

    /// Makes the folder, or takes over one that an ended run left, and removes what is in it.
    ///
    /// - Throws: `.busy` while another migrator holds it, `.cannotCreate` where it can't be made or trusted.
    static func taken(at path: String) throws(EngineError) -> WorkDirectory {
        let directory = WorkDirectory(path: path, lock: try lock(path))
        try directory.clear()
        return directory
    }

    private init(path: String, lock: consuming FileLock) {
        self.path = path
        self.lock = lock
    }

    private static func lock(_ path: String) throws(EngineError) -> FileLock {
        do {
            if let status = try Files.statusIfExists(path) {
                guard status.kind == .directory, status.userID == ProcessFacts.userID, status.mode & 0o077 == 0 else {
                    throw EngineError(
                        .cannotCreate, "\(path): exists, but isn't a private folder of this user",
                        remedy: "look at it, and remove it if it isn't needed")
                }
            } else {
                try Files.makeDirectory(path, mode: 0o700)
                try Files.syncDirectory(Paths.parent(of: path))
            }
            return try FileLock(path + "/" + lockName)
        } catch let error as FileError where error.code == .busy {
            throw EngineError(
                .busy, "\(path): another migrator works on this store", remedy: "wait for it to end, then run again")
        } catch let error as FileError {
            throw EngineError(.cannotCreate, "\(path): \(error.message)")
        } catch let error as EngineError {
            throw error
        } catch {
            throw EngineError(.cannotCreate, "\(path): \(error)")
        }
    }

    /// The staging store of a step.
    func staging(_ index: Int) -> String { "\(path)/\(Self.stepPrefix)\(index + 1).sqlite" }

    /// What a step looks up while it runs.
    func scratch(_ index: Int) -> String { "\(path)/\(Self.stepPrefix)\(index + 1)-objects.sqlite" }

    /// Removes the files of a staging store that is no longer needed.
    func remove(staging index: Int) throws(EngineError) {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            try Self.removeIfThere(staging(index) + suffix)
        }
    }

    /// Removes the folder.
    consuming func remove() throws(EngineError) {
        try clear()
        let path = path
        do {
            // Removed while it is held: nobody else can hold it meanwhile.
            try lock.removeAndRelease()
            try Files.removeDirectory(path)
            try Files.syncDirectory(Paths.parent(of: path))
        } catch {
            throw EngineError(.inputOutput, "\(path): \(error.message)")
        }
    }

    /// Removes what an earlier run left, and refuses what isn't of a run.
    private func clear() throws(EngineError) {
        let names: [String]
        do {
            names = try Files.list(path)
        } catch {
            throw EngineError(.cannotCreate, "\(path): \(error.message)")
        }
        let foreign = names.filter { $0 != Self.lockName && !$0.hasPrefix(Self.stepPrefix) }
        guard foreign.isEmpty else {
            throw EngineError(
                .undecided, "\(path): holds files that no migration makes", details: foreign.sorted(),
                remedy: "look at them, and move them away")
        }
        for name in names where name != Self.lockName { try Self.removeIfThere(path + "/" + name) }
    }

    private static func removeIfThere(_ path: String) throws(EngineError) {
        do {
            try Files.unlink(path)
        } catch {
            throw EngineError(.inputOutput, "\(path): \(error.message)")
        }
    }
}
