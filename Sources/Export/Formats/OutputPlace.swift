import CausewayPlatform
import CausewayStores

/// A new folder or file: written under another name beside its own, which it gets when it is complete. What fails
/// leaves nothing behind.
struct OutputPlace {
    let location: StoreLocation
    /// Where it is written.
    let partial: String
    let isFolder: Bool
    private let open = OpenOutputs()

    /// - Throws: `.cannotCreate` where something has the name, or the folder can't be written.
    init(_ path: String, isFolder: Bool) throws(EngineError) {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        location = try StoreLocation(new: path)
        self.isFolder = isFolder
        partial = Paths.join(location.directory, ".\(location.name).export-\(ProcessFacts.processID)")
        try requireFree()
        let partial = partial
        try EngineError.at(location.path, as: .cannotCreate, remedy: "check that its folder can be written") {
            if isFolder {
                try Files.makeDirectory(partial, mode: 0o777)
            } else {
                // SQLite fills an empty file, and couldn't say why it can't make one.
                _ = try OpenFile(partial, mode: .createNew, permissions: 0o644)
            }
        }
    }

    /// SQLite would read another database's log or journal as this one's.
    private func requireFree() throws(EngineError) {
        let paths = [location.path] + (isFolder ? [] : [location.wal, location.journal, location.shm])
        for path in paths {
            let exists = try EngineError.at(path, as: .cannotCreate) {
                do throws(FileError) {
                    _ = try Files.linkStatus(of: path)
                    return true
                } catch {
                    guard error.code == .notFound else { throw error }
                    return false
                }
            }
            guard exists else { continue }
            throw EngineError(
                .cannotCreate, "\(path): already exists", remedy: "give an --output that doesn't exist yet")
        }
    }

    func file(_ name: String) throws(EngineError) -> ByteTarget {
        .file(try OutputFile(Paths.join(partial, name), among: open))
    }

    /// Gives the complete output its name.
    func publish() throws(EngineError) {
        try requireFree()
        try EngineError.at(location.path) {
            if isFolder {
                let external = Paths.join(partial, ExternalCopies.folderName)
                if try Files.exists(external) {
                    for name in try Files.list(external) { try Files.syncFile(Paths.join(external, name)) }
                    try Files.syncDirectory(external)
                }
                try Files.syncDirectory(partial)
            } else {
                try Files.syncFile(partial)
            }
            try Files.rename(partial, to: location.path)
            try Files.syncDirectory(location.directory)
        }
    }

    /// Removes what was written. The error that matters is why it has to go.
    func discard() {
        open.drop()
        let folders = [Paths.join(partial, ExternalCopies.folderName), partial]
        for folder in folders where isFolder {
            for name in (try? Files.list(folder)) ?? [] { _ = try? Files.unlink(Paths.join(folder, name)) }
            _ = try? Files.removeDirectory(folder)
        }
        guard !isFolder else { return }
        for suffix in ["", "-journal"] { _ = try? Files.unlink(partial + suffix) }
    }
}
