#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A process that has a file open.
package struct FileUser: Hashable, Sendable {
    package let processID: Int32
    /// What the system calls it, cut by the system; for messages.
    package let name: String
}

extension Files {
    /// Other processes that have a file open, by whatever name: as far as this process may look into them, which are those
    /// of the same user and container, or all for root.
    ///
    /// - Parameter file: The file's status.
    /// - Returns: nil where the system doesn't say who has what open.
    package static func otherUsers(of file: FileStatus) -> [FileUser]? {
        #if os(Linux)
            guard let entries = try? list("/proc") else { return nil }
            // A container may hide it.
            guard (try? exists("/proc/self/fd")) == true else { return nil }
            let own = ProcessFacts.processID
            return entries.compactMap { entry in
                guard let number = Int32(entry), number != own, has(file, "/proc/\(entry)/fd") else { return nil }
                // It may be gone already.
                let name = (try? readFile("/proc/\(entry)/comm", limit: 256)) ?? []
                let text = String(decoding: name.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
                return FileUser(processID: number, name: text)
            }
        #else
            return nil
        #endif
    }

    #if os(Linux)
        private static func has(_ file: FileStatus, _ folder: String) -> Bool {
            // Another user's process, or one that has ended meanwhile.
            guard let descriptors = try? list(folder) else { return false }
            return descriptors.contains { descriptor in
                var found = stat()
                guard unsafe stat(folder + "/" + descriptor, &found) == 0 else { return false }
                return FileStatus(found).isSameFile(as: file)
            }
        }
    #endif
}
