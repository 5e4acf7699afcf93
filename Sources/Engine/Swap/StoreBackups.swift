import CausewayPlatform
import CausewayStores

/// Stores that migrations and rollbacks have left beside a store: `<store>.premigration-<digits>` and
/// `<store>.rolledback-<digits>`.
struct StoreBackups {
    let location: StoreLocation

    /// Paths of the originals, sorted.
    func paths() throws(EngineError) -> [String] { try paths(of: .premigration) }

    /// Paths of one kind, sorted.
    func paths(of kind: BackupList.Kind) throws(EngineError) -> [String] {
        try paths { name in isBackup(name, kind) }
    }

    private func paths(where isWanted: (String) -> Bool) throws(EngineError) -> [String] {
        try EngineError.reading(location.directory) {
            try Files.list(location.directory).filter(isWanted).map { location.directory + "/" + $0 }
        }
    }

    /// Copies of `-wal`s that migrations have left: `<store>.premigration-<digits>.wal`, and more of them with a number
    /// behind; of one backup, or of all, even if the backup is gone.
    func walCopies(of backup: String? = nil) throws(EngineError) -> [String] {
        let wanted = backup.map { Paths.name(of: $0) + ".wal" }
        return try paths { name in
            guard let dot = name.lastIndex(of: "."), name[dot...].hasPrefix(".wal"),
                name[dot...].dropFirst(4).allSatisfy({ $0.isASCII && $0.isNumber }), wanted.map(name.hasPrefix) ?? true
            else { return false }
            return isBackup(String(name[..<dot]), .premigration)
        }
    }

    /// Copies of `-wal`s and journals that rollbacks have left: `<store>.rolledback-<digits>.wal`, `.journal`, and more
    /// of them with a number behind.
    func rolledBackCopies() throws(EngineError) -> [String] {
        try paths { name in
            guard let dot = name.lastIndex(of: ".") else { return false }
            let isCopy = SidecarCopies.Kind.allCases.contains { kind in
                let suffix = "." + kind.rawValue
                return name[dot...].hasPrefix(suffix)
                    && name[dot...].dropFirst(suffix.count).allSatisfy { $0.isASCII && $0.isNumber }
            }
            return isCopy && isBackup(String(name[..<dot]), .rolledback)
        }
    }

    /// The prefix and eight hexadecimal digits, nothing after: never a backup's own `-wal`.
    private func isBackup(_ name: String, _ kind: BackupList.Kind) -> Bool {
        let prefix = "\(location.name).\(kind.rawValue)-"
        guard name.hasPrefix(prefix) else { return false }
        let digits = name.dropFirst(prefix.count)
        return digits.count == 8 && digits.allSatisfy { $0.isASCII && $0.isHexDigit && !$0.isUppercase }
    }

    /// The backup to use: the given one, or the only one.
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
            throw EngineError(
                .missing, "\(location.path): there is no backup beside the store",
                remedy: """
                    there is nothing to take back: a migration with --output leaves none, and purge-backup removes it
                    """)
        }
        guard all.count == 1 else {
            throw EngineError(
                .usage, "\(location.path): there are \(all.count) backups", details: all,
                remedy: "name one with --backup")
        }
        return only
    }

    /// Takes the work directory, so that no migration runs meanwhile, refuses if there is unfinished work, and undoes a
    /// rollback that was killed.
    func lock(needsLinks: Bool) throws(EngineError) -> WorkDirectory {
        let directory = try WorkDirectory.taken(
            at: location.workDirectory, needsLinks: needsLinks, remedy: "get write access to the store's folder")
        let found = try UnfinishedWork(in: directory.path, for: location, isOutput: false)
        guard found.plan == nil || found.state == .swapped else {
            throw EngineError(
                .undecided, "\(directory.path): there is unfinished work of a migration",
                remedy: "finish it, or discard it with migrate --restart")
        }
        if found.state == .swapped {
            // The run that swapped ended before this.
            try StoreSwap.proveDurable(location)
            try SidecarCopies(work: directory.path).removeSettled()
        }
        do throws(EngineError) {
            try BrokenStore.takeBack(location)
        } catch {
            // The thrown failure matters.
            try? directory.remove()
            throw error
        }
        return directory
    }

    /// Releases the work directory when everything is done.
    ///
    /// - Returns: what was done to the store, and a warning if the folder couldn't be removed: the result stands, and
    ///   the next run removes it.
    func unlock(_ directory: consuming WorkDirectory) -> [String] {
        let path = directory.path
        var warnings = OriginalMode(of: location, work: path).settle().map { ["\(location.path): \($0)"] } ?? []
        do throws(EngineError) {
            try directory.remove()
        } catch {
            warnings.append("\(path) couldn't be removed: \(error.message)")
        }
        return warnings
    }
}
