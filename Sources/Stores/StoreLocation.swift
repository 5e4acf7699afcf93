package import CausewayPlatform

/// A store's path with everything that belongs to it.
package struct StoreLocation: Hashable, Sendable {
    /// The real path: symbolic links resolved, once.
    package let path: String
    package let directory: String
    package let name: String

    /// The location of a store that exists.
    package init(existing path: String) throws(EngineError) {
        do {
            self.init(real: try Files.realPath(of: path))
        } catch {
            throw EngineError(reading: error, at: path, "no such store, or it can't be reached")
        }
    }

    /// The location of a store to be made; its folder must exist.
    package init(new path: String) throws(EngineError) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        guard let name = parts.last, name != ".", name != "..", !path.hasSuffix("/") else {
            throw EngineError(.usage, "\(path): isn't the path of a file")
        }
        let parent = path.dropLast(name.count)
        let directory = try EngineError.at(
            "\(path): its folder can't be reached", as: .cannotCreate, remedy: "make the folder, or give another path"
        ) {
            try Files.realPath(of: parent.isEmpty ? "." : String(parent))
        }
        self.init(real: directory == "/" ? "/\(name)" : "\(directory)/\(name)")
    }

    private init(real path: String) {
        self.path = path
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        directory = slash == path.startIndex ? "/" : String(path[..<slash])
        name = String(path[slash...].dropFirst())
    }

    package var wal: String { path + "-wal" }
    package var shm: String { path + "-shm" }
    package var journal: String { path + "-journal" }

    /// The file's name without its extension.
    private var stem: Substring {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name[...] }
        return name[..<dot]
    }

    /// Where files of externally stored values are (InsideStoreFormat §4.3).
    var supportDirectory: String { "\(directory)/.\(stem)_SUPPORT" }
    package var externalData: String { supportDirectory + "/_EXTERNAL_DATA" }

    /// Where the new store is built: beside the store, so that a rename can put it in its place.
    package var workDirectory: String { "\(directory)/.\(name).migration" }

    /// Whether a file beside an unused store holds nothing that SQLite would write into the store: an empty file, and a
    /// journal that a program in PERSIST mode has ended. SQLite zeroes its header then, and a journal whose first byte
    /// is zero isn't hot (pager.c, `hasHotJournal`).
    ///
    /// - Parameters:
    ///   - path: one of `wal`, `shm` and `journal`.
    ///   - status: the file's own.
    /// - Returns: whether it may be removed.
    /// - Throws: where a journal can't be read.
    package func isSpent(_ path: String, _ status: FileStatus) throws(FileError) -> Bool {
        if status.size == 0 { return true }
        guard path == journal, status.kind == .regular else { return false }
        do throws(FileError) {
            return try Files.readPrefix(of: path, length: 1) == [0]
        } catch {
            // A program that has just ended its transaction has removed it.
            guard error.code == .notFound else { throw error }
            return true
        }
    }
}
