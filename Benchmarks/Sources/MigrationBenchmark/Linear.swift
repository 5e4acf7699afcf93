import ArgumentParser
import Causeway
import CausewayGenerator
import Foundation

/// Whether a migration's time grows with the rows alone: every history at two sizes, ten times apart.
struct Linear: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures the time per row of every history at a number of rows and at ten times as many.",
        discussion: """
            Every history of Fixtures and of ../shared/stores is generated at its oldest version and migrated to its newest
            with default options, each in a process of its own. A history that can't be is reported, and the others go on.
            The folder needs room for two stores of the larger size; at 2,000,000 rows that is 3 to 6 GB.
            Numbers count only from a release build: swift run -c release MigrationBenchmark linear.
            """)

    @Option(help: ArgumentHelp("Rows of the smaller store; the larger has ten times as many.", valueName: "rows"))
    var rows = 200_000

    @Option(help: ArgumentHelp("How often each store is migrated; the fastest counts.", valueName: "number"))
    var rounds = 2

    @Option(help: ArgumentHelp("Only this history; may be repeated.", valueName: "name"))
    var only: [String] = []

    @Option(help: ArgumentHelp("Not this history; may be repeated.", valueName: "name"))
    var skip: [String] = []

    @Option(help: ArgumentHelp("Where the stores go while it runs.", valueName: "folder"), completion: .directory)
    var folder = NSTemporaryDirectory()

    @Option(help: ArgumentHelp("A file for the numbers as JSON.", valueName: "file"), completion: .file())
    var json: String?

    func validate() throws {
        guard rows >= 1, rounds >= 1 else { throw ValidationError("--rows and --rounds must be 1 or more.") }
        let names = Set(History.all.map(\.name))
        for name in only + skip where !names.contains(name) {
            throw ValidationError("There is no history “\(name)”; there are \(names.sorted().joined(separator: ", ")).")
        }
    }

    func run() async throws {
        try Machine.checkBuild()
        let scratch = try Scratch(in: folder)
        defer { scratch.remove() }
        var lines: [LinearReport.Line] = []
        for history in History.all where (only.isEmpty || only.contains(history.name)) && !skip.contains(history.name) {
            let line = measure(history, in: scratch.folder)
            // At once: a run that is ended early has shown what it found.
            print(line.text)
            lines.append(line)
        }
        let report = LinearReport(rows: rows, lines: lines)
        print(report.table)
        if let json { try FigureFile.json(report).write(to: URL(fileURLWithPath: json)) }
    }

    private func measure(_ history: History, in scratch: URL) -> LinearReport.Line {
        var line = LinearReport.Line(history: history.name, note: history.note)
        guard FileManager.default.fileExists(atPath: history.models) else {
            line.failure = "\(history.models) is missing"
            return line
        }
        do {
            for size in [rows, rows * 10] { line.sizes.append(try measure(history, rows: size, in: scratch)) }
        } catch {
            line.failure = "\(error)"
        }
        return line
    }

    private func measure(_ history: History, rows: Int, in scratch: URL) throws -> LinearReport.Size {
        let files = FileManager.default
        let folder = scratch.appendingPathComponent("\(history.name)-\(rows)")
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? files.removeItem(at: folder) }
        let source = folder.appendingPathComponent("source.sqlite").path
        say("\(history.name): \(rows) rows")
        let made = try Programs().runSelf(["linear-generate", history.name, source, String(rows)])
        let bytes = try files.attributesOfItem(atPath: source)[.size] as? Int ?? 0
        var best: Outcome?
        for round in 0..<rounds {
            let result = folder.appendingPathComponent("result-\(round).sqlite").path
            let outcome = try Measuring(folder: folder).outcome { programs in
                try programs.runSelf(["linear-once", history.name, source, result])
            }
            for name in try files.contentsOfDirectory(atPath: folder.path) where name.contains("result-\(round)") {
                try files.removeItem(at: folder.appendingPathComponent(name))
            }
            if outcome.seconds < best?.seconds ?? .infinity { best = outcome }
        }
        guard let best else { throw BenchmarkError("nothing was measured") }
        return LinearReport.Size(rows: made.rows ?? rows, storeBytes: bytes, outcome: best)
    }
}

/// Generates the oldest version's store, for `Linear`.
struct LinearGenerate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(shouldDisplay: false)

    @Argument var history: String
    @Argument var store: String
    @Argument var rows: Int

    func run() async throws {
        let history = try History.named(history)
        var generation = StoreGeneration(model: history.origin ?? history.models, output: store, rows: rows, seed: 1)
        if history.origin == nil { generation.version = try history.ends().from }
        let counts = try generation.run()
        if let fill = history.fill { try Database(store).execute(fill) }
        try MigrationAccount(rows: counts.values.reduce(0, +)).printed()
    }
}

/// Migrates with default options, for `Linear`.
struct LinearOnce: AsyncParsableCommand {
    static let configuration = CommandConfiguration(shouldDisplay: false)

    @Argument var history: String
    @Argument var source: String
    @Argument var result: String

    func run() async throws {
        let history = try History.named(history)
        var options = MigrationOptions()
        options.output = result
        if history.origin == nil { options.target = try history.ends().to }
        let migrator = Migrator(
            store: source, models: history.models, options: options, code: try history.code())
        try await MigrationAccount(running: migrator).printed()
    }
}

extension History {
    static func named(_ name: String) throws -> History {
        guard let history = all.first(where: { $0.name == name }) else {
            throw BenchmarkError("there is no history “\(name)”")
        }
        return history
    }

    /// The oldest version that can be read and the newest, unless the history says otherwise.
    func ends() throws -> (from: String?, to: String?) {
        guard from == nil || to == nil else { return (from, to) }
        let names = try ModelsReport(models: models).versions.map(\.name)
        return (from ?? names.first, to ?? names.last)
    }
}
