public import ArgumentParser
import Causeway

/// `causeway models`: the versions of a model and the steps between them.
public struct ModelsCommand: ParsableCommand {
    /// Name and help.
    public static let configuration = CommandConfiguration(
        commandName: "models",
        abstract: "Lists a model's versions and says which steps can be inferred.",
        discussion: helpText(
            """
            For every version its checksum and entities, for every step what changes and, where the mapping can't be
            inferred as in a lightweight migration, every reason.
            """))

    @Argument(
        help: "The model's versions: an .xcdatamodeld, .xcdatamodel, .momd or .mom, or a store for its own cache.",
        completion: .file())
    var models: String

    @Option(
        help: ArgumentHelp(
            "Version B follows version A, where it isn't the neighbour; may be given several times.", valueName: "A=B"))
    var next: [VersionEdge] = []

    @Flag(help: "Print every entity's version hash.")
    var hashes = false

    @Flag(help: "Print JSON, which always holds the hashes.")
    var json = false

    /// Made by the argument parser.
    public init() {}

    /// Refuses contradicting edges.
    public func validate() throws {
        _ = try next.edges()
    }

    /// Reads and prints.
    public func run() throws {
        let edges = try next.edges()
        let report = try reportingFailure(asJSON: json) { () throws(MigrationError) in
            try ModelsReport(models: models, next: edges)
        }
        try printResult(
            json ? [try JSONText.document(report)] : ModelsText(report: report, showsHashes: hashes).lines)
    }
}
