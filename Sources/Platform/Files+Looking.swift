#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension Files {
    /// The status of a path's target, links followed.
    package static func status(of path: String) throws(FileError) -> FileStatus {
        var status = stat()
        _ = try SystemCall.named("look at", path) { unsafe stat(path, &status) }
        return FileStatus(status)
    }

    /// The status of the path itself: of a link, not of what it leads to.
    package static func linkStatus(of path: String) throws(FileError) -> FileStatus {
        var status = stat()
        _ = try SystemCall.named("look at", path) { unsafe lstat(path, &status) }
        return FileStatus(status)
    }

    /// Whether something has this name, even a dangling link.
    ///
    /// - Throws: when that can't be found out, as in a folder that may not be searched. "Missing" is never a guess.
    package static func exists(_ path: String) throws(FileError) -> Bool {
        try statusIfExists(path) != nil
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

    /// The status of the path itself; nil where nothing has this name.
    package static func statusIfExists(_ path: String) throws(FileError) -> FileStatus? {
        do throws(FileError) {
            return try linkStatus(of: path)
        } catch {
            if error.code == .notFound || error.code == .notADirectory || error.isOfLongName { return nil }
            throw error
        }
    }

    /// The first bytes of a file, fewer where it is shorter.
    package static func readPrefix(of path: String, length: Int) throws(FileError) -> [UInt8] {
        try OpenFile(path, mode: .read).prefix(length)
    }

    /// Whether permissions and the medium let this process make files in a folder.
    package static func mayWrite(in folder: String) -> Bool {
        unsafe faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0
    }

    /// Whether permissions and the medium let this process change a file.
    package static func mayWrite(to path: String) -> Bool {
        unsafe faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0
    }

    /// Whether permissions let this process read a file; a link isn't followed.
    package static func mayRead(_ path: String) -> Bool {
        unsafe faccessat(AT_FDCWD, path, R_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Bytes of the longest name that a folder's file system allows.
    package static func longestName(in folder: String) -> Int {
        let limit = unsafe pathconf(folder, Int32(_PC_NAME_MAX))
        // Without a limit of its own there is the usual one of what programs expect.
        return limit > 0 ? limit : 255
    }

    /// Whether files made in a folder get the folder's group.
    package static func givesItsGroup(_ folder: String, _ group: UInt32) throws(FileError) -> Bool {
        let status = try status(of: folder)
        #if canImport(Darwin)
            return status.groupID == group
        #else
            return status.groupID == group && status.mode & 0o2000 != 0
        #endif
    }

    /// Whether this process may replace a file: in a folder with the sticky bit only the owners of file and folder, and
    /// root, may.
    package static func mayReplace(_ path: String) throws(FileError) -> Bool {
        let folder = try status(of: Paths.parent(of: path))
        guard folder.mode & 0o1000 != 0, ProcessFacts.userID != 0 else { return true }
        return try [folder.userID, linkStatus(of: path).userID].contains(ProcessFacts.userID)
    }

    /// Whether a folder is a safe place for a private folder of ours: no other user may rename or remove what is in it.
    ///
    /// - Parameter path: The folder in which something is to be made; links are followed.
    /// - Returns: false if everyone may write there and the sticky bit doesn't protect the entries.
    /// - Throws: if there is no such folder, or it has no readable status.
    package static func isSafeParent(_ path: String) throws(FileError) -> Bool {
        let status = try status(of: path)
        guard status.kind == .directory else { throw FileError("look at", path, errorNumber: ENOTDIR) }
        let (everybodyMayWrite, isSticky) = (status.mode & 0o002 != 0, status.mode & 0o1000 != 0)
        return !everybodyMayWrite || isSticky
    }
}

package enum DiskSpace {
    /// Bytes that this user may still write on the file system of `path`, which must exist.
    package static func available(at path: String) throws(FileError) -> Int64 {
        var information = statvfs()
        _ = try SystemCall.named("measure the free space at", path) { unsafe statvfs(path, &information) }
        // f_bavail, not f_bfree: the rest is reserved for the superuser.
        let (bytes, overflow) = UInt64(information.f_bavail).multipliedReportingOverflow(
            by: UInt64(information.f_frsize))
        return overflow ? .max : Int64(clamping: bytes)
    }
}
