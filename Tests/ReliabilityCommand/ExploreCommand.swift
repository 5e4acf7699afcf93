import ArgumentParser
import CausewayPreparation
import CausewayReliabilityKit

/// `reliability explore`: explores one subject, or one state of it, which is given as in the explorer's failures.
struct ExploreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explore", abstract: "Explores the crashes of one subject, or replays one state.")

    @Option(help: ArgumentHelp("inferred, split, staged or merged.", valueName: "chain"))
    var subject: String

    @Option(help: ArgumentHelp("statements or pages.", valueName: "name"))
    var engine = "statements"

    @Option(help: ArgumentHelp("clean, unmergedWAL or hotJournal. (default: the chain's)", valueName: "state"))
    var source: String?

    @Option(help: ArgumentHelp("Replay this state only.", valueName: "K:label"))
    var state: String?

    @Flag(help: "A rename between folders is two changes.")
    var nonatomic = false

    @Flag(help: "Only where pages are written.")
    var pages = false

    @Flag(help: "The swap only, every subset of what isn't durable.")
    var swap = false

    @Option(help: ArgumentHelp("The command has this break of the protocol.", valueName: "name"))
    var mutant: String?

    @Option(help: ArgumentHelp("A call of the traced run fails.", valueName: "mode:N"))
    var fault: String?

    @Option(help: ArgumentHelp("Between two checkpoints of the command.", valueName: "seconds"))
    var interval = 0.0

    @Option(help: ArgumentHelp("What the store's rows follow from.", valueName: "number"))
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("States at most.", valueName: "number"))
    var budget: Int?

    @Option(help: ArgumentHelp("Threads.", valueName: "number"))
    var jobs = 1

    func run() throws {
        guard let chain = Subject.Chain(rawValue: subject) else {
            throw ValidationError("--subject: \(Subject.Chain.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        let found = source.map { Subject.SourceState(rawValue: $0) }
        if let found, found == nil {
            throw ValidationError("--source: \(Subject.SourceState.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        guard let choice = EngineChoice(rawValue: engine), choice != .auto else {
            throw ValidationError("--engine: statements or pages.")
        }
        var settings = CrashExplorer.Settings(Subject(chain, engine: choice, state: found ?? nil, seed: seed))
        settings.isAmongPages = pages
        settings.only = state
        settings.splitsRenames = nonatomic
        settings.isExhaustiveSwap = swap
        settings.work.mutant = mutant
        settings.work.fault = fault
        settings.work.checkpointInterval = interval
        settings.budget = budget
        settings.jobs = jobs
        let report = HarnessReport(result: try CrashExplorer(settings).run())
        for line in ReportTable([report]).lines { print(line) }
        if !report.result.isClean { throw ExitCode(1) }
    }
}
