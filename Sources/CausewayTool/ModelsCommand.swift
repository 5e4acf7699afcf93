public import ArgumentParser
import Causeway

/// `causeway models`: the versions of a model and the steps between them.
public struct ModelsCommand: ParsableCommand {
    /// Name and help.
    public static let configuration = CommandConfiguration(
        commandName: "models",
        abstract: "Lists a model's versions and says which steps can be inferred.",
        usage: """
            causeway models [<options>] <models> ...
            causeway models <models> ... --check <file> [--record] [<options>]
            """,
        discussion: helpText(
            """
            Shows every version's checksum and entities, and what every step changes in every entity and property. Where a
            lightweight migration can't infer the mapping, it shows every reason. --format markdown is for a pull request.

            With --mappings it also shows every mapping model next to the models or in their bundle: what it says, and
            which step it fits, or why it fits none. Given a mapping model instead of models, it shows that alone.

            With --export it writes a version as Xcode's source instead.

            With --check it compares the models with a record of what has shipped, and exits with 3 if a shipped version
            was edited or removed, a step can be neither inferred nor mapped, a mapping model fits nothing, or a --store
            can't be migrated to the current version. With --record it writes that record.
            """))

    @Argument(
        help: ArgumentHelp(
            """
            The model's versions: an .xcdatamodeld, .xcdatamodel, .momd or .mom, or a store for its own cache; several \
            make one history. Or a mapping model.
            """,
            valueName: "models"),
        completion: .file())
    var models: [String]

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
            With --mappings or --check: a mapping model (.xcmappingmodel or .cdm) from elsewhere; may be given several \
            times.
            """,
            valueName: "file"),
        completion: .file())
    var mappingModels: [String] = []

    @OptionGroup var export: ModelExportArguments

    @Flag(help: "Print every entity's version hash.")
    var hashes = false

    @Flag(help: "Show every change; without it, long lists are cut.")
    var all = false

    @OptionGroup var checking: ModelsCheckArguments

    @OptionGroup var output: FormatArguments<ModelsFormat>

    private static func isMappingModel(_ path: String) -> Bool {
        [".xcmappingmodel", ".cdm"].contains { path.hasSuffix($0) || path.hasSuffix($0 + "/") }
    }

    /// For the argument parser.
    public init() {}

    /// Refuses edges that contradict each other.
    public func validate() throws {
        _ = try next.edges()
        if export.path != nil, models.count != 1 || checking.file != nil {
            throw ValidationError("--export takes one model, bundle or store, and no --check.")
        }
        if export.path != nil { try output.require([.text, .json], of: "models --export") }
        if checking.file != nil, mappings || hashes || all {
            throw ValidationError(
                "--mappings, --hashes and --all are for the report; --check prints all that it finds.")
        }
        if hashes, output.chosen == .markdown {
            throw ValidationError("--format markdown has no hashes; print them as text or JSON.")
        }
        if !mappings, checking.file == nil, !mappingModels.isEmpty {
            throw ValidationError(
                "--mapping needs --mappings or --check, which compare it with the versions; give one of them.")
        }
        if checking.file == nil {
            try output.require([.text, .markdown, .json], of: "models")
        } else {
            try output.require([.text, .json, .github], of: "models --check")
        }
    }

    /// Reads and prints; exits with 78 where a version can't be read.
    public func run() throws {
        let json = output.chosen == .json
        if let path = export.path {
            let written = try reportingFailure(asJSON: json) { () throws(MigrationError) in
                try export.export(models[0], to: path)
            }
            let lines = try ModelExportArguments.lines(written, path, asJSON: json)
            return try printResult(lines, done: "\(path) is written")
        }
        if let file = checking.file { return try check(against: file) }
        if models.count == 1, Self.isMappingModel(models[0]) {
            let report = try reportingFailure(asJSON: json) { () throws(MigrationError) in
                try MappingModelReport(path: models[0])
            }
            return try printResult(
                json
                    ? [try JSONText.document(report)]
                    : report.lines.flatMap { TextLayout.output(showsAll: true).lines($0) })
        }
        let edges = try next.edges()
        let report = try reportingFailure(asJSON: json) { () throws(MigrationError) in
            mappings
                ? try ModelsReport(
                    models: models, next: edges, mappingModels: mappingModels, code: RegisteredCode.code)
                : try ModelsReport(models: models, next: edges)
        }
        switch output.chosen {
        case .json: try printResult([try JSONText.document(report)])
        case .markdown: try printResult(ModelsMarkdown(report: report).lines)
        case .text, .github:
            let text = ModelsText(report: report, showsHashes: hashes, layout: .output(showsAll: all))
            try printResult(text.lines)
        }
        if report.versions.contains(where: { $0.error != nil }) { throw ExitCode(MigrationError.Code.plan.exitCode) }
    }

    /// `--check`: exits with 3 where something is wrong.
    private func check(against file: String) throws {
        let (edges, format) = (try next.edges(), output.chosen)
        if checking.record {
            let recording = try reportingFailure(of: format) { () throws(MigrationError) in
                try ShippedModels.record(models: models, next: edges, at: file, replacing: checking.force)
            }
            try printResult(
                try ModelsCheckText.lines(recording, format),
                done: recording.problems.isEmpty ? "the record is written: \(file)" : nil)
            if !recording.problems.isEmpty { throw ExitCode(MigrationError.Code.checkFailed.exitCode) }
            return
        }
        let check = try reportingFailure(of: format) { () throws(MigrationError) in
            try ModelsCheck(
                models: models, shipped: file, next: edges, mappingModels: mappingModels, stores: checking.stores,
                code: RegisteredCode.code)
        }
        try printResult(try ModelsCheckText.lines(check, format))
        if !check.problems.isEmpty { throw ExitCode(MigrationError.Code.checkFailed.exitCode) }
    }

    /// A pull request shows a failure, too, where it shows what a check finds.
    private func reportingFailure<Value>(
        of format: ModelsFormat, _ body: () throws(MigrationError) -> Value
    ) throws -> Value {
        try reportingFailure(asJSON: format == .json) { () throws(MigrationError) in
            do throws(MigrationError) {
                return try body()
            } catch {
                if format == .github { StandardStream.output.writeLine(ModelsCheckText.annotation(error)) }
                throw error
            }
        }
    }
}
