#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Reads files that may come from elsewhere: regular ones, up to a limit.
package enum ForeignFile {
    package struct Failure: Error {
        package let isTooLarge: Bool
        package let message: String
    }

    /// The whole content of at most `limit` bytes; `kind` is what the file is, for messages. Links aren't followed
    /// where one could lead out of a foreign folder, and its target's content into messages.
    package static func content(
        of path: String, followsLinks: Bool, limit: Int, kind: String
    ) throws(Failure) -> [UInt8] {
        // Not blocking: opening a pipe without a writer would wait forever.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW))
        guard descriptor >= 0 else { throw failure("The file can't be opened") }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failure("The file can't be read") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(isTooLarge: false, message: "This isn't a regular file.")
        }
        var content: [UInt8] = []
        content.reserveCapacity(min(max(0, Int(status.st_size)), limit))
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        // To the end, whatever the reported size: the file may grow or shrink meanwhile.
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return content }
            if count < 0 {
                if errno == EINTR { continue }
                throw failure("The file can't be read")
            }
            content += chunk.prefix(count)
            if content.count > limit {
                throw Failure(
                    isTooLarge: true, message: "The file is larger than \(limit >> 20) MiB, larger than any \(kind).")
            }
        }
    }

    /// Whether it is a folder, links followed; `message` says what it means where there is nothing.
    package static func isFolder(_ path: String, _ message: String) throws(Failure) -> Bool {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw failure(message) }
        return status.st_mode & S_IFMT == S_IFDIR
    }

    /// With the reason that the system gives.
    static func failure(_ message: String, _ code: Int32 = errno) -> Failure {
        let reason = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
        return Failure(isTooLarge: false, message: "\(message): \(reason).")
    }

    /// The path's last part, without its extension if that is one of these.
    package static func name(of path: String, without extensions: [String]) -> String {
        let last = path.split(separator: "/").last.map(String.init) ?? path
        guard let dot = last.lastIndex(of: "."), dot != last.startIndex,
            extensions.contains(String(last[last.index(after: dot)...]))
        else { return last }
        return String(last[..<dot])
    }
}
