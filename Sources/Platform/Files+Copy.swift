#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension Files {
    /// Copies a file's content to a new file and syncs it; the name is durable after `syncDirectory`.
    ///
    /// In pieces of 1 MiB: memory doesn't grow with the file. When it fails, no part of the copy stays.
    /// - Returns: the number of bytes.
    /// - Throws: `.exists` when the target's name is taken.
    @discardableResult
    package static func copyFile(
        from source: String, to target: String, permissions: UInt32 = 0o600
    ) throws(FileError) -> Int64 {
        let input = try OpenFile(source, mode: .read)
        let output = try OpenFile(target, mode: .createNew, permissions: permissions)
        do throws(FileError) {
            return try copyContent(of: input, to: output)
        } catch {
            throw removing(target, after: error)
        }
    }

    private static func copyContent(of input: borrowing OpenFile, to output: borrowing OpenFile) throws(FileError)
        -> Int64
    {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: copyBufferSize, alignment: 4_096)
        defer { unsafe buffer.deallocate() }
        var offset: Int64 = 0
        while true {
            let count = try unsafe input.read(into: buffer, at: offset)
            try unsafe output.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
            offset += Int64(count)
            if count < buffer.count { break }
        }
        try output.sync()
        return offset
    }
}
