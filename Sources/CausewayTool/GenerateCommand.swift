public import ArgumentParser
import CausewayGenerator

/// `causeway generate`: a store with made-up rows, for tests and measurements.
public struct GenerateCommand: ParsableCommand {
    /// Name and help.
    public static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Writes a store with made-up rows for a model.",
        usage: "causeway generate [<options>] <model> <store> --rows <rows> --seed <seed>",
        discussion: helpText(
            """
            For tests, fixtures and measurements. Model, version, rows, seed and framework version determine every byte,
            so the same call gives the same store. Ctrl-C stops it and removes the partial store.
            """))

    @Argument(
        help: "The model: an .xcdatamodeld, .xcdatamodel, .momd or .mom, or a store for its own cache.",
        completion: .file())
    var model: String

    @Argument(
        help: ArgumentHelp("The store to write. It must not exist yet.", valueName: "store"), completion: .file())
    var output: String

    @Option(help: ArgumentHelp("Rows of all entities in total.", valueName: "rows"))
    var rows: Int

    @Option(help: ArgumentHelp("Seed of the made-up values.", valueName: "seed"))
    var seed: UInt64

    @Option(
        name: .customLong("version"),
        help: ArgumentHelp(
            "The model's version: its name, its version identifier or its checksum. (default: the current one)",
            valueName: "version"))
    var modelVersion: String?

    @Option(help: ArgumentHelp("The NSPersistenceFrameworkVersion of the store's layout.", valueName: "number"))
    var frameworkVersion = StoreGeneration.defaultFrameworkVersion

    @Option(
        help: ArgumentHelp(
            "A store that Core Data wrote for the version; it settles names that a model leaves open.",
            valueName: "store"),
        completion: .file())
    var schemaTemplate: String?

    @Flag(help: "Print JSON, and events of progress as JSON lines on standard error.")
    var json = false

    /// For the argument parser.
    public init() {}

    /// Refuses values that make no sense.
    public func validate() throws {
        guard rows >= 0 else { throw ValidationError("--rows can't be negative.") }
        guard frameworkVersion >= 1 else {
            throw ValidationError("--framework-version must be a positive number, for example 1145.")
        }
    }

    /// Writes the store and says how many rows it has.
    public func run() throws {
        var generation = StoreGeneration(model: model, output: output, rows: rows, seed: seed)
        generation.version = modelVersion
        generation.frameworkVersion = frameworkVersion
        generation.schemaTemplate = schemaTemplate
        let counts = try interruptible(generation)
        if json {
            let report = GenerationReport(
                store: output, rows: counts.values.reduce(0, +), wantedRows: rows, entities: counts)
            return try printResult([try JSONText.document(report)], done: "the store is written: \(output)")
        }
        var table = TextTable([("ENTITY", .leading), ("ROWS", .trailing)])
        for (entity, count) in counts.sorted(by: { $0.key < $1.key }) { table.add(entity, Figures.grouped(count)) }
        let total = counts.values.reduce(0, +)
        var lines = ["\(output): \(Figures.count(total, "row", "rows"))"]
        if total < rows {
            lines.append(
                "of \(Figures.grouped(rows)) asked for: the model's uniqueness constraints and mandatory "
                    + "relationships allow no more")
        }
        try printResult(lines + (table.isEmpty ? [] : table.lines(width: TextLayout.output(showsAll: true).width)))
    }

    /// Generates until done, or until a signal stops it and the partial store is removed.
    private func interruptible(_ generation: StoreGeneration) throws -> [String: Int] {
        let stop = Cancellation()
        let watch = SignalWatch(ending: "ended at once: remove the rest of \(output)") { stop.cancel() }
        defer { watch.end() }
        let (line, wanted) = (ActivityLine(asJSON: json, store: output), rows)
        defer { line.finish() }
        line.update("the model")
        do throws(MigrationError) {
            return try generation.run { written in
                line.update("writing rows", fraction: wanted > 0 ? Double(written) / Double(wanted) : nil)
                return !stop.isCancelled
            }
        } catch {
            throw FailureReport(error, code: watch.code(of: error)).withoutStore().print(
                asJSON: json, aboutStore: false, header: EventHeader(store: output))
        }
    }
}
