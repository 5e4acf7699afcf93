import Foundation

/// Runs this executable again for one piece of work.
enum ChildProcess {
    static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> Outcome {
        let process = Process()
        process.executableURL = try executable()
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw BenchmarkError("\(arguments.joined(separator: " ")): ended with \(process.terminationStatus)")
        }
        return try JSONDecoder().decode(Outcome.self, from: data)
    }

    private static func executable() throws -> URL {
        guard let url = Bundle.main.executableURL else { throw BenchmarkError("this executable's path isn't known") }
        return url
    }
}
