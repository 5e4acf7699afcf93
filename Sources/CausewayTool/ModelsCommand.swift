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
            For every version its checksum and entities, for every step what changes and, where the mapping can't be
            inferred as in a lightweight migration, every reason.

            With --mappings also every mapping model that lies beside the models or in their bundle: what it says, and
            which step it fits, or why it fits none. A mapping model in the models' place is shown by itself.
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
            "Version B follows version A, where it isn't the neighbour; may be given several times.", valueName: "A=B"))
    var next: [VersionEdge] = []

    @Flag(help: "Show every mapping model beside the models, and the step that it fits.")
    var mappings = false

    @Option(
        name: .customLong("mapping"),
        help: ArgumentHelp(
            """
            With --mappings: a mapping model (.xcmappingmodel or .cdm) that lies elsewhere; may be given several times.
            """,
            valueName: "file"),
        completion: .file())
    var mappingModels: [String] = []

    @Flag(help: "Print every entity's version hash.")
    var hashes = false

    @Flag(help: "Print JSON, which always holds the hashes.")
    var json = false

    private static let mappingExtensions = [".xcmappingmodel", ".cdm"]

    /// Made by the argument parser.
    public init() {}

    /// Refuses contradicting edges.
    public func validate() throws {
        _ = try next.edges()
        if !mappings, !mappingModels.isEmpty {
            throw ValidationError("--mapping is compared with the versions by --mappings; give both.")
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
