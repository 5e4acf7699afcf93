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
    let rows = [(status: Int32(0), meaning: "done, or nothing to do")]
        + MigrationError.Code.table.map { ($0.code.exitCode, $0.meaning) }
    let lines = rows.map { row in "  \(String(row.status).padded(to: 3, .trailing))  \(row.meaning)" }
    return (["EXIT STATUS:"] + lines).joined(separator: "\n")
}()
