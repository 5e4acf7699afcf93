import ArgumentParser
import CausewayPlatform
import CausewayPreparation
import CausewayReliabilityKit
import Foundation

/// `reliability [run]`: runs harnesses, prints one table, exits with 1 where anything failed.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs the harnesses and prints one table.")

    @Flag(help: "Everything; about an hour.")
    var full = false

    @Flag(help: "The subset for every submission; a few minutes. (default)")
    var quick = false

    @Flag(help: "Show the harnesses and what they do.")
    var list = false

    @Option(help: ArgumentHelp("Only these harnesses, separated by commas.", valueName: "names"))
    var only: String?

    @Option(help: ArgumentHelp("All that is random follows from it.", valueName: "number"))
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("Multiplies rounds and random cases.", valueName: "factor"))
    var scale = 1.0

    @Option(help: ArgumentHelp("Cases that run at once. (default: one per core)", valueName: "number"))
    var jobs: Int?

    @Option(help: ArgumentHelp("Write the report here, too, as JSON.", valueName: "file"))
    var json: String?

    @Option(help: ArgumentHelp("An empty folder to work in. (default: one in memory)", valueName: "folder"))
    var scratch: String?

    @Flag(help: "Keep the folders of cases that failed; needs --scratch.")
    var keep = false

    @Flag(help: "End a harness at its first failure.")
    var stopAtFailure = false

    @Option(help: ArgumentHelp("Only this engine: statements or pages. (default: both)", valueName: "name"))
    var engine: String?

    @Option(help: ArgumentHelp("Only these breaks of the protocol, separated by commas.", valueName: "names"))
    var mutants: String?

    @Option(help: ArgumentHelp("The folder of the executables. (default: this one's)", valueName: "folder"))
    var binaries: String?

    func validate() throws {
        guard !(full && quick) else { throw ValidationError("--full and --quick contradict each other.") }
        guard scale > 0, scale <= 1_000 else { throw ValidationError("--scale must be above 0, at most 1000.") }
        if let jobs, !(1...64).contains(jobs) { throw ValidationError("--jobs must be 1 to 64.") }
        guard !keep || scratch != nil else { throw ValidationError("--keep needs --scratch.") }
        _ = try chosen()
        _ = try chosenMutants()
        _ = try chosenEngine()
    }

    func run() throws {
        if list {
            let width = Harness.every.map(\.name.count).max() ?? 0
            for harness in Harness.every {
                print(harness.name.padding(toLength: width + 2, withPad: " ", startingAt: 0) + harness.purpose)
            }
            return
        }
        let temporary = try scratch == nil ? ScratchFolder() : nil
        defer { temporary?.remove() }
        let folder = scratch ?? temporary?.path ?? "."
        var settings = HarnessSettings(
            seed: seed, threads: jobs ?? ProcessFacts.processorCount, isQuick: !full, scale: scale,
            binaries: binaries ?? Package.buildFolder, scratch: try Files.realPath(of: folder), keepsFailures: keep)
        settings.stopsAtFailure = stopAtFailure
        settings.mutants = try chosenMutants()
        if let engine = try chosenEngine() { settings.engines = [engine] }
        settings.say = { Self.say($0) }
        var report = RunReport(settings, command: ["reliability"] + CommandLine.arguments.dropFirst())
        for harness in try chosen() {
            Self.say("\(harness.name): \(harness.purpose) …")
            let one = harness.run(settings)
            let result = one.result
            Self.say("    \(result.tried) tried, \(result.failed) failed, \(Int(one.seconds)) s")
            report.harnesses.append(one)
            // Written after each harness, so that a run that is ended in the middle leaves its findings.
            if let json { try report.write(to: json) }
        }
        print("commit \(report.commit), seed \(seed), \(report.date), SQLite \(report.sqlite), \(report.system)")
        for line in ReportTable(report.harnesses).lines { print(line) }
        if !report.isClean { throw ExitCode(1) }
    }

    private func chosen() throws -> [Harness] {
        guard let only else { return Harness.every }
        return try only.split(separator: ",").map { name in
            guard let harness = Harness.every.first(where: { $0.name == name }) else {
                throw ValidationError("--only: there is no harness “\(name)”; --list shows them.")
            }
            return harness
        }
    }

    private func chosenEngine() throws -> EngineChoice? {
        guard let engine else { return nil }
        guard let choice = EngineChoice(rawValue: engine), choice != .auto else {
            throw ValidationError("--engine: statements or pages.")
        }
        return choice
    }

    private func chosenMutants() throws -> [Mutant]? {
        try mutants?.split(separator: ",").map { name in
            guard let mutant = Mutant(rawValue: String(name)) else {
                throw ValidationError(
                    "--mutants: one of \(Mutant.allCases.map(\.rawValue).joined(separator: ", ")).")
            }
            return mutant
        }
    }

    /// Progress; not part of the result.
    private static func say(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}
