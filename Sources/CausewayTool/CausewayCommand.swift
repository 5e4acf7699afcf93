public import ArgumentParser

/// The `causeway` command: migrates, inspects and generates Core Data SQLite stores.
///
/// A team's own executable is the same command with the team's policies, mapping models and stages. It needs a package
/// with the product `CausewayTool` and a few lines:
///
/// ```swift
/// import CausewayTool
///
/// @main
/// struct OurMigrator {
///     static func main() async {
///         var code = MigrationCode()
///         code.register(PostToSectionsPolicy.self)
///         await CausewayCommand.main(code: code)
///     }
/// }
/// ```
public struct CausewayCommand: AsyncParsableCommand {
    /// Name, subcommands and help.
    public static let configuration = CommandConfiguration(
        commandName: "causeway",
        abstract: "Migrates very large Core Data SQLite stores from one model version to another.",
        discussion: helpText(
            """
            Rows are streamed in bounded batches into a new store, which is verified and then put in the place of the
            old one; the old one stays beside it as a backup. At every instant the store's path holds the complete old
            or the complete new store.

            Try:
              causeway inspect Library.sqlite --models App.xcdatamodeld
              causeway plan Library.sqlite --models App.xcdatamodeld
              causeway migrate Library.sqlite --models App.xcdatamodeld
              causeway status Library.sqlite
              causeway verify Library.sqlite --models App.xcdatamodeld
              causeway --version
            """),
        groupedSubcommands: [
            CommandGroup(
                name: "Migration", subcommands: [PlanCommand.self, MigrateCommand.self, StatusCommand.self]),
            CommandGroup(
                name: "Backups", subcommands: [BackupsCommand.self, RollbackCommand.self, PurgeBackupCommand.self]),
            CommandGroup(
                name: "Examination",
                subcommands: [
                    InspectCommand.self, CompareCommand.self, VerifyCommand.self, ModelsCommand.self,
                ]),
            CommandGroup(name: "Content", subcommands: [ExportCommand.self]),
            CommandGroup(name: "Test data", subcommands: [GenerateCommand.self]),
        ])

    /// For the argument parser.
    public init() {}

    /// One form of errors, whoever finds them: the argument parser or this tool.
    public static var _errorPrefix: String { "error: " }

    /// The tool's version.
    public static let version = "0.1.0"

    /// Runs with the process's arguments, and exits when something fails.
    public static func main() async {
        await main(nil, code: MigrationCode())
    }

    /// Runs with the given arguments, and exits when something fails.
    ///
    /// - Parameter arguments: without the executable's name; nil takes the process's.
    public static func main(_ arguments: [String]?) async {
        await main(arguments, code: MigrationCode())
    }

    /// Runs with the process's arguments and a team's own code, and exits when something fails.
    ///
    /// - Parameter code: policies, the manager's class, mapping models in Swift, stages.
    public static func main(code: MigrationCode) async {
        await main(nil, code: code)
    }

    /// Runs with the given arguments and a team's own code, and exits when something fails.
    ///
    /// - Parameters:
    ///   - arguments: without the executable's name; nil takes the process's.
    ///   - code: policies, the manager's class, mapping models in Swift, stages.
    public static func main(_ arguments: [String]?, code: MigrationCode) async {
        openMissingStreams()
        ignoreFatalSignals()
        keepMemoryOutOfCrashReports()
        let arguments = arguments ?? Array(CommandLine.arguments.dropFirst())
        // Not declared to the argument parser: it would take `--version` away from `generate`.
        if arguments == ["--version"] { return show(version) }
        if let complaint = complaint(aboutCommandIn: arguments) {
            refuse(complaint, "error: \(complaint)\nSee \"causeway --help\" for the commands.", arguments)
        }
        do {
            try await RegisteredCode.$code.withValue(code) {
                var command = try await asyncParseAsRoot(arguments)
                let watch = asksForJSON(arguments) ? watch(over: command) : nil
                defer { watch?.end() }
                if var command = command as? any AsyncParsableCommand {
                    try await command.run()
                } else {
                    try command.run()
                }
            }
        } catch let status as ExitCode {
            // What failed is printed already, also where it is a wrong use of the command line.
            exit(withError: status)
        } catch {
            switch exitCode(for: error) {
            case .validationFailure: refuse(message(for: error), fullMessage(for: error), arguments)
            case .success:
                show(usageFirst(fullMessage(for: error)))
                exit(withError: ExitCode.success)
            default: exit(withError: error)
            }
        }
    }

    /// Prints help, a completion script or the version as it is, and ends the process if that can't be written.
    private static func show(_ text: String) {
        do {
            try requireWritten(StandardStream.output.write(text + "\n"))
        } catch {
            exit(withError: error)
        }
    }

    /// Ends the process because of a wrong command line.
    ///
    /// - Parameters:
    ///   - message: what is wrong.
    ///   - text: the same for a person, with the usage.
    ///   - arguments: whether they ask for JSON shows how the error is printed.
    private static func refuse(_ message: String, _ text: String, _ arguments: [String]) -> Never {
        StandardStream.error.writeLine(text)
        StandardStream.error.writeLine(nothingTouched)
        if asksForJSON(arguments) {
            FailureReport(.usage, message, remedy: remedy, outcome: nothingTouched).printJSON()
        }
        exit(withError: ExitCode.validationFailure)
    }

    /// The answer to signals of a command that prints JSON and changes no store; nil where a command has its own
    /// answer.
    private static func watch(over command: any ParsableCommand) -> SignalWatch? {
        func only(_ stores: [String]) -> String? { stores.count == 1 ? stores[0] : nil }
        let store: String?
        var outcome = "nothing was changed; run the command again"
        switch command {
        case let command as MigrateCommand where command.running.dryRun: store = only(command.arguments.stores)
        case let command as PlanCommand: store = only(command.arguments.stores)
        case let command as StatusCommand: store = command.store
        case let command as BackupsCommand: store = command.store
        case let command as InspectCommand: store = command.store
        case let command as VerifyCommand: store = command.store
        case is CompareCommand: store = nil
        case let command as ModelsCommand:
            store = nil
            if command.export.path != nil || command.checking.record {
                outcome = "the file may be written, or not; run the command again"
            }
        default: return nil
        }
        return answerSignalsInJSON(about: store, outcome: outcome)
    }

    /// Whether a command line asks for JSON.
    private static func asksForJSON(_ arguments: [String]) -> Bool {
        let options = arguments.prefix { $0 != "--" }
        return options.contains { $0 == "--json" || $0 == "--format=json" }
            || zip(options, options.dropFirst()).contains { $0 == "--format" && $1 == "json" }
    }

    /// The outcome of a wrong command line.
    private static let nothingTouched = "no store was touched; \(remedy)"
    private static let remedy = "correct the command line, then run again"

    /// The argument parser answers a mistyped command with "unexpected arguments"; this suggests the right one.
    private static func complaint(aboutCommandIn arguments: [String]) -> String? {
        // `help migrate` shows a command's help, and answers any other word with the list of commands.
        let place = arguments.first == "help" ? 1 : 0
        guard arguments.indices.contains(place), !arguments[place].hasPrefix("-") else { return nil }
        let word = arguments[place]
        let names = configuration.groupedSubcommands.flatMap(\.subcommands).map { $0._commandName } + ["help"]
        guard !names.contains(word) else { return nil }
        let hint = nearest(to: word, among: names).map { "; did you mean \"\($0)\"?" } ?? ""
        return "no command \"\(word)\"\(hint)"
    }
}
