public import ArgumentParser
import Causeway

/// `causeway inspect`: what a store is and holds.
public struct InspectCommand: ParsableCommand {
    /// Name and help.
    public static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Shows what a store is and what it holds.",
        usage: "causeway inspect [<options>] <store>",
        discussion: helpText(
            """
            Shows version, identity, entities with their row counts, attributes with their types, relationships, and what
            a migration must handle. It doesn't change the store and shows no row content; of an app's own metadata it
            shows the keys only. Long lists are cut at 40 lines; --all shows them whole.
            """))

    @Argument(help: "The store's main file.", completion: .file())
    var store: String

    @Option(
        help: ArgumentHelp(
            """
            The model's versions, to name the store's version; may be given several times. (default: the store's own \
            model cache)
            """,
            valueName: "models"),
        completion: .file())
    var models: [String] = []

    @Flag(help: "Show the size of every table and index, too; reads the whole file.")
    var sizes = false

    @Flag(help: "Show everything: long lists whole, and --sizes.")
    var all = false

    @OptionGroup var output: FormatArguments<ListFormat>

    /// For the argument parser.
    public init() {}

    /// Inspects and prints.
    public func run() throws {
        let json = output.chosen == .json
        let inspection = try reportingFailure(asJSON: json, aboutStore: true, store: store) {
            () throws(MigrationError) in
            try StoreInspection(store: store, models: models, readsSizes: sizes || all)
        }
        let text = InspectionText(inspection: inspection, layout: .output(showsAll: all))
        try printResult(json ? [try JSONText.document(inspection)] : text.lines)
    }
}
