#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif
package import CausewayPlatform
internal import Foundation

/// A process that a harness starts, watches and ends. Only its parent may wait for it.
package struct ChildRun: Sendable {
    /// How a process ended.
    package enum Ending: Hashable, Sendable, CustomStringConvertible {
        case exited(Int32)
        case signalled(Int32)
        /// It didn't end within its time limit, and was killed.
        case hung

        package var description: String {
            switch self {
            case .exited(let code): "exit \(code)"
            case .signalled(let number): "signal \(number)"
            case .hung: "hung"
            }
        }
    }

    /// What to start.
    package struct Command: Sendable {
        package var executable: String
        package var arguments: [String]
        /// Added to the environment of this process.
        package var environment: [String: String]
        /// The file for the process's output, both streams; made anew.
        package var output: String
        /// The file for its errors; nil is the file for its output.
        package var errors: String?
        /// Standard output is a pipe from which no process reads; standard error too, unless `errors` is set.
        package var isUnread = false

        package init(_ executable: String, _ arguments: [String], environment: [String: String] = [:], output: String) {
            self.executable = executable
            self.arguments = arguments
            self.environment = environment
            self.output = output
        }

        /// As a shell command, for replaying.
        package var description: String {
            let variables = environment.sorted { $0.key < $1.key }.map { "\($0.key)='\($0.value)'" }
            let words = variables + [executable] + arguments.map { $0.contains(" ") ? "'\($0)'" : $0 }
            return (isUnread ? words + ["| :"] : words).joined(separator: " ")
        }
    }

    package let processID: Int32
    package let output: String

    /// Starts a process with no signal blocked and all signal handlers at their defaults.
    package init(_ command: Command) throws(FileError) {
        #if canImport(Darwin)
            var actions = posix_spawn_file_actions_t?.none
            var attributes = posix_spawnattr_t?.none
        #else
            var actions = unsafe posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        let unread = try command.isUnread ? Self.unreadPipe() : nil
        defer { if let unread { _ = close(unread) } }
        if let unread {
            unsafe posix_spawn_file_actions_adddup2(&actions, unread, 1)
        } else {
            unsafe posix_spawn_file_actions_addopen(&actions, 1, command.output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        }
        if let errors = command.errors {
            unsafe posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        } else {
            unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
        }
        // The test runner blocks signals that its children must receive.
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var started: pid_t = 0
        let result = unsafe Self.withStrings([command.executable] + command.arguments) { arguments in
            unsafe Self.withStrings(Self.environment(adding: command.environment)) { environment in
                unsafe posix_spawn(&started, command.executable, &actions, &attributes, arguments, environment)
            }
        }
        guard result == 0 else {
            throw FileError(
                code: .other, operation: "start", path: command.executable,
                message: "\(unsafe String(cString: strerror(result))); build the package first", errorNumber: result)
        }
        processID = started
        output = command.output
    }

    /// The writing end of a pipe whose reading end is closed.
    private static func unreadPipe() throws(FileError) -> Int32 {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else {
            throw FileError(
                code: .other, operation: "make", path: "a pipe", message: unsafe String(cString: strerror(errno)),
                errorNumber: errno)
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = close(ends[0])
        return ends[1]
    }

    /// Runs to the end.
    package static func run(_ command: Command, limit seconds: Double = 120) throws(FileError) -> Ending {
        try ChildRun(command).wait(limit: seconds)
    }

    /// Sends a signal. One that comes after the process's end has no effect, because the process hasn't been waited
    /// for.
    package func send(_ signal: Int32) {
        _ = kill(processID, signal)
    }

    /// How the process ended, or nil while it runs. May be called again only while it returns nil.
    package func poll() -> Ending? {
        var status: Int32 = 0
        while true {
            let result = unsafe waitpid(processID, &status, WNOHANG)
            if result == processID { return Self.ending(status) }
            if result == 0 { return nil }
            // No other code waits for our children; an error can only be an interruption by a signal of ours.
            if errno != EINTR { return .hung }
        }
    }

    /// Whether it still runs; its end can still be waited for.
    package var isRunning: Bool {
        var info = unsafe siginfo_t()
        let result = unsafe waitid(P_PID, id_t(processID), &info, WEXITED | WNOHANG | WNOWAIT)
        return unsafe result == 0 && info.si_signo == 0
    }

    /// Waits for the end, and kills a process that takes longer.
    package func wait(limit seconds: Double = 120) -> Ending {
        let deadline = MonotonicClock.seconds() + seconds
        while true {
            if let ending = poll() { return ending }
            if MonotonicClock.seconds() > deadline { break }
            usleep(1_000)
        }
        send(SIGKILL)
        while poll() == nil { usleep(1_000) }
        return .hung
    }

    /// The last lines that the process printed.
    package func tail(bytes: Int = 2_000) -> String {
        Self.tail(of: output, bytes: bytes)
    }

    /// The last lines of a file.
    package static func tail(of path: String, bytes: Int = 2_000) -> String {
        guard let content = try? Files.readFile(path, limit: 64 << 20) else { return "" }
        return String(decoding: content.suffix(bytes), as: UTF8.self)
    }

    private static func ending(_ status: Int32) -> Ending {
        let signal = status & 0x7f
        return signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
    }

    private static func environment(adding extra: [String: String]) -> [String] {
        var variables = ProcessInfo.processInfo.environment
        // A trap must end the process at once: a backtrace isn't read here.
        variables["SWIFT_BACKTRACE"] = "enable=no"
        variables["CAUSEWAY_HARNESS"] = "1"
        variables["CAUSEWAY_SMALL_BATCHES"] = "1"
        variables.merge(extra) { _, new in new }
        return variables.map { "\($0.key)=\($0.value)" }
    }

    /// Calls the body with a null-terminated list of C strings.
    private static func withStrings<Result>(
        _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        let list = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: strings.count + 1)
        for (index, text) in strings.enumerated() { unsafe list[index] = strdup(text) }
        unsafe list[strings.count] = nil
        defer {
            for index in strings.indices { unsafe free(list[index]) }
            unsafe list.deallocate()
        }
        return unsafe body(list)
    }
}
