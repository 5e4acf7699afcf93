internal import CausewayCPlatform

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// What this process has used so far.
package struct ProcessUsage: Hashable, Sendable {
    /// Most memory that was resident at once, bytes.
    package let peakResidentBytes: Int64
    package let userSeconds: Double
    package let systemSeconds: Double

    package static func current() -> ProcessUsage {
        var usage = rusage()
        // Fails for wrong arguments only.
        #if canImport(Darwin)
            _ = unsafe getrusage(RUSAGE_SELF, &usage)
            let unit: Int64 = 1
        #else
            _ = unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            let unit: Int64 = 1_024
        #endif
        return ProcessUsage(
            peakResidentBytes: ownPeak ?? Int64(usage.ru_maxrss) * unit, userSeconds: seconds(usage.ru_utime),
            systemSeconds: seconds(usage.ru_stime))
    }

    /// What Linux shows of this program alone: `ru_maxrss` keeps the peak of the process before `exec`, its parent's
    /// copy. nil where the system doesn't show it.
    private static var ownPeak: Int64? {
        guard let status = try? Files.readFile("/proc/self/status", limit: 65_536) else { return nil }
        for line in status.split(separator: UInt8(ascii: "\n")) where line.starts(with: "VmHWM:".utf8) {
            return Int64(String(decoding: line.filter { (48...57).contains($0) }, as: UTF8.self)).map { $0 * 1_024 }
        }
        return nil
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000
    }
}

package enum ProcessFacts {
    package static var processID: Int32 { getpid() }
    /// The effective user, who owns what the process makes.
    package static var userID: UInt32 { geteuid() }

    /// Whether this process may give its files to a group: one that it belongs to, or any where it is root's.
    package static func mayGive(toGroup group: UInt32) -> Bool {
        if userID == 0 || getegid() == group { return true }
        let count = getgroups(0, nil)
        guard count > 0 else { return false }
        var groups = [gid_t](repeating: 0, count: Int(count))
        guard unsafe getgroups(count, &groups) >= 0 else { return false }
        return groups.contains(group)
    }

    /// Processors that are on line; at least 1.
    package static var processorCount: Int {
        max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }

    /// For messages; empty when the system gives none.
    package static var hostName: String {
        // Longest name by POSIX is 255 bytes.
        var buffer = [CChar](repeating: 0, count: 257)
        guard unsafe gethostname(&buffer, 256) == 0 else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Changes with every start of the machine, so that an old process number isn't mistaken for a current one; empty
    /// if the system doesn't show it.
    package static let bootID: String = {
        #if canImport(Darwin)
            var time = timeval()
            var size = MemoryLayout<timeval>.size
            guard unsafe sysctlbyname("kern.boottime", &time, &size, nil, 0) == 0 else { return "" }
            return "\(time.tv_sec).\(time.tv_usec)"
        #else
            do throws(FileError) {
                let text = try Files.readFile("/proc/sys/kernel/random/boot_id", limit: 64)
                return String(decoding: text.prefix { $0 > UInt8(ascii: " ") }, as: UTF8.self)
            } catch {
                // A container may hide it; it is for messages and never needed for a decision about data.
                return ""
            }
        #endif
    }()

    /// Whether this process ignores a signal, as one does that `nohup` has started.
    package static func ignores(_ signal: Int32) -> Bool { causeway_signal_is_ignored(signal) != 0 }

    /// Whether a process of any user has this number now. Numbers are reused: for messages only.
    package static func isRunning(_ processID: Int32) -> Bool {
        // Zero and negative numbers mean groups.
        guard processID > 0 else { return false }
        return kill(processID, 0) == 0 || errno == EPERM
    }
}

package enum Terminal {
    package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// Whether terminals of this process understand no control sequences (`TERM`).
    package static var isDumb: Bool {
        guard let name = unsafe getenv("TERM") else { return true }
        return ["", "dumb"].contains(unsafe String(cString: name))
    }

    /// Columns of the terminal; nil when the descriptor is none or doesn't know.
    package static func width(_ descriptor: Int32) -> Int? {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Columns that the environment asks for (`COLUMNS`); nil where it doesn't, or by nonsense.
    package static var wantedWidth: Int? {
        guard let text = unsafe getenv("COLUMNS"), let columns = unsafe Int(String(cString: text)), columns > 0 else {
            return nil
        }
        return columns
    }
}

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
                case true?: users.known.append(FileUser(running: number))
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
