public import ArgumentParser
import Causeway

/// `causeway models`: the versions of a model and the steps between them.
public struct ModelsCommand: ParsableCommand {
    /// Name and help.
    public static let configuration = CommandConfiguration(
        commandName: "models",
        abstract: "Lists a model's versions and says which steps can be inferred.",
        usage: "causeway models [<options>] <models>",
        discussion: helpText(
            """
            Shows every version's checksum and entities, and what changes in every step. Where a lightweight migration
            can't infer the mapping, it shows every reason.

            With --mappings it also shows every mapping model next to the models or in their bundle: what it says, and
            which step it fits, or why it fits none. Given a mapping model instead of models, it shows that alone.
            """))

    @Argument(
        help: ArgumentHelp(
            """
            The model's versions: an .xcdatamodeld, .xcdatamodel, .momd or .mom, or a store for its own cache; or a \
            mapping model.
            """,
            valueName: "models"),
        completion: .file())
    var models: String

    @Option(
        help: ArgumentHelp(
            "Version B follows A, though it isn't next in order; may be given several times.",
            valueName: "A=B"))
    var next: [VersionEdge] = []

    @Flag(help: "Show every mapping model next to the models, and the step that it fits.")
    var mappings = false

    @Option(
        name: .customLong("mapping"),
        help: ArgumentHelp(
            """
            With --mappings: a mapping model (.xcmappingmodel or .cdm) from elsewhere; may be given several times.
            """,
            valueName: "file"),
        completion: .file())
    var mappingModels: [String] = []

    @Flag(help: "Print every entity's version hash.")
    var hashes = false

    @Flag(help: "Print JSON, which always holds the hashes.")
    var json = false

    private static let mappingExtensions = [".xcmappingmodel", ".cdm"]

    /// For the argument parser.
    public init() {}

    /// Refuses edges that contradict each other.
    public func validate() throws {
        _ = try next.edges()
        if !mappings, !mappingModels.isEmpty {
            throw ValidationError("--mapping needs --mappings, which compares it with the versions; give both.")
        }
    }

    /// Reads and prints; exits with 78 where a version can't be read.
    public func run() throws {
        if Self.mappingExtensions.contains(where: { models.hasSuffix($0) || models.hasSuffix($0 + "/") }) {
            let report = try reportingFailure(asJSON: json) { () throws(MigrationError) in
                try MappingModelReport(path: models)
            }
            return try printResult(json ? [try JSONText.document(report)] : report.lines)
        }
        let edges = try next.edges()
        let report = try reportingFailure(asJSON: json) { () throws(MigrationError) in
            mappings
                ? try ModelsReport(
                    models: models, next: edges, mappingModels: mappingModels, code: RegisteredCode.code)
                : try ModelsReport(models: models, next: edges)
        }
        try printResult(
            json ? [try JSONText.document(report)] : ModelsText(report: report, showsHashes: hashes).lines)
        if report.versions.contains(where: { $0.error != nil }) { throw ExitCode(MigrationError.Code.plan.exitCode) }
    }
}
