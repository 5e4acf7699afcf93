import ArgumentParser
import Foundation

/// What safety costs: the same migration as it is, without checkpoints and fsyncs, and with more or less verification,
/// taking turns.
struct Safety: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures what checkpoints and verification cost, and prints JSON on standard output.",
        discussion: """
            The run without checkpoints is there in harness builds alone:
            swift run -c release -Xswiftc -DCAUSEWAY_HARNESS MigrationBenchmark safety.
            """)

    @Option(help: ArgumentHelp("Size of the store in GB.", valueName: "GB"))
    var size = 2.0

    @Option(help: ArgumentHelp("How often each kind of work runs.", valueName: "number"))
    var rounds = 3

    @Option(help: ArgumentHelp("pages or statements.", valueName: "engine"))
    var engine = Contender.pages

    @Option(help: ArgumentHelp("Where the stores go while it runs.", valueName: "folder"), completion: .directory)
    var folder = NSTemporaryDirectory()

    @Flag(help: "Leave out the levels of verification.")
    var checkpointsOnly = false

    private struct Figures: Encodable {
        var machine: Machine
        var engine: Contender
        var storeBytes: Int
        var timeRatioToRunWithoutCheckpoints: Ratio?
        /// The same of what the processors did.
        var processorRatioToRunWithoutCheckpoints: Ratio?
        /// To the run with the default verification.
        var timeRatioOfVerifyNone: Ratio?
        var timeRatioOfVerifyFull: Ratio?
        var runs: [String: Series]
    }

    func validate() throws {
        guard engine.engine != nil else { throw ValidationError("--engine must be pages or statements.") }
        #if !CAUSEWAY_HARNESS
            throw ValidationError("This needs a build with -Xswiftc -DCAUSEWAY_HARNESS.")
        #endif
    }

    func run() async throws {
        try Machine.checkBuild()
        let scratch = try Scratch(in: folder)
        defer { scratch.remove() }
        let place = Workplace(.spread, in: scratch.folder)
        try place.generate(bytes: Int(size * 1e9))
        let migration = Entrant(contender: engine, change: .attributes)
        var unsaved = migration
        unsaved.environment = ["CAUSEWAY_HARNESS": "1", "CAUSEWAY_WITHOUT_CHECKPOINTS": "1"]
        let levels = [VerificationChoice.none, .full].map { level in
            var entrant = migration
            entrant.verification = level
            return entrant
        }
        let results = try Rounds(
            place: place, entrants: [unsaved, migration] + (checkpointsOnly ? [] : levels), count: rounds
        ).run()
        if let failure = results.compactMap(\.failure).first { throw BenchmarkError(failure) }
        let series = results.map(\.series)
        let ratio = { (run: Int, base: Int) in
            series.indices.contains(run) ? Ratio(series[run].ratios(to: series[base])) : nil
        }
        let figures = Figures(
            machine: Machine(scratch.folder), engine: engine, storeBytes: try Workplace.size(place.source),
            timeRatioToRunWithoutCheckpoints: ratio(1, 0),
            processorRatioToRunWithoutCheckpoints: Ratio(series[1].ratios(to: series[0], of: \.processorSeconds)),
            timeRatioOfVerifyNone: ratio(2, 1), timeRatioOfVerifyFull: ratio(3, 1),
            runs: Dictionary(uniqueKeysWithValues: results.map { ($0.entrant.label, $0.series) }))
        try FigureFile.print(figures)
    }
}
