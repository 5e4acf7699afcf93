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
            stays beside it as <store>.premigration-… until you remove it (causeway purge-backup) or take it back
            (causeway rollback). A store that has the version already isn't touched. Close every program that uses the
            store first.

            To resume a run that ended early, run the same command again. Ctrl-C saves a checkpoint and stops; a second
            one ends the process at once. SIGUSR1 prints a line of status.
            """))

    @OptionGroup var arguments: MigrateArguments

    @OptionGroup var running: RunArguments

    @Flag(help: "Print events and the summary as JSON lines on standard output.")
    var json = false

    @Flag(name: .shortAndLong, help: "Explain every pass; twice: show every statement too.")
    var verbose: Int

    @Flag(name: .shortAndLong, help: "Print errors and, with --json, the summary; nothing else.")
    var quiet = false

    /// For the argument parser.
    public init() {}

    /// Refuses flags that contradict each other.
    public func validate() throws {
        if quiet, verbose > 0 {
            throw ValidationError("--quiet and --verbose contradict each other; give one of them.")
        }
    }

    /// Migrates, showing progress, and prints what was done.
    public func run() async throws {
        keepTemporaryFiles(with: arguments.store, output: running.output)
        let migrator = try arguments.migrator(running.options)
        let verbosity: TextReporter.Verbosity =
            quiet || json ? .quiet : verbose == 0 ? .normal : verbose == 1 ? .passes : .statements
        let text = TextReporter(verbosity)
        let lines = json ? JSONReporter(showsEvents: !quiet, showsStatements: verbose > 1) : nil
        let status = ProgressOnSignal()
        let task = Task { () async -> Result<MigrationSummary, MigrationError> in
            do throws(MigrationError) {
                let summary = try await migrator.migrate { event in
                    status.receive(event)
                    lines?.receive(event) ?? text.receive(event)
                }
                return .success(summary)
            } catch {
                return .failure(error)
            }
        }
        let watch = SignalWatch {
            task.cancel()
            text.say("stopping: saving progress; a second signal ends the process at once")
        } status: {
            text.say(status.line())
        }
        let result = await task.value
        watch.end()
        text.finish()
        switch result {
        case .success(let summary):
            if !json { text.warn(of: summary) }
            try report(summary, lines)
        case .failure(let error):
            throw FailureReport(error, code: watch.code(of: error)).print(asJSON: json, aboutStore: true)
        }
    }

    private func report(_ summary: MigrationSummary, _ lines: JSONReporter?) throws {
        if let lines {
            try requireWritten(lines.write(summary), done: done(summary))
        } else if !quiet {
            try printResult(SummaryText(summary: summary, output: running.output).lines, done: done(summary))
        }
    }

    /// What a run has done, in case its summary can't be printed.
    private func done(_ summary: MigrationSummary) -> String {
        if summary.wasCurrent, !summary.wasSwappedBefore {
            guard let change = summary.storeChange else { return "the store is untouched: it has the version already" }
            return "the store has the version already: no row has changed, but \(change)"
        }
        guard let backup = summary.backup else { return "the new store is in place: \(summary.store)" }
        return "the new store is in place: \(summary.store); the original is at \(backup)"
    }
}
