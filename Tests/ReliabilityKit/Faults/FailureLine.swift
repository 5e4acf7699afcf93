internal import Foundation

/// The line that the command prints with `--json` when it fails.
enum FailureLine {
    private struct Content: Decodable {
        let event: String
        let storeIsNew: Bool?
    }

    /// What the command says of the store; nil where it says nothing.
    static func storeIsNew(in output: String) -> Bool? {
        for line in output.split(separator: "\n") {
            // Lines of the text for people are no JSON, and need not be.
            guard let content = try? JSONDecoder().decode(Content.self, from: Data(line.utf8)) else { continue }
            if content.event == "error", let isNew = content.storeIsNew { return isNew }
        }
        return nil
    }
}
