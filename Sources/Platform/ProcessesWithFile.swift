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

/// The processes that have a file open, as far as the system shows them.
package struct FileUsers: Hashable, Sendable {
    package var known: [FileUser] = []
    /// Whether this process could inspect every other one; those of other users, in another container, and those that
    /// can't be dumped are closed to it unless it is root's.
    package var isComplete = true
}

extension Files {
    /// Other processes that have a file open, by whatever name.
    ///
    /// - Parameter file: The file's status.
    /// - Returns: An empty, incomplete list if the system doesn't show open files.
    package static func otherUsers(of file: FileStatus) -> FileUsers {
        var users = FileUsers()
        #if os(Linux)
            // A container may hide it.
            guard let entries = try? list("/proc"), (try? exists("/proc/self/fd")) == true else {
                return FileUsers(isComplete: false)
            }
            let own = ProcessFacts.processID
            for entry in entries {
                guard let number = Int32(entry), number != own else { continue }
                switch uses(file, "/proc/\(entry)") {
                case nil: users.isComplete = false
                case false?: continue
                case true?:
                    // It may be gone already.
                    let name = (try? readFile("/proc/\(entry)/comm", limit: 256)) ?? []
                    let text = String(decoding: name.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
                    users.known.append(FileUser(processID: number, name: text))
                }
            }
        #else
            users.isComplete = false
        #endif
        return users
    }

    #if os(Linux)
        /// Whether a process has the file open; nil if we may not inspect it.
        private static func uses(_ file: FileStatus, _ process: String) -> Bool? {
            let descriptors: [String]
            do {
                descriptors = try list(process + "/fd")
            } catch {
                // It has ended meanwhile.
                return error.code == .notFound ? false : nil
            }
            return descriptors.contains { isOpen(file, process, $0) }
        }

        private static func isOpen(_ file: FileStatus, _ process: String, _ descriptor: String) -> Bool {
            let path = "\(process)/fd/\(descriptor)"
            // Pipes, sockets and the like have no path.
            var first: CChar = 0
            guard unsafe readlink(path, &first, 1) == 1, first == CChar(bitPattern: UInt8(ascii: "/")) else {
                return false
            }
            var found = stat()
            guard unsafe stat(path, &found) == 0 else { return false }
            return FileStatus(found).isSameFile(as: file)
        }
    #endif
}
