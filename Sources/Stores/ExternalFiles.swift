import CausewayPlatform

/// Copies the files of externally stored values to another store's folder. In place they stay where they are.
package struct ExternalFiles {
    package let from: StoreLocation
    package let to: StoreLocation
    /// Whether the copies may belong to the user who runs this, where the originals' owner can't be given to them.
    package var ignoresOwnership = true

    package init(from: StoreLocation, to: StoreLocation, ignoresOwnership: Bool = true) {
        self.from = from
        self.to = to
        self.ignoresOwnership = ignoresOwnership
    }

    // MARK: - Before

    /// Refuses an output that would keep its files in the source's own folder: `Store.sqlite` and `Store.db` in one
    /// folder share a support folder, whether or not there are files in it now.
    package static func refuseShared(from source: StoreLocation, to output: StoreLocation) throws(EngineError) {
        var isShared = source.supportDirectory == output.supportDirectory
        try EngineError.at(output.supportDirectory, as: .cannotCreate) {
            // One may be a link to the other, or differ from it in letters that the file system takes for the same.
            if !isShared, try Files.exists(source.supportDirectory), try Files.exists(output.supportDirectory) {
                isShared = try Files.status(of: source.supportDirectory)
                    .isSameFile(as: Files.status(of: output.supportDirectory))
            }
        }
        guard isShared else { return }
        throw EngineError(
            .cannotCreate,
            "\(output.path) and \(source.path) would share one folder for external data, \(output.supportDirectory)",
            remedy: "give an --output whose name differs before its extension, or that lies in another folder")
    }

    /// Refuses a folder whose files can be read but not listed: they must be copied, and can't be found.
    package func refuseUnlisted() throws(EngineError) { _ = try names() }

    /// Bytes of all files that are to be copied.
    package var bytes: Int {
        get throws(EngineError) {
            try files().reduce(0) { sum, file in
                let (next, overflow) = sum.addingReportingOverflow(file.bytes)
                return overflow ? .max : next
            }
        }
    }

    /// The files that Core Data may have made.
    private func files() throws(EngineError) -> [(name: String, bytes: Int)] {
        // A file that can't be read is reported before the run if a value refers to it, and again after it.
        let names = try (names() ?? []).filter { Files.mayRead(source($0)) }
        return try attempt {
            try names.compactMap { name in
                let status = try Files.linkStatus(of: source(name))
                // A link could lead to any file of the user's; Core Data makes none.
                return status.kind == .regular ? (name, Int(clamping: status.size)) : nil
            }
        }
    }

    /// Names in the folder that are as Core Data names its files; nil where its files can't be reached.
    private func names() throws(EngineError) -> [String]? {
        let folder = from.externalData
        do throws(FileError) {
            guard try Files.exists(folder) else { return [] }
            return try Files.list(folder).filter { ExternalValues.isFileName($0.utf8) }
        } catch {
            guard [.permissionDenied, .notADirectory].contains(error.code) else { throw failure(error) }
            guard (try? Files.linkStatus(of: folder + "/.")) != nil else { return nil }
            throw EngineError(
                .missing, "\(folder): you can't list this folder, and its files must be copied beside the new store",
                remedy: "give yourself read access (chmod u+r), or run as its owner")
        }
    }

    private func source(_ name: String) -> String { from.externalData + "/" + name }

    private func failure(_ error: FileError) -> EngineError {
        EngineError(
            .inputOutput, "external data: \(error.path): \(error.message)",
            remedy: error.code == .permissionDenied
                ? "run as the owner of the store and its files, or let the copies be yours with --ignore-ownership" : ""
        )
    }

    private func attempt<Value>(_ body: () throws -> Value) throws(EngineError) -> Value {
        do {
            return try body()
        } catch let error as FileError {
            throw failure(error)
        } catch {
            throw EngineError(error, during: to.externalData)
        }
    }

    // MARK: - Copying

    /// Copies every file, durably, before the new store gets its name.
    ///
    /// An existing file is never replaced: one with the same content is a copy that an earlier run made, another
    /// belongs to someone else. Owner, permissions and extended attributes are copied too, so that only users who may
    /// read the originals may read the copies.
    ///
    /// - Parameter cancellation: checked between two files.
    /// - Returns: the originals' attributes that couldn't be copied.
    /// - Throws: `.cannotCreate` where a name is taken by something else, `.inputOutput`, or the request to stop.
    @discardableResult
    package func copy(cancellation: Cancellation = Cancellation()) throws(EngineError) -> [String] {
        try Self.refuseShared(from: from, to: to)
        guard try names() != nil else {
            return ["\(from.externalData): can't be read; none of its files has a copy beside the new store"]
        }
        guard try attempt({ try Files.exists(from.externalData) }) else { return [] }
        var refused: Set<String> = []
        try makeFolder(to.supportDirectory, like: from.supportDirectory, &refused)
        try makeFolder(to.externalData, like: from.externalData, &refused)
        for file in try files() {
            try cancellation.check()
            try copy(file.name, &refused)
        }
        try attempt {
            // From the inside out, up to the folder in which the store is about to get its name.
            for folder in [to.externalData, to.supportDirectory, to.directory] { try Files.syncDirectory(folder) }
        }
        return try refused.sorted().map { "external data: the extended attribute \($0) can't be given to the copies" }
            + unreadableWarning()
    }

    /// Files that can't be read, and so have no copies.
    private func unreadableWarning() throws(EngineError) -> [String] {
        let names = try (self.names() ?? []).filter { name in
            // An entry without a readable status counts as a file.
            !Files.mayRead(source(name))
                && (try? Files.linkStatus(of: source(name)))?.kind ?? .regular == .regular
        }
        guard !names.isEmpty else { return [] }
        let named = names.prefix(FoundRows.namedRows).joined(separator: ", ")
        return [
            """
            \(from.externalData): files that can't be read have no copies beside the new store: \(names.count) (\(named)\
            \(names.count > FoundRows.namedRows ? ", …" : ""))
            """
        ]
    }

    /// Makes a folder, private until it has the attributes of its pattern.
    private func makeFolder(_ path: String, like pattern: String, _ refused: inout Set<String>) throws(EngineError) {
        try attempt {
            if let there = try Files.statusIfExists(path) {
                guard try Files.status(of: path).kind == .directory else { throw taken(path) }
                // An interrupted run leaves it private and empty; other folders stay as they are.
                guard there.kind == .directory, there.userID == ProcessFacts.userID, there.mode & 0o077 == 0,
                    try Files.list(path).isEmpty
                else { return }
            } else {
                try Files.makeDirectory(path, mode: 0o700)
            }
            refused.formUnion(try Files.copyAttributes(from: pattern, to: path, ignoringOwner: ignoresOwnership))
        }
    }

    private func copy(_ name: String, _ refused: inout Set<String>) throws(EngineError) {
        let (source, target) = (source(name), to.externalData + "/" + name)
        try attempt {
            guard try !Files.exists(target) else { return try requireSame(source, target) }
            do throws(FileError) {
                refused.formUnion(try Files.copyWhole(from: source, to: target, ignoringOwner: ignoresOwnership))
            } catch {
                guard error.code == .exists else { throw error }
                // It appeared meanwhile.
                try requireSame(source, target)
            }
        }
    }

    private func requireSame(_ source: String, _ target: String) throws {
        guard try Files.linkStatus(of: target).kind == .regular, try Files.haveSameContent(source, target) else {
            throw taken(target)
        }
        // Even if another program wrote it: the new store depends on it.
        try Files.syncFile(target)
    }

    private func taken(_ path: String) -> EngineError {
        EngineError(
            .cannotCreate, "\(path): already exists, and isn't what the new store needs there",
            remedy: "move \(to.supportDirectory) away, or give another --output")
    }
}
