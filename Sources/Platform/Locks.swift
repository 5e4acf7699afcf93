internal import CausewayCPlatform

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// An exclusive lock, held through a lock file; the system releases it when the process ends, however it ends.
/// Advisory: it only keeps out processes that use it. It also keeps out a second `FileLock` of the same process.
package struct FileLock: ~Copyable {
    private let file: OpenFile

    package var path: String { file.path }

    /// How often to try again after the holder removed the file between our open and our lock. Each round needs another
    /// process that finishes just then.
    private static let maximumAttempts = 100

    /// Takes the lock, creating the file when it is missing, or fails at once.
    /// - Throws: `.busy` when another process has it.
    package init(_ path: String) throws(FileError) {
        for _ in 0..<Self.maximumAttempts {
            let candidate = try OpenFile(path, mode: .create, permissions: 0o600, followsLinks: false)
            let descriptor = candidate.descriptor
            _ = try SystemCall.run("lock", path) { flock(descriptor, LOCK_EX | LOCK_NB) }
            // The holder removes the file when it is done: then we have locked a file without a name, and another
            // process may already hold the new one.
            if try Self.hasName(candidate) {
                file = candidate
                return
            }
        }
        throw FileError(
            code: .busy, operation: "lock", path: path,
            message: "other processes take and release it all the time; wait until they are done")
    }

    deinit {
        // Not by closing alone: a process that is being started has a copy of the descriptor until it is another
        // program.
        _ = flock(file.descriptor, LOCK_UN)
    }

    private static func hasName(_ file: borrowing OpenFile) throws(FileError) -> Bool {
        let own = try file.status()
        do throws(FileError) {
            return try Files.linkStatus(of: file.path).isSameFile(as: own)
        } catch {
            if error.code == .notFound { return false }
            throw error
        }
    }

    /// Replaces the file's text: who holds the lock, for people to read. No decision may depend on it.
    package func write(_ text: String) throws(FileError) {
        try file.truncate(to: 0)
        try file.write(Array(text.utf8))
    }

    /// Removes the lock file, then releases the lock: in this order no other process can hold it meanwhile.
    package consuming func removeAndRelease() throws(FileError) {
        try Files.unlink(file.path)
    }
}

/// A POSIX lock for writing on bytes of a file, which keeps out all other processes that ask for one, for reading too.
///
/// It is lost when this process closes *any* descriptor of the file.
package struct RangeLock: ~Copyable {
    private let file: OpenFile

    /// Takes the lock, or fails at once.
    ///
    /// - Parameters:
    ///   - file: Open for reading and writing.
    ///   - start: The first byte; it may be beyond the file's end.
    ///   - length: Bytes.
    /// - Throws: `.busy` where another process has a lock there.
    package init(_ file: consuming OpenFile, start: Int64, length: Int64) throws(FileError) {
        let (descriptor, path) = (file.descriptor, file.path)
        do throws(FileError) {
            _ = try SystemCall.run("lock", path) { causeway_lock_range(descriptor, start, length) }
        } catch {
            // POSIX lets the system choose between the two.
            guard error.code == .permissionDenied else { throw error }
            throw FileError(code: .busy, operation: "lock", path: path, message: "another program has the file open")
        }
        self.file = file
    }

    /// Whether another process has a lock on bytes of a file.
    ///
    /// The file is opened and closed, which drops all locks of this process on it: call it before there are any.
    package static func isHeldByOthers(_ path: String, start: Int64, length: Int64) throws(FileError) -> Bool {
        let file = try OpenFile(path, mode: .read)
        let descriptor = file.descriptor
        return try SystemCall.run("look for locks on", path) { causeway_range_is_locked(descriptor, start, length) }
            != 0
    }
}
