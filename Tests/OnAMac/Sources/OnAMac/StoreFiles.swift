#if canImport(CoreData)
    import Foundation

    /// A store's files: the database, what SQLite has beside it, and external data.
    struct StoreFiles {
        private let store: URL

        init(_ store: URL) {
            self.store = store
        }

        /// Copies all of them.
        ///
        /// - Parameter folder: made; the names stay.
        /// - Returns: the copy's main file.
        /// - Throws: what the file manager says.
        func copy(to folder: URL) throws -> URL {
            let files = FileManager.default
            try files.createDirectory(at: folder, withIntermediateDirectories: true)
            let name = store.lastPathComponent
            let support = ".\(store.deletingPathExtension().lastPathComponent)_SUPPORT"
            for name in [name, name + "-wal", support] {
                let from = store.deletingLastPathComponent().appending(path: name)
                guard files.fileExists(atPath: from.path) else { continue }
                try files.copyItem(at: from, to: folder.appending(path: name))
            }
            return folder.appending(path: name)
        }
    }
#endif
