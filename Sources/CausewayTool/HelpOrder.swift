/// A command's help in the order in which people look for it: usage, what it does, arguments and options, exit
/// statuses.
///
/// The argument parser prints the discussion, which holds the table of exit statuses, before the usage.
///
/// - Parameter text: what the argument parser prints; anything but a command's help stays as it is.
/// - Returns: the text to show.
func usageFirst(_ text: String) -> String {
    let paragraphs = text.split(separator: "\n\n", omittingEmptySubsequences: false).map(String.init)
    guard text.hasPrefix("OVERVIEW: "),
        let status = paragraphs.firstIndex(where: { $0.hasPrefix("EXIT STATUS:\n") }),
        let usage = paragraphs[status...].firstIndex(where: { $0.hasPrefix("USAGE: ") })
    else { return text }
    // A line of help may end with a blank line of its own.
    var options = paragraphs[(usage + 1)...].joined(separator: "\n\n")
    while options.hasSuffix("\n") { options.removeLast() }
    let parts = [paragraphs[usage]] + paragraphs[..<status] + [options] + paragraphs[status..<usage]
    return parts.filter { !$0.isEmpty }.joined(separator: "\n\n")
}
