#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif
internal import CausewayPlatform

/// A file system of the harness's own, in memory or in a file, mounted while a case needs it. Needs root.
package struct MountedDisk {
    package let path: String
    private let log: String

    /// Why no file system can be mounted here; nil if one can.
    package static func refusal(_ tools: [String]) -> String? {
        #if canImport(Darwin)
            return "file systems are mounted on Linux only"
        #else
            guard ProcessFacts.userID == 0 else { return "mounting a file system needs root" }
            let missing = (["mount", "umount"] + tools).filter { tool($0) == nil }
            return missing.isEmpty ? nil : "\(missing.joined(separator: ", ")) isn't installed"
        #endif
    }

    /// A file system in memory.
    package static func memory(at path: String, bytes: Int, log: String) throws -> MountedDisk {
        try call("mount", ["-t", "tmpfs", "-o", "size=\(bytes),mode=0700", "tmpfs", path], log: log)
        return MountedDisk(path: path, log: log)
    }

    /// Makes a file system in a file.
    package static func format(_ image: String, as type: String, bytes: Int64, log: String) throws {
        do {
            let file = try OpenFile(image, mode: .createNew)
            try file.truncate(to: bytes)
        }
        // ext4: no lazy initialisation by the kernel during the test.
        let options = type == "ext4" ? ["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"] : ["-q"]
        try call("mkfs." + type, options + [image], log: log)
    }

    /// The file system in a file. Mounting replays its journal.
    package static func image(_ image: String, as type: String, at path: String, log: String) throws -> MountedDisk {
        try call("mount", ["-t", type, "-o", "loop", image, path], log: log)
        return MountedDisk(path: path, log: log)
    }

    /// Changes the size of a file system in memory.
    func resize(bytes: Int) throws {
        try Self.call("mount", ["-o", "remount,size=\(bytes)", path], log: log)
    }

    /// Writes all changes to the disk.
    func sync() throws {
        try Self.call("sync", ["-f", path], log: log)
    }

    package func unmount() throws {
        // A process that was killed a moment ago may still hold the disk.
        var attempts = 0
        while true {
            do {
                return try Self.call("umount", [path], log: log)
            } catch {
                attempts += 1
                guard attempts < 100 else { throw error }
                Pause.milliseconds(20)
            }
        }
    }

    /// Cuts the power: what the file system has not written to its disk is lost, and every further call fails.
    ///
    /// The call is `_IOR('X', 125, __u32)` on ext4 and XFS, with the flag not to write the journal out first.
    func cutPower() throws {
        #if canImport(Darwin)
            throw HarnessError("the call that shuts a file system down is Linux's")
        #else
            let request: UInt = 0x8004_587d
            var flags: UInt32 = 2
            let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw HarnessError("\(path): can't be opened (error \(errno))") }
            defer { _ = close(descriptor) }
            guard unsafe ioctl(descriptor, request, &flags) == 0 else {
                throw HarnessError("\(path): the file system can't be shut down (error \(errno))")
            }
        #endif
    }

    private static func call(_ name: String, _ arguments: [String], log: String) throws {
        guard let tool = tool(name) else { throw HarnessError("\(name) isn't installed") }
        let ending = try ChildRun.run(.init(tool, arguments, output: log))
        guard ending == .exited(0) else {
            throw HarnessError("\(name) \(arguments.joined(separator: " ")): \(ending): \(ChildRun.tail(of: log))")
        }
    }

    private static func tool(_ name: String) -> String? {
        ["/usr/bin/", "/usr/sbin/", "/bin/", "/sbin/"].map { $0 + name }.first { unsafe access($0, X_OK) == 0 }
    }
}
