#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Names and contents of files. What must survive a power cut is in `Files+Durable.swift`.
package enum Files {
    /// Entries of one folder that `list` takes into memory (about 100 bytes each).
    package static let maximumListLength = 1_000_000

    /// The names in a folder, sorted, without `.` and `..`.
    /// - Throws: `.tooLarge` over `limit` names; `.badName` for a name that is no UTF-8, as it could not be opened.
    package static func list(_ path: String, limit: Int = maximumListLength) throws(FileError) -> [String] {
        try SystemCall.check("list", path)
        guard let folder = unsafe opendir(path) else { throw FileError("list", path, errorNumber: errno) }
        defer { unsafe _ = closedir(folder) }
        var names: [String] = []
        while true {
            // Only the error number distinguishes the end from an error.
            errno = 0
            guard let entry = unsafe readdir(folder) else {
                let number = errno
                if number != 0 { throw FileError("list", path, errorNumber: number) }
                break
            }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: name.pointee)) {
                    unsafe String(validatingCString: $0)
                }
            }
            guard let name else {
                throw FileError(
                    code: .badName, operation: "list", path: path,
                    message: "a file in it has a name that isn't UTF-8; rename it or move it away")
            }
            if name == "." || name == ".." { continue }
            if names.count == limit {
                throw FileError(
                    code: .tooLarge, operation: "list", path: path,
                    message: "there are more than \(limit) files in it; move those that don't belong to it away")
            }
            names.append(name)
        }
        names.sort()
        return names
    }

    /// The whole content of a file of at most `limit` bytes. Not for a database file that is open in SQLite.
    /// - Throws: `.tooLarge` when it is longer: nothing of it is kept.
    package static func readFile(_ path: String, limit: Int, followsLinks: Bool = true) throws(FileError) -> [UInt8] {
        let file = try OpenFile(path, mode: .read, followsLinks: followsLinks)
        let status = try file.status()
        if status.kind == .directory { throw FileError("read", path, errorNumber: EISDIR) }
        var content: [UInt8] = []
        // A device or a growing file may hold more than its status says: only the reads count.
        content.reserveCapacity(min(max(0, Int(clamping: status.size)), limit))
        let pieceSize = limit < copyBufferSize ? max(0, limit) + 1 : copyBufferSize
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 16)
        defer { unsafe buffer.deallocate() }
        while true {
            let count = try unsafe file.read(into: buffer, at: Int64(content.count))
            if content.count + count > limit {
                throw FileError(
                    code: .tooLarge, operation: "read", path: path,
                    message: "it is longer than \(limit) bytes, more than expected; check that it is the right file")
            }
            unsafe content.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            if count < buffer.count { return content }
        }
    }

    /// Bytes that are read and written at once: large enough that the calls cost little, small enough for any machine.
    static let copyBufferSize = 1 << 20
}
