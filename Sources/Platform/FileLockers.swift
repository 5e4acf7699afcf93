internal import CausewayCPlatform

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Who has locks on a file.
extension Files {
    /// Bytes of the system's list of all locks that are read: more than a hundred thousand locks.
    private static let lockListLimit = 16 << 20

    /// Other processes that hold a lock on a file, by whatever name. The file isn't opened, which would drop the locks
    /// that this process has on it.
    ///
    /// - Parameter file: the file's status.
    /// - Returns: nil if the system doesn't say. A number below 1 stands for a process that it doesn't name.
    package static func lockers(of file: FileStatus) -> [FileUser]? {
        #if os(Linux)
            // See: 'man 5 proc_locks'.
            guard let bytes = try? readFile("/proc/locks", limit: lockListLimit) else { return nil }
            let (major, minor) = (
                (file.device >> 8 & 0xFFF) | (file.device >> 32 & ~0xFFF),
                (file.device & 0xFF) | (file.device >> 12 & ~0xFF)
            )
            var numbers: Set<Int32> = []
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
                let fields = line.split(separator: " ")
                // One that waits for a lock has an arrow in the second place.
                guard fields.count >= 8, fields[1] != "->", let number = Int32(fields[4]) else { continue }
                let place = fields[5].split(separator: ":")
                guard place.count == 3, UInt64(place[0], radix: 16) == major, UInt64(place[1], radix: 16) == minor,
                    UInt64(place[2]) == file.inode
                else { continue }
                numbers.insert(number)
            }
            return numbers.subtracting([ProcessFacts.processID]).sorted().map { FileUser(running: $0) }
        #else
            return nil
        #endif
    }

    /// A process that keeps others from locking a range for writing; nil where there is none.
    ///
    /// The file is opened and closed, which drops all locks of this process on it.
    package static func locker(of path: String, start: Int64, length: Int64) throws(FileError) -> FileUser? {
        let file = try OpenFile(path, mode: .read)
        let descriptor = file.descriptor
        let number = try SystemCall.run("look for locks on", path) { causeway_range_locker(descriptor, start, length) }
        return number == 0 ? nil : FileUser(running: number)
    }
}

extension FileUser {
    /// A process by its number; without a name where the system shows none.
    init(running number: Int32) {
        #if os(Linux)
            // It may be gone already.
            let name = number > 0 ? (try? Files.readFile("/proc/\(number)/comm", limit: 256)) ?? [] : []
            let text = String(decoding: name.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            self.init(processID: number, name: text)
        #else
            self.init(processID: number, name: "")
        #endif
    }
}
