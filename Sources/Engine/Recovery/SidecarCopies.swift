import CausewayPlatform
import CausewayStores

/// Copies of files that SQLite is about to write into a store and remove: a hot journal, and a `-wal` that can't be
/// read to its end. They are durable before SQLite opens the store for writing, and stay in the work directory until a
/// migration is done, even if the run that made them fails.
///
/// Their names in the work directory aren't those of a store's sidecars: `kept-wal-1`, `kept-journal-1`, and so on.
struct SidecarCopies {
    enum Kind: String, CaseIterable {
        case wal, journal
    }

    let work: String

    /// Whether a file of the work directory is a complete copy.
    static func isCopy(_ name: String) -> Bool { name.hasPrefix(WorkFile.kept) && !name.hasSuffix(Files.partSuffix) }

    /// Paths of the copies, in the order in which they were made.
    func paths(_ kind: Kind) throws(EngineError) -> [String] {
        var result: [String] = []
        while true {
            let path = path(kind, result.count + 1)
            let there = try EngineError.at(path) { try Files.statusIfExists(path) }
            guard there != nil else { return result }
            result.append(path)
        }
    }

    /// Paths of all copies that can be found.
    var all: [String] { Kind.allCases.flatMap { (try? paths($0)) ?? [] } }

    private func path(_ kind: Kind, _ number: Int) -> String { "\(work)/\(WorkFile.kept)\(kind.rawValue)-\(number)" }

    /// Copies a sidecar, durably. A copy of an earlier run isn't made again.
    ///
    /// - Returns: the copy's path.
    @discardableResult
    func keep(_ kind: Kind, of location: StoreLocation) throws(EngineError) -> String {
        let source = kind == .wal ? location.wal : location.journal
        let copies = try paths(kind)
        let target = path(kind, copies.count + 1)
        do {
            if let last = copies.last, try Files.haveSameContent(source, last) { return last }
            try Self.copyWhole(source, to: target)
            KillPoint.reach(.sidecarCopied)
        } catch {
            throw EngineError(
                error.code == .noSpace || error.isOfSystem ? .inputOutput : .cannotCreate,
                "\(source): can't be copied to \(work): \(error.message)")
        }
        return target
    }

    private static func copyWhole(_ source: String, to target: String) throws(FileError) {
        // Users who may read the store may read its files; the user who runs this may not be able to change the owner.
        _ = try Files.copyWhole(from: source, to: target, ignoringOwner: true)
        try Files.syncDirectory(Paths.parent(of: target))
    }

    // MARK: - Beside the backup

    /// Copies a `-wal` durably, under the first free name beside a backup, unless there is a copy of it.
    ///
    /// - Returns: the copy's name.
    static func copy(_ wal: String, to backup: String) throws(EngineError) -> String {
        try EngineError.at("\(wal): can't be copied") {
            var number = 1
            while let there = try Files.statusIfExists(name(number, of: backup)) {
                let name = name(number, of: backup)
                if there.kind == .regular, try Files.haveSameContent(wal, name) { return name }
                number += 1
            }
            try copyWhole(wal, to: name(number, of: backup))
            return name(number, of: backup)
        }
    }

    /// Names of the copies beside a database: never the name at which SQLite would look for a sidecar.
    static func name(_ number: Int, _ kind: Kind = .wal, of database: String) -> String {
        "\(database).\(kind.rawValue)" + (number > 1 ? String(number) : "")
    }

    /// Gives copies names beside a database, durably; a name that they have is kept.
    ///
    /// - Returns: the names.
    func publish(_ copies: [String], _ kind: Kind, beside database: String) throws(EngineError) -> [String] {
        guard !copies.isEmpty else { return [] }
        var result: [String] = []
        try EngineError.at("\(Self.name(1, kind, of: database)): the copy of the -\(kind.rawValue) can't be kept") {
            for (index, copy) in copies.enumerated() {
                let name = Self.name(index + 1, kind, of: database)
                if let there = try Files.statusIfExists(name) {
                    guard try there.isSameFile(as: Files.linkStatus(of: copy)) else {
                        throw EngineError(
                            .cannotCreate, "\(name): is there already, and isn't the copy of a -\(kind.rawValue)",
                            remedy: "move it away")
                    }
                } else {
                    try Files.link(copy, as: name)
                }
                result.append(name)
            }
            try Files.syncDirectory(Paths.parent(of: database))
        }
        return result
    }

    /// Removes the copies after a migration: journals, which a store that was read in whole needs no more, or that have
    /// a name beside the one that wasn't, and logs that have a name beside the backup.
    func removeSettled() throws(EngineError) {
        try EngineError.at(work) { for path in try paths(.journal).reversed() { try Files.unlink(path) } }
        try removePublished()
    }

    /// Removes the copies of a `-wal` that have a name beside the backup: they don't belong to the next migration's
    /// backup.
    func removePublished() throws(EngineError) {
        try EngineError.at(work) {
            // The last one first: the numbers stay without gaps.
            for path in try paths(.wal).reversed() {
                guard try Files.linkStatus(of: path).linkCount > 1 else { return }
                try Files.unlink(path)
            }
        }
    }
}
