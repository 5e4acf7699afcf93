public import ArgumentParser
import Causeway

/// `causeway compare`: how two stores differ.
public struct CompareCommand: ParsableCommand {
    /// Name and help.
    public static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Shows how two stores differ, entity by entity.",
        usage: "causeway compare [<options>] <first> <second>",
        discussion: helpText(
            """
            Rows are matched by entity and primary key: those that only one store has, attributes and links that differ,
            with counts and the first keys. Values are compared as they are stored (storage class and bits), external
            data by content, entities by name, whatever their numbers are. Persistent history and the app's own tables
            are compared as a whole. Neither store changes, and no row content is shown.

            --modulo-keys matches rows by what they hold and by what they are linked to, for stores whose keys were given
            anew. It sorts digests in a temporary file in TMPDIR.

            With --json, events of progress are JSON lines on standard error. Equal stores exit with 0, different ones
            with 1.
            """))

    @Argument(help: "The first store's main file, A.", completion: .file())
    var first: String

    @Argument(help: "The second store's main file, B.", completion: .file())
    var second: String

    @Option(
        help: ArgumentHelp(
            """
            The versions of both stores; may be given several times. (default: each store's own model cache)
            """,
            valueName: "models"),
        completion: .file())
    var models: [String] = []

    @Flag(help: "Match rows by content and links instead of by primary key.")
    var moduloKeys = false

    @OptionGroup var output: FormatArguments<ReportFormat>

    /// For the argument parser.
    public init() {}

    /// Compares and prints; exits with 1 where the stores differ.
    public func run() throws {
        let isJSON = output.chosen == .json
        let line = ActivityLine(asJSON: isJSON, store: nil)
        let comparison = try reportingFailure(asJSON: isJSON) { () throws(MigrationError) in
            defer { line.finish() }
            return try StoreComparison(first, second, models: models, isModuloKeys: moduloKeys) { now in
                line.update(now.activity, fraction: now.fraction)
            }
        }
        let text = ComparisonText(comparison: comparison)
        switch output.chosen {
        case .json: try printResult([try JSONText.document(comparison)])
        case .markdown: try printResult(text.markdown)
        case .text: try printResult(text.lines)
        }
        if !comparison.isEqual { throw ExitCode(MigrationError.Code.different.exitCode) }
    }
}
