internal import Foundation

/// The line that the command prints with `--json` when it resumes the work of an earlier run.
struct ResumedLine: Decodable {
    let event: String
    /// The step, counted from 1.
    let step: Int
    /// The step, counted from 0.
    var index: Int { step - 1 }
    /// Rows that had been read already, over all steps.
    let rows: Int

    /// The first such line in a command's output; nil if there is none.
    init?(in output: String) {
        for line in output.split(separator: "\n") {
            // Lines of text for people aren't JSON, and other events have other keys.
            guard let line = try? JSONDecoder().decode(ResumedLine.self, from: Data(line.utf8)) else { continue }
            if line.event == "resumed" {
                self = line
                return
            }
        }
        return nil
    }
}
