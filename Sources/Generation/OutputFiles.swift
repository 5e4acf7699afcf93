import CausewayPlatform

/// The output's path with everything that belongs to it.
struct OutputFiles {
    let store: String

    /// `.<Name>_SUPPORT`, Core Data's folder for a store's external data (InsideStoreFormat §4.3).
    private var support: String {
        let name = Paths.name(of: store)
        let stem = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : name[..<$0] } ?? name[...]
        return Paths.join(Paths.parent(of: store), ".\(stem)_SUPPORT")
    }
    private var external: String { Paths.join(support, "_EXTERNAL_DATA") }
    private var companions: [String] { ["-wal", "-shm", "-journal"].map { store + $0 } }

    /// Creates the files that a store needs. Existing files are never touched.
    /// - Throws: `outputExists`.
    func create() throws(GenerationError) {
        do throws(FileError) {
            for path in companions + [support] where try Files.statusIfExists(path) != nil {
                throw FileError(code: .exists, operation: "create", path: path, message: "it exists")
            }
            _ = try OpenFile(store, mode: .createNew, permissions: 0o644)
        } catch {
            guard error.code == .exists else {
                throw GenerationError(
                    error.code.isOfTheDevice ? .writing : .cannotCreate, error.message, place: error.path)
            }
            throw GenerationError(
                .outputExists, "the file already exists: choose another path, or move it away", place: error.path)
        }
    }

    /// A file of external data; its folder is made with the first.
    func writeExternal(_ name: String, _ content: [UInt8]) throws(GenerationError) {
        try GenerationError.wrapping {
            for folder in [support, external] where try Files.statusIfExists(folder) == nil {
                try Files.makeDirectory(folder, mode: 0o755)
            }
            let file = try OpenFile(Paths.join(external, name), mode: .createNew, permissions: 0o644)
            try unsafe content.span.bytes.withUnsafeBytes { bytes throws(FileError) in
                try unsafe file.write(bytes, at: 0)
            }
        }
    }

    /// Removes what was created, after an error that it returns; tells when even that failed.
    func remove(after error: GenerationError) -> GenerationError {
        do throws(FileError) {
            for path in [store] + companions { try Files.unlink(path) }
            guard try Files.statusIfExists(support) != nil else { return error }
            if try Files.statusIfExists(external) != nil {
                for name in try Files.list(external) { try Files.unlink(Paths.join(external, name)) }
                try Files.removeDirectory(external)
            }
            try Files.removeDirectory(support)
            return error
        } catch let second {
            return GenerationError(
                error.code, error.message + "; what was written could not be removed: \(second)", place: error.place)
        }
    }

    /// Forces the finished store to the disk.
    func sync() throws(GenerationError) {
        try GenerationError.wrapping {
            try Files.syncFile(store)
            try Files.syncDirectory(Paths.parent(of: store))
        }
    }
}
