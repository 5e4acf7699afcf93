#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// An open file or folder; closed when it goes out of scope. Never inherited by child processes.
///
/// On Linux and macOS, closing *any* descriptor of a file releases all POSIX locks of the process on it: no `OpenFile`
/// of a database file may close while a SQLite connection to it is open (InsideCrashSafety §2.1).
package struct OpenFile: ~Copyable {
    package enum Mode: Hashable, Sendable {
        case read
        case readWrite
        /// Read and write; must not exist yet.
        case createNew
        /// Read and write; created when missing.
        case create
        /// Of a folder, to make the names in it durable.
        case folder
    }

    package let path: String
    let descriptor: Int32

    /// Opens or creates a file. `permissions` are those of a new one, before the process's umask. Without
    /// `followsLinks`, a path whose last part is a symbolic link is refused (`.symbolicLink`).
    package init(_ path: String, mode: Mode, permissions: UInt32 = 0o600, followsLinks: Bool = true) throws(FileError) {
        var flags =
            switch mode {
            case .read: O_RDONLY
            case .readWrite: O_RDWR
            case .createNew: O_RDWR | O_CREAT | O_EXCL
            case .create: O_RDWR | O_CREAT
            case .folder: O_RDONLY | O_DIRECTORY
            }
        if !followsLinks { flags |= O_NOFOLLOW }
        let (allFlags, bits) = (flags | O_CLOEXEC, mode_t(truncatingIfNeeded: permissions))
        descriptor = try SystemCall.named("open", path) { unsafe open(path, allFlags, bits) }
        self.path = path
    }

    deinit {
        // Important content was synced before, with its errors reported.
        _ = close(descriptor)
    }

    package func status() throws(FileError) -> FileStatus {
        var status = stat()
        _ = try SystemCall.run("look at", path) { unsafe fstat(descriptor, &status) }
        return FileStatus(status)
    }

    /// Reads at a position until the buffer is full or the file ends.
    /// - Returns: the number of bytes; fewer than the buffer has only at the end of the file.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        var done = 0
        while done < buffer.count {
            guard let start = buffer.baseAddress else { return 0 }
            let position = done
            let count = try SystemCall.run("read", path) {
                unsafe pread(descriptor, start + position, buffer.count - position, off_t(offset) + off_t(position))
            }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Writes all bytes at a position.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        var done = 0
        while done < bytes.count {
            guard let start = bytes.baseAddress else { return }
            let position = done
            done += try SystemCall.run("write", path) {
                unsafe pwrite(descriptor, start + position, bytes.count - position, off_t(offset) + off_t(position))
            }
        }
    }

    /// Writes from the beginning on.
    package func write(_ bytes: [UInt8]) throws(FileError) {
        try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(FileError) in try unsafe write(bytes, at: 0) }
    }

    /// Reads from the beginning on; fewer bytes where the file is shorter.
    package func prefix(_ length: Int) throws(FileError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 8)
        defer { unsafe buffer.deallocate() }
        let count = try unsafe read(into: buffer, at: 0)
        return unsafe Array(buffer[..<count])
    }

    /// Sets the length; new bytes are zeros.
    package func truncate(to size: Int64) throws(FileError) {
        _ = try SystemCall.run("truncate", path) { ftruncate(descriptor, off_t(size)) }
    }

    /// Returns when the content is on the medium.
    ///
    /// After a failure the content counts as lost: the system marks the pages as written, and a second call would
    /// "succeed" (InsideCrashSafety §2.2). Remove the file and write it again.
    package func sync() throws(FileError) {
        #if canImport(Darwin)
            // fsync leaves the data in the drive's cache there.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
            // File systems without the call (network, FAT) report that.
            let number = errno
            if number != ENOTSUP && number != ENOTTY && number != EINVAL {
                throw FileError("sync", path, errorNumber: number)
            }
        #endif
        _ = try SystemCall.run("sync", path) { fsync(descriptor) }
    }

    package func setPermissions(_ mode: UInt32) throws(FileError) {
        _ = try SystemCall.run("set the permissions of", path) {
            fchmod(descriptor, mode_t(truncatingIfNeeded: mode))
        }
    }

    package func setOwner(userID: UInt32, groupID: UInt32) throws(FileError) {
        _ = try SystemCall.run("set the owner of", path) { fchown(descriptor, userID, groupID) }
    }
}
