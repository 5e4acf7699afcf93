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

/// One table for help and code: `MigrationError.Code.table`; a test compares the article with it.
private let exitStatusTable: String = {
    let failures = MigrationError.Code.table.map { (status: $0.code.exitCode, meaning: $0.meaning) }
    let lines = ([(status: 0, meaning: "done, or nothing to do")] + failures).flatMap { row in
        let parts = wrapped(row.meaning, to: 72)
        return parts.enumerated().map { place, part in
            "  \((place == 0 ? String(row.status) : "").padded(to: 3, .trailing))  \(part)"
        }
    }
    return (["EXIT STATUS:"] + lines).joined(separator: "\n")
}()

/// The words in lines of at most `width` characters; a longer word stands alone.
private func wrapped(_ text: String, to width: Int) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ") {
        if let last = lines.last, last.count + 1 + word.count <= width {
            lines[lines.count - 1] = last + " " + word
        } else {
            lines.append(String(word))
        }
    }
    return lines
}
