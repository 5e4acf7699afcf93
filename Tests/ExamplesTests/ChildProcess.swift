import Foundation

/// A process that ran to its end.
struct ChildProcess {
    let status: Int32
    let output: String
    let errors: String

    init(_ path: String, _ arguments: [String]) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "causeway-child-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Files, not pipes: the process would block on a full pipe.
        let (output, errors) = (folder.appending(path: "out"), folder.appending(path: "err"))
        for file in [output, errors] { try Data().write(to: file) }
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        process.waitUntilExit()
        status = process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
        self.output = String(decoding: try Data(contentsOf: output), as: UTF8.self)
        self.errors = String(decoding: try Data(contentsOf: errors), as: UTF8.self)
    }

    /// An executable of this package; the build puts it beside the test bundle.
    static func executable(_ name: String) throws -> String {
        let test =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            ?? CommandLine.arguments[0]
        let folder = URL(filePath: test).deletingLastPathComponent()
        // On macOS the bundle is a folder with the executable three levels down.
        let above = folder.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let path = [folder, above].map { $0.appending(path: name).path() }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let path else { throw CocoaError(.fileNoSuchFile) }
        return path
    }
}
