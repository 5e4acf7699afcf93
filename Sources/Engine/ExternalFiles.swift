import CausewayPlatform

/// The files of externally stored values, on their way to another store's folder. In place they stay where they are.
struct ExternalFiles {
    let from: StoreLocation
    let to: StoreLocation

    /// Copies every file that isn't there yet, durably, before the new store gets its name.
    func copy() throws(EngineError) {
        do {
            guard try Files.statusIfExists(from.externalData)?.kind == .directory else { return }
            for path in [to.supportDirectory, to.externalData] where try Files.statusIfExists(path) == nil {
                try Files.makeDirectory(path, mode: 0o755)
            }
            for name in try Files.list(from.externalData) {
                let source = from.externalData + "/" + name
                guard try Files.status(of: source).kind == .regular else { continue }
                let target = to.externalData + "/" + name
                if try Files.statusIfExists(target) == nil { try Files.copyFile(from: source, to: target) }
            }
            try Files.syncDirectory(to.externalData)
            try Files.syncDirectory(to.supportDirectory)
        } catch {
            throw EngineError(.inputOutput, "external data: \(error.message)")
        }
    }
}
