public import ArgumentParser
import Causeway
import CausewayPlatform

/// `causeway export`: what a store holds, for other programs.
public struct ExportCommand: ParsableCommand {
    /// Name and help.
    public static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes what a store holds as JSON lines, CSV or an SQLite database.",
        usage: "causeway export <store> --output <path> [<options>]",
        discussion: helpText(
            """
            JSON lines (jsonl) and CSV make a folder with a file for each entity, named as in the model; sqlite makes
            one file with readable names and foreign keys. Objects and links are URIs (x-coredata://…), dates ISO 8601,
            binary values base64. Files of external storage are copied to the folder external. The output must not
            exist yet; it gets its name when it is complete. The store isn't changed.

            With --salvage, what SQLite can't read any more is looked for in all pages; the report says per entity how
            many rows were read, and per table how many were broken and on which pages.

            Try:
              causeway export Library.sqlite --output Library
              causeway export Library.sqlite --output Library --as csv
              causeway export Library.sqlite --output - --entity Book --where 'year > 2000'
            """))

    @Argument(help: "The store's main file.", completion: .file())
    var store: String

    @Option(
        help: ArgumentHelp(
            """
            The folder to write, or with --as sqlite the file; - writes the JSON lines of one entity to standard output.
            """,
            valueName: "path"),
        completion: .file())
    var output: String

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("How to write: jsonl, csv or sqlite.", valueName: "format"))
    var form = ExportFormat.jsonl

    @Option(
        help: ArgumentHelp(
            """
            The model's versions, to find the store's version; may be given several times. (default: the store's own \
            model cache)
            """,
            valueName: "models"),
        completion: .file())
    var models: [String] = []

    @Option(
        help: ArgumentHelp("Export this entity and its subentities only; can be repeated.", valueName: "name"))
    var entity: [String] = []

    @Option(
        name: .customLong("where"), parsing: .unconditional,
        help: ArgumentHelp(
            "Export the objects for which a predicate holds, for example 'year > 2000'.", valueName: "predicate"))
    var predicate: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Export at most this many objects of each entity.", valueName: "number"))
    var limit: Int?

    @Flag(
        help: """
            Read a damaged store page by page, without SQLite: rows that are whole, deleted ones apart. Nobody may use \
            the store meanwhile.
            """)
    var salvage = false

    @Flag(help: "Print the summary as JSON, and events of progress as JSON lines on standard error.")
    var json = false

    /// For the argument parser.
    public init() {}

    /// Refuses values that make no sense.
    public func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit can't be negative.") }
        if output.isEmpty { throw ValidationError("--output can't be empty.") }
        if salvage, form == .sqlite || output == "-" {
            throw ValidationError("--salvage writes a folder of JSON lines or CSV.")
        }
        if salvage, predicate != nil || limit != nil {
            throw ValidationError("--salvage takes neither --where nor --limit.")
        }
    }

    /// Exports, and says what was written.
    public func run() throws {
        var export = StoreExport(store: store, output: output, format: form)
        export.models = models
        export.entities = entity
        export.predicate = predicate
        export.limit = limit
        guard !salvage else { return try rescue(export) }
        let summary = try interruptible(export)
        let text = ExportText(summary: summary)
        // Standard output has the rows then.
        guard output != "-" else {
            for line in text.warnings { StandardStream.error.writeLine(line) }
            return
        }
        try printResult(
            json ? [try JSONText.document(summary)] : text.lines, done: "\(summary.output) is written, and complete")
    }

    /// Salvages, and says what was read and what wasn't.
    private func rescue(_ export: StoreExport) throws {
        let stop = Cancellation()
        let watch = SignalWatch(ending: "ended at once: remove .*.export-* beside the output") { stop.cancel() }
        defer { watch.end() }
        let line = ActivityLine(asJSON: json, store: store)
        line.update("the store's model")
        let summary: SalvageSummary
        do throws(MigrationError) {
            defer { line.finish() }
            summary = try export.salvage { now in
                line.update("\(now.entity), \(Figures.count(now.rows, "page", "pages"))", fraction: now.fraction)
                return !stop.isCancelled
            }
        } catch {
            throw FailureReport(error, code: watch.code(of: error)).print(
                asJSON: json, aboutStore: true, header: EventHeader(store: store))
        }
        try printResult(
            json ? [try JSONText.document(summary)] : SalvageText(summary: summary).lines,
            done: "\(summary.output) is written, and complete")
    }

    /// Exports until done, or until a signal stops it and nothing is kept.
    private func interruptible(_ export: StoreExport) throws -> ExportSummary {
        let stop = Cancellation()
        let watch = SignalWatch(ending: "ended at once: remove .*.export-* beside the output") { stop.cancel() }
        defer { watch.end() }
        let line = ActivityLine(asJSON: json, store: store)
        line.update("the store's model")
        var failure: Int32?
        let summary: ExportSummary
        do throws(MigrationError) {
            defer { line.finish() }
            summary = try export.run(
                stream: { bytes in
                    switch StandardStream.output.write(String(decoding: bytes, as: UTF8.self)) {
                    case .written: return true
                    case .readerGone: return false
                    case .failed(let number):
                        failure = number
                        return false
                    }
                },
                progress: { now in
                    line.update(now.activity, fraction: now.fraction)
                    return !stop.isCancelled
                })
        } catch {
            throw FailureReport(error, code: watch.code(of: error)).print(
                asJSON: json, aboutStore: true, header: EventHeader(store: store))
        }
        if let failure { try requireWritten(.failed(failure)) }
        return summary
    }
}

/// An export's summary as a person reads it.
struct ExportText {
    let summary: ExportSummary

    var warnings: [String] { summary.warnings.map { "warning: \($0)" } }

    var lines: [String] {
        var table = TextTable([("ENTITY", .leading), ("ROWS", .trailing), ("IN", .leading)])
        for entity in summary.entities { table.add(entity.name, Figures.grouped(entity.rows), entity.place ?? "") }
        var head =
            "\(summary.output.onOneLine): \(Figures.count(summary.rowCount, "row", "rows")) of "
            + Figures.count(summary.entities.count, "entity", "entities")
        if summary.externalFiles > 0 {
            head += ", " + Figures.count(summary.externalFiles, "external file", "external files")
        }
        return [head] + (table.isEmpty ? [] : table.lines) + warnings
    }
}

extension ExportProgress {
    /// `Post, 1,234 rows`
    fileprivate var activity: String {
        entity.isEmpty ? "counting rows" : "\(entity), \(Figures.count(rows, "row", "rows"))"
    }

    /// nil where the number of rows isn't known.
    fileprivate var fraction: Double? { total > 0 ? Double(rows) / Double(total) : nil }
}
