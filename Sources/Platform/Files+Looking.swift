extension Files {
    /// The status of the path itself; nil where nothing has this name.
    package static func statusIfExists(_ path: String) throws(FileError) -> FileStatus? {
        do throws(FileError) {
            return try linkStatus(of: path)
        } catch {
            if error.code == .notFound || error.code == .notADirectory { return nil }
            throw error
        }
    }

    /// The first bytes of a file, fewer where it is shorter.
    package static func readPrefix(of path: String, length: Int) throws(FileError) -> [UInt8] {
        let file = try OpenFile(path, mode: .read)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, length), alignment: 8)
        defer { unsafe buffer.deallocate() }
        let count = try unsafe file.read(into: buffer, at: 0)
        return unsafe Array(buffer[..<min(count, length)])
    }
}
