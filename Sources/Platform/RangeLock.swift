internal import CausewayCPlatform

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

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
            throw FileError(
                code: .busy, operation: "lock", path: path, message: "another program has the file open")
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
