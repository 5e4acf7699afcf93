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
            Shows version, identity, entities with their row counts, and what a migration must handle. It doesn't change
            the store and shows no row content; of an app's own metadata it shows the keys only.
            """))

    @Argument(help: "The store's main file.", completion: .file())
    var store: String

    @Option(
        help: ArgumentHelp(
            "The model's versions, to name the store's version. (default: the store's own model cache)",
            valueName: "models"),
        completion: .file())
    var models: String?

    @Flag(help: "Print JSON.")
    var json = false

    /// For the argument parser.
    public init() {}

    /// Inspects and prints.
    public func run() throws {
        let inspection = try reportingFailure(asJSON: json, aboutStore: true) { () throws(MigrationError) in
            try StoreInspection(store: store, models: models)
        }
        try printResult(json ? [try JSONText.document(inspection)] : InspectionText(inspection: inspection).lines)
    }
}
