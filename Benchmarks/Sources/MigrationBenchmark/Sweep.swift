import ArgumentParser
import Foundation

/// Whether the default flags are good ones: each flag over its range, the others as they are.
struct Sweep: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures batch sizes and numbers of workers against the defaults, on work a; prints a table.",
        discussion: """
            Every setting and the defaults take turns. The defaults should be within 5 % of the best. The flags for batches
            reach the statements only: batches of pages follow from the store.
            Numbers count only from a release build: swift run -c release MigrationBenchmark sweep.
            """)

    @Option(help: ArgumentHelp("Size of the store in GB.", valueName: "GB"))
    var size = 0.5

    @Option(help: ArgumentHelp("How often each setting works.", valueName: "number"))
    var rounds = 5

    @Option(help: ArgumentHelp("pages or statements.", valueName: "engine"))
    var engine = Contender.pages

    @Option(help: ArgumentHelp("Where the stores go while it runs.", valueName: "folder"), completion: .directory)
    var folder = NSTemporaryDirectory()

    @Option(help: ArgumentHelp("A file for the figures as JSON.", valueName: "file"), completion: .file())
    var json: String?

    /// Within which the defaults should be of the best.
    private static let tolerance = 1.05

    private static let batches =
        ["64", "512", "32768"].map { ["--batch-size", $0] }
        + [16, 18, 22, 24].map { ["--batch-bytes", String(1 << $0)] }

    private struct Figures: Encodable {
        var machine: Machine
        var engine: Contender
        var storeBytes: Int
        var settings: [Setting]
        /// The defaults' time in times of the best setting's; medians of the rounds' ratios.
        var defaultsToBest: Double
    }

    private struct Setting: Encodable {
        var flags: String
        var toDefaults: Ratio?
        var failure: String?
        var figures: Series
    }

    func validate() throws {
        guard rounds >= 1, (0.01...1_000).contains(size) else {
            throw ValidationError("--rounds must be 1 or more, --size 0.01 to 1,000.")
        }
        guard engine.engine != nil else { throw ValidationError("--engine must be pages or statements.") }
    }

    func run() async throws {
        try Machine.checkBuild()
        let scratch = try Scratch(in: folder)
        defer { scratch.remove() }
        let place = Workplace(.spread, in: scratch.folder)
        try place.generate(bytes: Int(size * 1e9))
        let settings = [[]] + (engine == .statements ? Self.batches : []) + ["1", "2", "4"].map { ["--jobs", $0] }
        let entrants = settings.map {
            Entrant(contender: engine, change: .attributes, verification: .none, flags: $0)
        }
        let results = try Rounds(place: place, entrants: entrants, count: rounds).run()
        let figures = try figures(results, place, Machine(scratch.folder))
        print(table(figures))
        if let json { try FigureFile.json(figures).write(to: URL(fileURLWithPath: json)) }
        guard figures.settings.allSatisfy({ $0.failure == nil }) else { throw ExitCode.failure }
    }

    private func figures(_ results: [Rounds.Result], _ place: Workplace, _ machine: Machine) throws -> Figures {
        let settings = results.map { result in
            Setting(
                flags: result.entrant.flags.isEmpty ? "defaults" : result.entrant.flags.joined(separator: " "),
                toDefaults: Ratio(result.series.ratios(to: results[0].series)), failure: result.failure,
                figures: result.series)
        }
        let best = settings.compactMap(\.toDefaults?.median).filter { $0 > 0 }.min() ?? 1
        return Figures(
            machine: machine, engine: engine, storeBytes: try Workplace.size(place.source), settings: settings,
            defaultsToBest: (1 / best).rounded3)
    }

    private func table(_ figures: Figures) -> String {
        var table = TextColumns(["flags", "s", "of defaults", "cpu s", "RSS MB"])
        for setting in figures.settings {
            table.add(
                [
                    setting.flags, String(format: "%.2f", setting.figures.seconds),
                    setting.toDefaults.map { String(format: "%.2f", $0.median) } ?? "–",
                    String(format: "%.2f", setting.figures.median(\.processorSeconds)),
                    setting.figures.peakMemoryBytes?.megabytes ?? "–",
                ], note: setting.failure)
        }
        let verdict = figures.defaultsToBest <= Self.tolerance ? "met" : "missed"
        return "\(table.text)\n\ndefaults against the best: \(figures.defaultsToBest) (≤ \(Self.tolerance): \(verdict))"
    }
}

extension Contender: ExpressibleByArgument {}
