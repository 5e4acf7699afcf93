public import ArgumentParser
import Causeway

/// `causeway migrate`: migrates a store.
public struct MigrateCommand: AsyncParsableCommand {
    /// Name and help.
    public static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Migrates a store to another version of its model.",
        discussion: helpText(
            """
            The new store is built beside the old one, verified, and put in its place with one rename; the old store
            stays beside it as <store>.premigration until you remove it. A store that has the version already isn't
            touched. Close every program that uses the store first.

            Ctrl-C stops at the next batch and leaves the store as it was; a second one ends the process at once.
            """))

    @OptionGroup var arguments: MigrateArguments

    @Option(
        help: ArgumentHelp(
            "Write the new store here and leave the old one where it is. Nothing may be there yet.", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Print events and the summary as JSON lines on standard output.")
    var json = false

    @Flag(name: .shortAndLong, help: "Explain every pass; twice: show every statement too.")
    var verbose: Int

    @Flag(name: .shortAndLong, help: "Print errors and, with --json, the summary; nothing else.")
    var quiet = false

    /// Made by the argument parser.
    public init() {}

    /// Refuses flags that contradict each other.
    public func validate() throws {
        if quiet, verbose > 0 {
            throw ValidationError("--quiet and --verbose contradict each other; give one of them.")
        }
    }

    /// Migrates, showing progress, and prints what was done.
    public func run() async throws {
        let migrator = try arguments.migrator(output: output)
        let verbosity: TextReporter.Verbosity =
            quiet || json ? .quiet : verbose == 0 ? .normal : verbose == 1 ? .passes : .statements
        let text = TextReporter(verbosity)
        let lines = json ? JSONReporter(showsEvents: !quiet, showsStatements: verbose > 1) : nil
        let task = Task { () async -> Result<MigrationSummary, MigrationError> in
            do throws(MigrationError) {
                return .success(try await migrator.migrate { lines?.receive($0) ?? text.receive($0) })
            } catch {
                return .failure(error)
            }
        }
        let watch = SignalWatch {
            text.say("stopping at the next batch; once more ends at once")
            task.cancel()
        }
        let result = await task.value
        watch.end()
        text.finish()
        switch result {
        case .success(let summary): try report(summary, lines)
        case .failure(let error):
            // A cancelled task can't say which signal cancelled it.
            let code = error.code == .interrupted && watch.isTermination ? MigrationError.Code.terminated : error.code
            throw FailureReport(error, code: code).print(asJSON: json, aboutStore: true)
        }
    }

    private func report(_ summary: MigrationSummary, _ lines: JSONReporter?) throws {
        if let lines {
            lines.write(summary)
        } else if !quiet {
            try printResult(SummaryText(summary: summary, output: output).lines)
        }
    }
}
