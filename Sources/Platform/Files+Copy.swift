#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension Files {
    /// Copies a file's content to a new file and syncs it; the name is durable after `syncDirectory`.
    ///
    /// In pieces of 1 MiB: memory doesn't grow with the file. When it fails, no part of the copy stays. Without `syncs`
    /// the caller syncs the file when it is complete. Without `followsLinks`, a source that is a symbolic link is
    /// refused (`.symbolicLink`).
    /// - Returns: the number of bytes.
    /// - Throws: `.exists` when the target's name is taken.
    @discardableResult
    package static func copyFile(
        from source: String, to target: String, permissions: UInt32 = 0o600, syncs: Bool = true,
        followsLinks: Bool = true
    ) throws(FileError) -> Int64 {
        let input = try OpenFile(source, mode: .read, followsLinks: followsLinks)
        let output = try OpenFile(target, mode: .createNew, permissions: permissions)
        do throws(FileError) {
            return try copyContent(of: input, to: output, syncs: syncs)
        } catch {
            throw removing(target, after: error)
        }
    }

    private static func copyContent(
        of input: borrowing OpenFile, to output: borrowing OpenFile, syncs: Bool
    ) throws(FileError) -> Int64 {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: copyBufferSize, alignment: 4_096)
        defer { unsafe buffer.deallocate() }
        var offset: Int64 = 0
        while true {
            let count = try unsafe input.read(into: buffer, at: offset)
            try unsafe output.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
            offset += Int64(count)
            if count < buffer.count { break }
        }
        if syncs { try output.sync() }
        return offset
    }

    /// Copies a file with its attributes, as `copyAttributes` does, durably except for the name; links aren't followed.
    /// A killed run leaves no part of it under the final name.
    ///
    /// - Returns: the attributes that stay different.
    /// - Throws: `.exists` when the target's name is taken.
    package static func copyWhole(
        from source: String, to target: String, ignoringOwner: Bool
    ) throws(FileError) -> [String] {
        let partial = target + partSuffix
        try unlink(partial)
        let refused: [String]
        do throws(FileError) {
            try copyFile(from: source, to: partial, syncs: false, followsLinks: false)
            refused = try copyAttributes(from: source, to: partial, ignoringOwner: ignoringOwner)
            try syncFile(partial)
            // Unlike a rename, it replaces nothing.
            try link(partial, as: target)
        } catch {
            // The error that matters is why there is no copy; the next run removes the rest of this one.
            _ = try? unlink(partial)
            throw error
        }
        try unlink(partial)
        return refused
    }

    /// The suffix of an incomplete copy.
    package static let partSuffix = ".part"

    /// Whether two files hold the same bytes; links aren't followed.
    package static func haveSameContent(_ first: String, _ second: String) throws(FileError) -> Bool {
        let one = try OpenFile(first, mode: .read, followsLinks: false)
        let other = try OpenFile(second, mode: .read, followsLinks: false)
        guard try one.status().size == other.status().size else { return false }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: copyBufferSize, alignment: 4_096)
        let otherBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: copyBufferSize, alignment: 4_096)
        defer {
            unsafe buffer.deallocate()
            unsafe otherBuffer.deallocate()
        }
        var offset: Int64 = 0
        while true {
            let count = try unsafe one.read(into: buffer, at: offset)
            guard try unsafe other.read(into: otherBuffer, at: offset) == count,
                let start = buffer.baseAddress, let otherStart = otherBuffer.baseAddress,
                unsafe memcmp(start, otherStart, count) == 0
            else { return false }
            if count < copyBufferSize { return true }
            offset += Int64(count)
        }
    }
}
