import CausewayPlatform

/// The files of externally stored values, on their way to another store's folder. In place they stay where they are.
struct ExternalFiles {
    let from: StoreLocation
    let to: StoreLocation

    /// Copies every file, durably, before the new store gets its name; each under a name of its own first, so that a
    /// killed run leaves no part of a file under its final name.
    func copy() throws(EngineError) {
        do {
            guard try Files.exists(from.externalData) else { return }
            for path in [to.supportDirectory, to.externalData] where try Files.statusIfExists(path) == nil {
                try Files.makeDirectory(path, mode: 0o755)
            }
            for name in try Files.list(from.externalData) {
                let source = from.externalData + "/" + name
                // A link could lead to any file of the user's; Core Data makes none, and names files by their UUIDs.
                guard ExternalValues.isFileName(name.utf8), try Files.linkStatus(of: source).kind == .regular else {
                    continue
                }
                let target = to.externalData + "/" + name
                let partial = target + ".part"
                try Files.unlink(partial)
                try Files.copyFile(from: source, to: partial, permissions: 0o644)
                try Files.rename(partial, to: target)
            }
            try Files.syncDirectory(to.externalData)
            try Files.syncDirectory(to.supportDirectory)
        } catch {
            throw EngineError(.inputOutput, "external data: \(error.message)")
        }
    }
}
