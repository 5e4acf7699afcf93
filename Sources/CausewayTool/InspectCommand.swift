public import ArgumentParser
import Causeway

/// `causeway inspect`: what a store is and holds.
public struct InspectCommand: ParsableCommand {
    /// Name and help.
    public static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Shows what a store is and what it holds.",
        discussion: helpText(
            """
            Version, identity, entities with their rows, and what a migration must take care of. The store's bytes stay
            as they are, and no row's content is shown; of an app's own metadata only the keys are.
            """))

    @Argument(help: "The store's main file.", completion: .file())
    var store: String

    @Option(
        help: ArgumentHelp(
            "The model's versions, to tell the store's version by; without them the store's own cache is asked.",
            valueName: "models"),
        completion: .file())
    var models: String?

    @Flag(help: "Print JSON.")
    var json = false

    /// Made by the argument parser.
    public init() {}

    /// Inspects and prints.
    public func run() throws {
        let inspection = try reportingFailure(asJSON: json, aboutStore: true) { () throws(MigrationError) in
            try StoreInspection(store: store, models: models)
        }
        try printResult(json ? [try JSONText.document(inspection)] : InspectionText(inspection: inspection).lines)
    }
}
