import CausewayPlatform
import CausewayPreparation
import CausewayStores

/// Paths at which a migration would fail, found before its work begins, each with its kind of failure.
extension Migration {
    /// Refuses a store that can't be replaced, or whose owner and permissions the new one can't get.
    func refuseUnreplaceable(_ location: StoreLocation) throws(EngineError) {
        try refuseHardLinks(location)
        try refuseForeignOwner(location)
        try refuseUnwritable(location)
        // The backup, and the files that SQLite makes beside it when it is opened.
        try refuseLongNames(location, longest: ".premigration-00000000-journal", "its backup's journal")
    }

    /// Refuses an output path at which the new store can't be made.
    func refuseUnusable(_ output: StoreLocation, for source: StoreLocation) throws(EngineError) {
        try refuseExisting(output)
        try refuseClosedFolder(of: output)
        try refuseLongNames(output, longest: "-journal", "its journal")
        try ExternalFiles(from: source, to: output).refuseUnlisted()
    }

    /// Refuses a place where the new store can't be.
    func refusePlace(_ place: StoreLocation, for source: StoreLocation) throws(EngineError) {
        if request.output == nil { try refuseUnreplaceable(source) } else { try refuseUnusable(place, for: source) }
    }

    /// Refuses to write additional files over existing ones: they belong to someone else.
    func refuseTakenSideFiles() throws(EngineError) {
        try SideFiles.requireAbsent([("--rejects", request.rejects), ("--key-map", request.keyMap)])
    }

    /// Why a run would refuse the new store's path, for a plan, which is still useful; nil if it wouldn't.
    func placeRefusal(_ store: StoreLocation) -> String? {
        do throws(EngineError) {
            let place = if let output = request.output { try StoreLocation(new: output) } else { store }
            try refusePlace(place, for: store)
            return nil
        } catch {
            return [error.message, error.remedy].filter { !$0.isEmpty }.joined(separator: "; ")
        }
    }

    /// Why a run would refuse the disk, for a plan; nil if it wouldn't, or if that can't be found out yet.
    func roomRefusal(_ prepared: PreparedMigration, _ store: StoreLocation) -> String? {
        guard !request.ignoresSpace, request.output == nil,
            let lack = try? DiskRoom.lack(
                of: prepared.diskBytes, reserve: prepared.reserve, work: store.workDirectory, in: store.directory)
        else { return nil }
        return "\(lack); make room (--ignore-space runs without this check)"
    }

    func refuseExisting(_ output: StoreLocation) throws(EngineError) {
        for path in [output.path, output.wal, output.journal] {
            let there: FileStatus?
            do {
                there = try Files.statusIfExists(path)
            } catch {
                throw EngineError(.cannotCreate, "\(path): \(error)")
            }
            guard there == nil else {
                throw EngineError(
                    .cannotCreate, "\(path): already exists", remedy: "give another --output, or move it away")
            }
        }
    }

    /// Another name of the file would keep its own -wal: writes through it would be lost.
    func refuseHardLinks(_ location: StoreLocation) throws(EngineError) {
        if request.allowsHardLinks { return }
        try EngineError.reading(location.path) {
            let status = try Files.status(of: location.path)
            // A folder has a link for each folder in it; a path that isn't a file is refused with its own reason.
            guard status.kind == .regular, status.linkCount > 1 else { return }
            throw EngineError(
                .sourceData, "\(location.path): the file has \(status.linkCount) names (hard links)",
                remedy: """
                    copy the store, write the result elsewhere with --output, or confirm with --allow-hardlinks that \
                    no program uses the other names
                    """)
        }
    }

    // MARK: - Owners

    /// The new store must get the old one's owner and group; only that owner and root can do that.
    private func refuseForeignOwner(_ location: StoreLocation) throws(EngineError) {
        guard !request.ignoresOwnership else { return }
        let remedy = """
            run as its owner, let the new store be yours with --ignore-ownership, or write the result elsewhere with \
            --output
            """
        let reason: String
        switch try foreignness(of: location) {
        case .none: return
        case .user: reason = "another user: the new one can't be given that owner"
        case .group(let number): reason = "group \(number), which the new one can't be given"
        }
        throw EngineError(.cannotCreate, "\(location.path): the store belongs to \(reason)", remedy: remedy)
    }

    /// Why a new store can't get the old one's owner.
    enum Foreignness: Hashable {
        case none, user
        case group(UInt32)
    }

    /// Whether this process may make a file with a store's owner.
    func foreignness(of location: StoreLocation) throws(EngineError) -> Foreignness {
        try EngineError.reading(location.path) {
            let store = try Files.status(of: location.path)
            guard store.userID == ProcessFacts.userID || ProcessFacts.userID == 0 else { return .user }
            if ProcessFacts.mayGive(toGroup: store.groupID) { return .none }
            return try Files.givesItsGroup(location.directory, store.groupID) ? .none : .group(store.groupID)
        }
    }

    // MARK: - Permissions

    private func refuseUnwritable(_ location: StoreLocation) throws(EngineError) {
        guard Files.mayWrite(to: location.path) else {
            throw EngineError(
                .cannotCreate, "\(location.path): the store's file is read-only for you",
                remedy: "change its permissions (chmod u+w), or write the result elsewhere with --output")
        }
        try refuseClosedFolder(of: location)
        if try EngineError.reading(location.path, { try Files.mayReplace(location.path) }) { return }
        throw EngineError(
            .cannotCreate,
            "\(location.directory): only its owner may replace another user's file here (the folder's sticky bit)",
            remedy: "run as the store's owner, or write the result elsewhere with --output")
    }

    private func refuseClosedFolder(of location: StoreLocation) throws(EngineError) {
        guard !Files.mayWrite(in: location.directory) else { return }
        throw EngineError(
            .cannotCreate, "\(location.directory): you can't make files in this folder",
            remedy: """
                the new store is built in its own folder: get write access to that folder, or name another one with --output
                """)
    }

    // MARK: - Names

    /// The longest path that SQLite opens (`MAX_PATHNAME` of its os_unix.c), that of a journal included.
    private static let longestPath = 512
    /// The longest name in a work directory.
    private static let longestWorkName = "/" + WorkFile.scratch(99) + WorkFile.journal

    /// Refuses a store whose name or path is too long for the files made beside it.
    private func refuseLongNames(
        _ location: StoreLocation, longest suffix: String, _ what: String
    ) throws(EngineError) {
        let work = Paths.name(of: location.workDirectory)
        let limit = Files.longestName(in: location.directory)
        let (name, title) =
            work.utf8.count > location.name.utf8.count + suffix.utf8.count
            ? (work, "the work directory") : (location.name + suffix, what)
        guard name.utf8.count <= limit else {
            throw EngineError(
                .cannotCreate,
                """
                \(location.path): the name is too long: \(title) would have a name of \(name.utf8.count) bytes; at \
                most \(limit) are possible here
                """,
                remedy: "give the store a shorter name, or write the result to a shorter one with --output")
        }
        let path = max((location.path + suffix).utf8.count, (location.workDirectory + Self.longestWorkName).utf8.count)
        guard path <= Self.longestPath else {
            throw EngineError(
                .cannotCreate,
                """
                \(location.path): the path is too long: files made there would have paths of up to \(path) bytes; \
                SQLite opens at most \(Self.longestPath)
                """,
                remedy: "move the store to a shorter path, or write the result to one with --output")
        }
    }
}
