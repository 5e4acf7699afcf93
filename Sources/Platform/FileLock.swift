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
        var attempt = 0
        while attempt < Self.maximumAttempts {
            attempt += 1
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
        var text = text
        let outcome = text.withUTF8 { bytes -> Result<Void, FileError> in
            do throws(FileError) {
                try unsafe file.write(UnsafeRawBufferPointer(bytes), at: 0)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try outcome.get()
    }

    /// Removes the lock file, then releases the lock: in this order no other process can hold it meanwhile.
    package consuming func removeAndRelease() throws(FileError) {
        try Files.unlink(file.path)
    }
}
