import Foundation

/// A child process with limits on time, memory and output. The harness continues, whatever an input does to the child.
struct BoundedProcess {
    /// Limits of one child.
    struct Limits: Sendable {
        /// Seconds of processor time, of all threads. A child that takes more is killed and counts as hung. Other load
        /// on the machine doesn't count.
        var seconds = 60.0
        /// A child that waits instead of computing may take so many times as long by the clock.
        static let patience = 6.0
        /// KiB of address space. A debug build needs about 200 MiB with its threads' stacks.
        var memoryKibibytes = 3 << 20
        /// Blocks of 512 bytes of any one file: 2 GiB.
        var fileBlocks = 4 << 20
    }

    enum End: Hashable, Sendable {
        case exit(Int32)
        case signal(Int32)
        case hung
    }

    let end: End
    /// Standard output and standard error.
    let text: String
    let seconds: Double

    init(_ command: String, _ arguments: [String], in folder: String, limits: Limits = Limits()) throws {
        let output = URL(fileURLWithPath: folder).appendingPathComponent("output-\(UUID().uuidString.prefix(8)).txt")
        // A file, not a pipe: a child that writes without end meets the limit of file size.
        try Data().write(to: output)
        let file = try FileHandle(forWritingTo: output)
        defer { try? file.close() }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        let script =
            """
            ulimit -c 0; ulimit -S -t \(Int(limits.seconds.rounded(.up))); ulimit -v \(limits.memoryKibibytes); \
            ulimit -f \(limits.fileBlocks); exec "$@"
            """
        process.arguments = ["-c", script, "sh", command] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["SWIFT_BACKTRACE": "enable=no", "COLUMNS": "80"]) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = file
        process.standardError = file
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        let start = ContinuousClock.now
        try process.run()
        if ended.wait(timeout: .now() + limits.seconds * Limits.patience) == .timedOut {
            kill(process.processIdentifier, SIGKILL)
            ended.wait()
            end = .hung
        } else {
            switch (process.terminationReason, process.terminationStatus) {
            case (.exit, let code): end = .exit(code)
            case (_, SIGXCPU): end = .hung
            case (_, let signal): end = .signal(signal)
            }
        }
        seconds = (ContinuousClock.now - start) / .seconds(1)
        text = String(decoding: try Data(contentsOf: output).prefix(1 << 20), as: UTF8.self)
        try FileManager.default.removeItem(at: output)
    }
}
