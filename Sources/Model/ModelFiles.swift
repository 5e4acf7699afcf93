#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Reads the files of one model bundle, and nothing outside it.
///
/// The bundle's own path is resolved once and may be a symbolic link; a link inside that leads out is refused, because
/// a model may come from elsewhere and its contents end up in messages and plans.
struct ModelFiles {
    /// The bundle's path as the caller gave it, for messages.
    let path: String
    /// The same without symbolic links.
    private let root: String

    enum Kind {
        case file, folder
    }

    init(_ path: String) throws(ModelError) {
        self.path = path
        self.root = try Self.resolve(path)
    }

    /// The path of an entry, for messages.
    func path(of entry: String) -> String {
        entry.isEmpty ? path : path.hasSuffix("/") ? path + entry : "\(path)/\(entry)"
    }

    /// The kind of the entry; nil when there is none.
    func kind(of entry: String = "") throws(ModelError) -> Kind? {
        guard let resolved = try locate(entry) else { return nil }
        var status = stat()
        guard unsafe stat(resolved, &status) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .folder
        default:
            throw ModelError(
                .unreadable, "A model must be a file or a folder; this is a device, a socket or a pipe.",
                path: path(of: entry))
        }
    }

    /// The names of a folder's entries, sorted by their bytes.
    func list(_ entry: String = "") throws(ModelError) -> [String] {
        guard let resolved = try locate(entry), let folder = unsafe opendir(resolved) else {
            throw Self.failure("The folder can't be read", errno, path(of: entry))
        }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let item = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &item.pointee.d_name) { field in
                unsafe field.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: field.pointee)) {
                    unsafe String(cString: $0)
                }
            }
            if name == "." || name == ".." { continue }
            names.append(name)
            if names.count > ModelLimits.folderEntries {
                throw ModelError(
                    .limitExceeded,
                    "The folder has more than \(ModelLimits.folderEntries) entries, more than any model bundle; "
                        + "name the model bundle itself.",
                    path: path(of: entry))
            }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The content of a file of at most `ModelLimits.fileSize` bytes.
    func read(_ entry: String = "") throws(ModelError) -> [UInt8] {
        let shown = path(of: entry)
        guard let resolved = try locate(entry) else {
            throw ModelError(.unreadable, "The file isn't there.", path: shown)
        }
        do throws(ForeignFile.Failure) {
            return try ForeignFile.content(
                of: resolved, followsLinks: false, limit: ModelLimits.fileSize, kind: "model")
        } catch {
            throw ModelError(error.isTooLarge ? .limitExceeded : .unreadable, error.message, path: shown)
        }
    }

    /// The entry's path without symbolic links; nil when it doesn't exist.
    private func locate(_ entry: String) throws(ModelError) -> String? {
        if entry.isEmpty { return root }
        // Names come from folders and property lists; both are foreign.
        let parts = entry.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }), !entry.utf8.contains(0) else {
            throw ModelError(.unreadable, "The name “\(entry)” points outside the model bundle.", path: path)
        }
        guard let resolved = Self.realPath("\(root)/\(entry)") else {
            let code = errno
            // A link that is there and leads nowhere isn't a missing file: something was meant.
            if let link = link(in: parts) {
                switch code {
                case ENOENT, ENOTDIR: throw dangling("leads nowhere", link)
                case ELOOP: throw dangling("leads in a circle", link)
                default: break
                }
            }
            if code == ENOENT || code == ENOTDIR { return nil }
            throw Self.failure("The file can't be found", code, path(of: entry))
        }
        guard resolved.hasPrefix(root.hasSuffix("/") ? root : root + "/") else {
            throw ModelError(
                .unreadable,
                "The entry is a symbolic link that points outside the model bundle; copy the file into the bundle.",
                path: path(of: entry))
        }
        return resolved
    }

    /// The first part of an entry's path that is a symbolic link whose target can't be found.
    private func link(in parts: [Substring]) -> String? {
        for count in 1...max(1, parts.count) {
            let entry = parts.prefix(count).joined(separator: "/")
            var status = stat()
            guard unsafe lstat("\(root)/\(entry)", &status) == 0 else { return nil }
            if status.st_mode & S_IFMT == S_IFLNK, Self.realPath("\(root)/\(entry)") == nil { return entry }
        }
        return nil
    }

    private func dangling(_ end: String, _ entry: String) -> ModelError {
        ModelError(
            .unreadable, "The entry is a symbolic link that \(end); put the file in its place.", path: path(of: entry))
    }

    private static func resolve(_ path: String) throws(ModelError) -> String {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw ModelError(.unreadable, "The model's path is empty or holds a NUL.", path: path)
        }
        guard let resolved = realPath(path) else { throw failure("The model can't be found", errno, path) }
        return resolved
    }

    /// `realpath`; nil with `errno` set where it fails.
    private static func realPath(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    private static func failure(_ message: String, _ code: Int32, _ path: String) -> ModelError {
        ModelError(.unreadable, ForeignFile.failure(message, code).message, path: path)
    }
}
