import ArgumentParser

/// How a command prints what it found: a case for each format that it has.
protocol OutputFormat: CaseIterable, Equatable, ExpressibleByArgument, RawRepresentable, Sendable
where RawValue == String {
    /// For a person at a terminal.
    static var text: Self { get }
    /// For a program.
    static var json: Self { get }
}

/// Of commands that list things.
enum ListFormat: String, OutputFormat {
    case text, json
}

/// Of commands whose report may go into a pull request: tables and a diagram.
enum ReportFormat: String, OutputFormat {
    case text, markdown, json
}

/// Of `models`, whose check may also mark lines of a pull request.
enum ModelsFormat: String, OutputFormat {
    case text, markdown, json, github
}

/// How a command prints; `--json` is the short form of `--format json`.
struct FormatArguments<Format: OutputFormat>: ParsableArguments {
    @Option(help: ArgumentHelp("How to print.", valueName: "format"))
    var format: Format?

    @Flag(help: "Print JSON, as --format json.")
    var json = false

    /// Refuses contradicting formats.
    func validate() throws {
        if json, let format, format != .json {
            throw ValidationError("--json and --format \(format.rawValue) contradict each other; give one of them.")
        }
    }

    /// The format that was asked for; text without a word.
    var chosen: Format { json ? .json : format ?? .text }
}

extension FormatArguments<ModelsFormat> {
    /// Refuses a format that only other forms of the command have.
    ///
    /// - Parameters:
    ///   - formats: those that this form has.
    ///   - form: what it is called in the message.
    /// - Throws: `ValidationError`, which exits with 64.
    func require(_ formats: [ModelsFormat], of form: String) throws {
        guard !formats.contains(chosen) else { return }
        let names = formats.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("\(form) prints \(names); it has no format \(chosen.rawValue).")
    }
}
