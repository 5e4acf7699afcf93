import Foundation
import Testing

/// The independent checkers in shared/tools.
enum Checker {
    static let tools = ExampleHistory.project.deletingLastPathComponent().appending(path: "shared/tools")
    static let isThere =
        FileManager.default.fileExists(atPath: tools.appending(path: "expected-schema").path())
        && FileManager.default.isExecutableFile(atPath: "/usr/bin/env")
    static let missing: Comment = "shared/tools is missing"

    /// Checks that layout, metadata and version hashes are those that Core Data would have written.
    static func expectSound(_ store: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for arguments in [["expected-schema", "check"], ["version-hashes", "store"]] {
            let output = try ChildProcess(
                "/usr/bin/env", ["python3", tools.appending(path: arguments[0]).path(), arguments[1], store])
            #expect(output.status == 0, "\(output.output)\(output.errors)", sourceLocation: sourceLocation)
        }
    }
}
