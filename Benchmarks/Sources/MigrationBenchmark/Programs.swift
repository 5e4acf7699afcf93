import Foundation
import Synchronization

/// Runs programs one after the other, and tells the watch which one runs.
struct Programs {
    private let watch: ResourceWatch?
    private static let running = Mutex<Int32?>(nil)

    /// - Parameter watch: nil for programs that nobody measures.
    init(_ watch: ResourceWatch? = nil) {
        self.watch = watch
    }

    /// - Returns: what it printed.
    /// - Throws: where it doesn't end with 0.
    @discardableResult
    func run(_ program: URL, _ arguments: [String], environment: [String: String] = [:]) throws -> Data {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        let identifier = process.processIdentifier
        Self.running.withLock { $0 = identifier }
        watch?.follow(identifier)
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        watch?.follow(nil)
        Self.running.withLock { $0 = nil }
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            let words = [program.lastPathComponent] + arguments
            throw BenchmarkError("\(words.joined(separator: " ")): ended with \(process.terminationStatus)")
        }
        return data
    }

    /// Ends the program that runs, if there is one. It may have inherited that it ignores politer signals.
    static func endRunning() {
        running.withLock { identifier in
            if let identifier { kill(identifier, SIGKILL) }
            identifier = nil
        }
    }

    /// Runs this executable for one migration.
    func runSelf(_ arguments: [String], environment: [String: String] = [:]) throws -> MigrationAccount {
        guard let executable = Bundle.main.executableURL else {
            throw BenchmarkError("this executable's path isn't known")
        }
        let data = try run(executable, arguments, environment: environment)
        return try JSONDecoder().decode(MigrationAccount.self, from: data)
    }

    /// Runs SQL by the sqlite3 shell, until the first error.
    func runShell(_ script: String, on database: String) throws {
        try run(Self.named("sqlite3"), ["-batch", "-bail", database, ".read '\(script)'"])
    }

    /// Looks a program up where the shell would.
    static func named(_ name: String) throws -> URL {
        guard let program = find(name) else { throw BenchmarkError("\(name) isn't installed") }
        return program
    }

    /// nil where it isn't installed.
    static func find(_ name: String) -> URL? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return folders.lazy.map { URL(fileURLWithPath: String($0)).appendingPathComponent(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// Returns when a file, or the names in a folder, are on the disk.
    static func sync(_ path: String) throws {
        let descriptor = unsafe open(path, O_RDONLY)
        guard descriptor >= 0 else { throw BenchmarkError("\(path): can't be opened") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw BenchmarkError("\(path): can't be synced") }
    }
}
