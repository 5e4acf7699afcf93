#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Changes that survive a power cut once `syncDirectory` has returned for each folder whose names they touch. Only
/// `writeFileDurably` does that by itself: a protocol of several steps syncs when it must.
extension Files {
    /// Makes the names in a folder durable: new, renamed and removed files.
    package static func syncDirectory(_ path: String) throws(FileError) {
        if Mutant.isOn(.noDirectorySync) { return }
        try OpenFile(path, mode: .folder).sync()
    }

    /// Makes a file's content durable. Not for a database file that is open in SQLite.
    package static func syncFile(_ path: String) throws(FileError) {
        try OpenFile(path, mode: .read).sync()
    }

    /// Makes a folder; `mode` is meant before the process's umask.
    /// - Throws: `.exists` when something has the name.
    package static func makeDirectory(_ path: String, mode: UInt32 = 0o700) throws(FileError) {
        _ = try SystemCall.named("make the folder", path) { unsafe mkdir(path, mode_t(truncatingIfNeeded: mode)) }
    }

    /// Gives a file a second name on the same file system; a name that is taken is never replaced (`.exists`). A
    /// symbolic link gets the name itself, not what it leads to.
    package static func link(_ existing: String, as new: String) throws(FileError) {
        try SystemCall.check("link", existing)
        do throws(FileError) {
            // linkat without AT_SYMLINK_FOLLOW: link() of macOS follows links, that of Linux doesn't.
            _ = try SystemCall.named("link", new) { unsafe linkat(AT_FDCWD, existing, AT_FDCWD, new, 0) }
        } catch {
            // ENOENT is about the file to be linked.
            if error.code == .notFound { throw FileError("link", existing, errorNumber: error.errorNumber) }
            throw error
        }
    }

    /// Moves a file over another name in one step: at any instant the name leads to the old or to the new file.
    package static func rename(_ existing: String, to new: String) throws(FileError) {
        try SystemCall.check("rename", existing)
        try SystemCall.check("rename", new)
        _ = try SystemCall.run("rename", existing) {
            #if canImport(Darwin)
                unsafe Darwin.rename(existing, new)
            #else
                unsafe Glibc.rename(existing, new)
            #endif
        }
    }

    /// Removes a name of a file.
    /// - Returns: false when there was none.
    @discardableResult
    package static func unlink(_ path: String) throws(FileError) -> Bool {
        try SystemCall.removing("remove", path) {
            #if canImport(Darwin)
                unsafe Darwin.unlink(path)
            #else
                unsafe Glibc.unlink(path)
            #endif
        }
    }

    /// Removes an empty folder.
    /// - Returns: false when there was none.
    @discardableResult
    package static func removeDirectory(_ path: String) throws(FileError) -> Bool {
        try SystemCall.removing("remove the folder", path) { unsafe rmdir(path) }
    }

    /// Puts a small file in place, whole or not at all: written beside it as `<path>.tmp`, synced, renamed, the folder
    /// synced. One writer per path at a time; a `.tmp` that a crash left is overwritten. Without `syncs`, which is for
    /// tests alone, the content may be lost.
    package static func writeFileDurably(
        _ path: String, _ bytes: [UInt8], permissions: UInt32 = 0o600, syncs: Bool = true
    ) throws(FileError) {
        let temporary = path + ".tmp"
        // Not reused: it could be a link to elsewhere.
        try unlink(temporary)
        do throws(FileError) {
            let file = try OpenFile(temporary, mode: .createNew, permissions: permissions)
            try file.write(bytes)
            if syncs { try file.sync() }
            try rename(temporary, to: path)
        } catch {
            throw removing(temporary, after: error)
        }
        try syncDirectory(Paths.parent(of: path))
    }

    /// Removes what a failed operation left; tells when even that failed.
    static func removing(_ path: String, after error: FileError) -> FileError {
        do throws(FileError) {
            try unlink(path)
            return error
        } catch let second {
            return FileError(
                code: error.code, operation: error.operation, path: error.path,
                message: error.message + "; and the incomplete \(path) could not be removed: \(second.message)",
                errorNumber: error.errorNumber)
        }
    }
}
