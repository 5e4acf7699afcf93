import Foundation

/// Runs the real executable, which the build puts beside the test bundle.
struct ToolProcess {
    let status: Int32
    let output: String
    let errors: String

    /// `swift build --build-tests` and `swift test` build the executable too, as a target of this package. Its name is
    /// the product's; a build of single targets names it after the target.
    static let path: String? = {
        let executable =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            ?? CommandLine.arguments[0]
        let folder = URL(fileURLWithPath: executable).deletingLastPathComponent()
        // On macOS the bundle is a folder with the executable three levels down.
        let folders = [
            folder, folder.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent(),
        ]
        return folders.flatMap { folder in
            ["causeway", "CausewayMain"].map { folder.appendingPathComponent($0).path }
        }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    /// Of util-linux.
    private static let setpriv = "/usr/bin/setpriv"

    /// Runs as another user, by number, where one is given: only root can.
    init(
        _ arguments: [String], in directory: URL? = nil, environment: [String: String] = [:], as user: UInt32? = nil
    ) throws {
        guard let path = Self.path else { throw CocoaError(.fileNoSuchFile) }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("causeway-out-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Files, not pipes: the process would block on a full pipe.
        let (output, errors) = (folder.appendingPathComponent("out"), folder.appendingPathComponent("err"))
        for file in [output, errors] { try Data().write(to: file) }
        let process = Process()
        let command = user.map { [Self.setpriv, "--reuid=\($0)", "--regid=\($0)", "--clear-groups", path] } ?? [path]
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = command.dropFirst() + arguments
        process.currentDirectoryURL = directory
        // Without COLUMNS texts are as a pipe gets them: nothing is broken.
        process.environment = ProcessInfo.processInfo.environment.filter { $0.key != "COLUMNS" }
            .merging(["LINES": "24", "CAUSEWAY_HARNESS": "1"]) { $1 }
            .merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        process.waitUntilExit()
        status = process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
        self.output = String(decoding: try Data(contentsOf: output), as: UTF8.self)
        self.errors = String(decoding: try Data(contentsOf: errors), as: UTF8.self)
    }
}
