#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// What the file system knows of a file.
package struct FileStatus: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case regular, directory, symbolicLink, other
    }

    package let kind: Kind
    /// Bytes.
    package let size: Int64
    package let inode: UInt64
    package let device: UInt64
    package let linkCount: UInt64
    package let userID: UInt32
    package let groupID: UInt32
    /// The permission bits, without the kind.
    package let mode: UInt32
    /// Nanoseconds since 1970.
    package let modificationTime: Int64

    /// Same file, whatever its name.
    package func isSameFile(as other: FileStatus) -> Bool {
        inode == other.inode && device == other.device
    }

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            default: .other
            }
        size = Int64(status.st_size)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        device = UInt64(truncatingIfNeeded: status.st_dev)
        linkCount = UInt64(truncatingIfNeeded: status.st_nlink)
        userID = status.st_uid
        groupID = status.st_gid
        mode = UInt32(status.st_mode) & 0o7777
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        modificationTime = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}

extension Files {
    /// The status of a path's target, links followed.
    package static func status(of path: String) throws(FileError) -> FileStatus {
        try SystemCall.check("look at", path)
        var status = stat()
        _ = try SystemCall.run("look at", path) { unsafe stat(path, &status) }
        return FileStatus(status)
    }

    /// The status of the path itself: of a link, not of what it leads to.
    package static func linkStatus(of path: String) throws(FileError) -> FileStatus {
        try SystemCall.check("look at", path)
        var status = stat()
        _ = try SystemCall.run("look at", path) { unsafe lstat(path, &status) }
        return FileStatus(status)
    }

    /// Whether something has this name, even a dangling link.
    ///
    /// - Throws: when that can't be found out, as in a folder that may not be searched. "Missing" is never a guess.
    package static func exists(_ path: String) throws(FileError) -> Bool {
        do throws(FileError) {
            _ = try linkStatus(of: path)
            return true
        } catch {
            if error.code == .notFound || error.code == .notADirectory || error.isOfLongName { return false }
            throw error
        }
    }

    /// The absolute path with every link resolved; it must exist.
    package static func realPath(of path: String) throws(FileError) -> String {
        try SystemCall.check("resolve", path)
        guard let resolved = unsafe realpath(path, nil) else {
            throw FileError("resolve", path, errorNumber: errno)
        }
        defer { unsafe free(resolved) }
        guard let text = unsafe String(validatingCString: resolved) else {
            throw FileError(
                code: .badName, operation: "resolve", path: path,
                message: "a folder on the way has a name that isn't UTF-8; rename it")
        }
        return text
    }
}
