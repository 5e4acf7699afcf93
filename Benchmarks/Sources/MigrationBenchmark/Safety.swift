import ArgumentParser
import Causeway
import CausewayGenerator
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

    @Option(help: ArgumentHelp("Rows of the store.", valueName: "rows"))
    var rows = 2_000_000

    @Option(help: ArgumentHelp("How often each kind of work runs.", valueName: "number"))
    var rounds = 3

    @Option(help: ArgumentHelp("Where the stores go while it runs.", valueName: "folder"), completion: .directory)
    var folder = NSTemporaryDirectory()

    @Flag(help: "Leave out the levels of verification.")
    var checkpointsOnly = false

    private var work: [Work] {
        [.migrateUnsaved, .migrate] + (checkpointsOnly ? [] : [.migrateUnverified, .migrateVerified])
    }

    private struct Figures: Encodable {
        var rows: Int
        var storeBytes: Int
        var timeRatioToRunWithoutCheckpoints: Ratio?
        /// The same of what the processors did.
        var processorRatioToRunWithoutCheckpoints: Ratio?
        /// To the run with the default verification.
        var timeRatioOfVerifyNone: Ratio?
        var timeRatioOfVerifyFull: Ratio?
        var runs: [String: Report.Series]
    }

    /// Of the rounds' own ratios.
    private struct Ratio: Encodable {
        let median: Double
        let mean: Double
        let standardError: Double

        /// nil where one of the two wasn't run.
        init?(_ ratios: [Double]) {
            guard !ratios.isEmpty else { return nil }
            (median, mean) = (ratios.median.rounded3, ratios.mean.rounded3)
            standardError = ratios.standardError.rounded3
        }
    }

    func validate() throws {
        #if !CAUSEWAY_HARNESS
            throw ValidationError("This needs a build with -Xswiftc -DCAUSEWAY_HARNESS.")
        #endif
    }

    func run() async throws {
        let scratch = URL(fileURLWithPath: folder).appendingPathComponent("causeway-benchmark-\(getpid())")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let files = Files(scratch)
        var generation = StoreGeneration(model: Newsroom.models, output: files.source, rows: rows, seed: 1)
        generation.version = Newsroom.source
        _ = try generation.run()
        var results: [Work: [Outcome]] = [:]
        for round in 1...rounds {
            // There and back: a disk or a machine that gets slower meanwhile counts for both.
            for kind in round % 2 == 1 ? work : work.reversed() {
                // What the run before has left in the system's cache is no work of this one.
                sync()
                let outcome = try ChildProcess.run(kind.arguments(files, jobs: nil), environment: kind.environment)
                let line = "round \(round) of \(rounds): \(kind.rawValue) \(outcome.seconds.rounded3) s"
                let processor = (outcome.processorSeconds ?? 0).rounded3
                FileHandle.standardError.write(Data("\(line), \(processor) s of the processors\n".utf8))
                results[kind, default: []].append(outcome)
                try files.clearResults()
            }
        }
        let figures = Figures(
            rows: rows, storeBytes: try files.sourceBytes(),
            timeRatioToRunWithoutCheckpoints: Self.ratio(results, .migrate, to: .migrateUnsaved),
            processorRatioToRunWithoutCheckpoints: Self.ratio(results, .migrate, to: .migrateUnsaved) {
                $0.processorSeconds ?? 0
            },
            timeRatioOfVerifyNone: Self.ratio(results, .migrateUnverified, to: .migrate),
            timeRatioOfVerifyFull: Self.ratio(results, .migrateVerified, to: .migrate),
            runs: Dictionary(
                uniqueKeysWithValues: results.map { ($0.key.rawValue, Report.Series($0.value)) }))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        print(String(decoding: try encoder.encode(figures), as: UTF8.self))
    }

    private static func ratio(
        _ results: [Work: [Outcome]], _ kind: Work, to other: Work, of value: (Outcome) -> Double = \.seconds
    ) -> Ratio? {
        Ratio(zip(results[kind] ?? [], results[other] ?? []).map { value($0) / value($1) })
    }
}

/// `MigrationOptions.verification` on the command line.
enum VerificationChoice: String, ExpressibleByArgument {
    case none, quick, full
}
