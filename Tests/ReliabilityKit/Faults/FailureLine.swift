internal import Foundation

/// The line that the command prints with `--json` when it fails.
struct FailureLine: Decodable {
    let event: String
    let exitCode: Int32
    /// Whether the command says that the store is the new one.
    let storeIsNew: Bool
    /// Whether it says that running again resumes the work.
    let isResumable: Bool
    /// The line about the store and the work.
    let outcome: String
    /// Whether it says that there is nothing to resume.
    var hasBegunNothing: Bool { outcome.contains("nothing was started") }

    /// The first such line in a command's output; nil if there is none.
    init?(in output: String) {
        for line in output.split(separator: "\n") {
            // Lines of text for people aren't JSON, and other events have other keys.
            guard let line = try? JSONDecoder().decode(FailureLine.self, from: Data(line.utf8)) else { continue }
            if line.event == "error" {
                self = line
                return
            }
        }
        return nil
    }
}
