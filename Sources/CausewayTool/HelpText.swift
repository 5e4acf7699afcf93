import Causeway

/// A command's discussion with the table of exit statuses, which every command has.
///
/// Lines of the text are joined to paragraphs: the argument parser wraps them to the terminal. Indented lines stay.
func helpText(_ text: String) -> String {
    var paragraphs: [String] = []
    var isOpen = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        if line.isEmpty || line.hasPrefix(" ") {
            paragraphs.append(String(line))
            isOpen = false
        } else if isOpen, let last = paragraphs.popLast() {
            paragraphs.append(last + " " + line)
        } else {
            paragraphs.append(String(line))
            isOpen = !line.hasSuffix(":")
        }
    }
    return (paragraphs + ["", exitStatusTable]).joined(separator: "\n")
}

/// One table for README, help and code: `MigrationError.Code.table`.
private let exitStatusTable: String = {
    let failures = MigrationError.Code.table.map { (status: $0.code.exitCode, meaning: $0.meaning) }
    let lines = ([(status: 0, meaning: "done, or nothing to do")] + failures).map { row in
        "  \(String(row.status).padded(to: 3, .trailing))  \(row.meaning)"
    }
    return (["EXIT STATUS:"] + lines).joined(separator: "\n")
}()
