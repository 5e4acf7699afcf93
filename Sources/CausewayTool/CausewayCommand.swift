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
            CommandGroup(name: "Backups", subcommands: [RollbackCommand.self, PurgeBackupCommand.self]),
            CommandGroup(
                name: "Examination", subcommands: [InspectCommand.self, VerifyCommand.self, ModelsCommand.self]),
            CommandGroup(name: "Test data", subcommands: [GenerateCommand.self]),
        ])

    /// For the argument parser.
    public init() {}

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
        ignoreFatalSignals()
        keepMemoryOutOfCrashReports()
        let arguments = arguments ?? Array(CommandLine.arguments.dropFirst())
        // Not declared to the argument parser: it would take `--version` away from `generate`.
        if arguments == ["--version"] {
            StandardStream.output.writeLine(version)
            return
        }
        if let complaint = complaint(aboutCommandIn: arguments) {
            StandardStream.error.writeLine(complaint)
            StandardStream.error.writeLine(Self.nothingTouched)
            exit(withError: ExitCode.validationFailure)
        }
        do {
            try await RegisteredCode.$code.withValue(code) {
                var command = try await asyncParseAsRoot(arguments)
                if var command = command as? any AsyncParsableCommand {
                    try await command.run()
                } else {
                    try command.run()
                }
            }
        } catch {
            if exitCode(for: error) == .validationFailure {
                StandardStream.error.writeLine(fullMessage(for: error))
                StandardStream.error.writeLine(Self.nothingTouched)
                exit(withError: ExitCode.validationFailure)
            }
            exit(withError: error)
        }
    }

    /// The outcome of a wrong command line.
    private static let nothingTouched = "no store was touched; correct the command line, then run again"

    /// The argument parser answers a mistyped command with "unexpected arguments"; this suggests the right one.
    private static func complaint(aboutCommandIn arguments: [String]) -> String? {
        // `help migrate` shows a command's help, and answers any other word with the list of commands.
        let place = arguments.first == "help" ? 1 : 0
        guard arguments.indices.contains(place), !arguments[place].hasPrefix("-") else { return nil }
        let word = arguments[place]
        let names = configuration.groupedSubcommands.flatMap(\.subcommands).map { $0._commandName } + ["help"]
        guard !names.contains(word) else { return nil }
        let hint = nearest(to: word, among: names).map { "; did you mean \"\($0)\"?" } ?? ""
        return """
            error: no command "\(word)"\(hint)
            See "causeway --help" for the commands.
            """
    }
}
