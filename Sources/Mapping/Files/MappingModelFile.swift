#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The bytes of a mapping model, and whether they came from an `.xcmappingmodel` folder or a single file.
struct MappingModelFile {
    /// The one file in an `.xcmappingmodel`.
    static let editorFile = "xcmapping.xml"

    /// The path as the caller gave it.
    let path: String
    let bytes: [UInt8]

    /// Reads `xcmapping.xml` of a folder, or the file itself.
    init(_ path: String) throws(MappingFileError) {
        self.path = path
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw MappingFileError(.unreadable, "The mapping model's path is empty or holds a NUL.", path: path)
        }
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            throw Self.failure("The mapping model can't be found", path)
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            // A link inside a foreign folder could lead anywhere, and the target's content could end up in messages.
            bytes = try Self.read("\(path)/\(Self.editorFile)", flags: O_NOFOLLOW)
        } else {
            bytes = try Self.read(path, flags: 0)
        }
    }

    /// The path's last part without its extension.
    static func name(of path: String) -> String {
        let last = path.split(separator: "/").last.map(String.init) ?? path
        guard let dot = last.lastIndex(of: "."), dot != last.startIndex,
            ["xcmappingmodel", "cdm", "xml"].contains(last[last.index(after: dot)...])
        else { return last }
        return String(last[..<dot])
    }

    private static func read(_ path: String, flags: Int32) throws(MappingFileError) -> [UInt8] {
        // Not blocking: opening a pipe without a writer would wait forever.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags)
        guard descriptor >= 0 else { throw failure("The file can't be opened", path) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failure("The file can't be read", path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw MappingFileError(.unreadable, "This isn't a regular file.", path: path)
        }
        return try content(of: descriptor, path)
    }

    /// Reads to the end, whatever the reported size: the file may grow or shrink meanwhile.
    private static func content(of descriptor: Int32, _ path: String) throws(MappingFileError) -> [UInt8] {
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                unsafe systemRead(descriptor, buffer.baseAddress, buffer.count)
            }
            if count == 0 { return content }
            if count < 0 {
                if errno == EINTR { continue }
                throw failure("The file can't be read", path)
            }
            content += chunk.prefix(count)
            if content.count > MappingFileLimits.fileSize {
                throw MappingFileError(
                    .limitExceeded,
                    "The file is larger than \(MappingFileLimits.fileSize >> 20) MiB, larger than any mapping model.",
                    path: path)
            }
        }
    }

    private static func failure(_ message: String, _ path: String) -> MappingFileError {
        let code = errno
        let reason = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
        return MappingFileError(.unreadable, "\(message): \(reason).", path: path)
    }
}

/// `read(2)` under a name that the methods of `MappingModelFile` don't hide.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    unsafe read(descriptor, buffer, count)
}
