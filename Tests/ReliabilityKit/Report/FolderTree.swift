package import CausewayPlatform

/// Folders with everything in them.
package enum FolderTree {
    /// Levels; the harnesses' own folders are five deep.
    private static let depthLimit = 32

    /// Every file in a folder and in the folders in it.
    static func files(in path: String) throws(FileError) -> [(path: String, status: FileStatus)] {
        try files(in: path, depth: 0)
    }

    private static func files(
        in path: String, depth: Int
    ) throws(FileError) -> [(path: String, status: FileStatus)] {
        var result: [(path: String, status: FileStatus)] = []
        for name in try Files.list(path).sorted() {
            let status = try Files.linkStatus(of: path + "/" + name)
            if status.kind != .directory {
                result.append((path + "/" + name, status))
            } else if depth < depthLimit {
                result += try files(in: path + "/" + name, depth: depth + 1)
            }
        }
        return result
    }

    /// The names in a folder with the files' contents, without the lock's content.
    static func contents(of path: String) throws(FileError) -> [String: [UInt8]] {
        var result: [String: [UInt8]] = [:]
        for name in try Files.list(path) where name != "lock" {
            result[name] = try Files.readFile(path + "/" + name, limit: contentLimit)
        }
        return result
    }

    /// Bytes of a work directory's file in the harnesses' small stores, at most.
    private static let contentLimit = 256 << 20

    /// Removes a file or a folder with everything in it; nothing where there is none.
    package static func remove(_ path: String) throws(FileError) {
        try remove(path, depth: 0)
    }

    private static func remove(_ path: String, depth: Int) throws(FileError) {
        guard try Files.exists(path) else { return }
        guard try Files.linkStatus(of: path).kind == .directory else {
            try Files.unlink(path)
            return
        }
        guard depth < depthLimit else {
            throw FileError(
                code: .tooLarge, operation: "remove", path: path, message: "deeper than any folder of the harness")
        }
        for name in try Files.list(path) { try remove(path + "/" + name, depth: depth + 1) }
        try Files.removeDirectory(path)
    }

    /// Copies a folder with everything in it; links are not followed and not copied.
    package static func copy(_ source: String, to target: String) throws(FileError) {
        try copy(source, to: target, depth: 0)
    }

    private static func copy(_ source: String, to target: String, depth: Int) throws(FileError) {
        let status = try Files.linkStatus(of: source)
        switch status.kind {
        case .regular:
            try Files.copyFile(from: source, to: target, permissions: status.mode)
        case .directory where depth < depthLimit:
            if try !Files.exists(target) { try Files.makeDirectory(target, mode: status.mode) }
            for name in try Files.list(source) {
                try copy(source + "/" + name, to: target + "/" + name, depth: depth + 1)
            }
        default:
            throw FileError(
                code: .other, operation: "copy", path: source, message: "neither a file nor a folder of the harness")
        }
    }
}
