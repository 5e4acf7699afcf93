import ArgumentParser

/// How a command prints what it found.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
    /// For a person at a terminal.
    case text
    /// For a pull request: tables and a diagram.
    case markdown
    /// For a program.
    case json
    /// GitHub's annotations, which mark lines of a pull request.
    case github
}

/// How a command prints; `--json` is the short form of `--format json`.
struct FormatArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How to print: text, markdown, json or github, where the command has it.", valueName: "format"))
    var format: OutputFormat?

    @Flag(help: "Print JSON, as --format json.")
    var json = false

    /// Refuses contradicting formats.
    func validate() throws {
        if json, let format, format != .json {
            throw ValidationError("--json and --format \(format.rawValue) contradict each other; give one of them.")
        }
    }

    /// The format that was asked for; text without a word.
    var chosen: OutputFormat { json ? .json : format ?? .text }

    /// Refuses a format that a command doesn't have.
    ///
    /// - Parameters:
    ///   - formats: those that it has.
    ///   - command: what it is called in the message.
    /// - Throws: `ValidationError`, which exits with 64.
    func require(_ formats: [OutputFormat], of command: String) throws {
        guard !formats.contains(chosen) else { return }
        let names = formats.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("\(command) prints \(names); it has no format \(chosen.rawValue).")
    }
}
