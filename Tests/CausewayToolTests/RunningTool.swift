import Foundation
import Testing

/// The tool as a running process, whose standard error is watched.
final class RunningTool {
    let process = Process()
    private let files: WorkFolder

    // The wrapper is a command that starts the tool.
    init(_ arguments: [String], environment: [String: String] = [:], wrapper: [String] = []) throws {
        files = try WorkFolder()
        let command = wrapper + [try #require(ToolProcess.path)] + arguments
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        for name in ["out", "err"] { _ = try files.write([], as: name) }
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: files.path("out")))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: files.path("err")))
        process.standardInput = FileHandle.nullDevice
        try process.run()
    }

    var output: String { (try? String(contentsOfFile: files.path("out"), encoding: .utf8)) ?? "" }
    var errors: String { (try? String(contentsOfFile: files.path("err"), encoding: .utf8)) ?? "" }

    /// Waits until standard error or output holds a text, or the process has ended.
    func wait(for text: String) {
        while !errors.contains(text), !output.contains(text), process.isRunning { usleep(10_000) }
    }

    /// The exit status.
    func end() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }
}
