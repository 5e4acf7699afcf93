public import ArgumentParser
import Causeway
import CausewayPlatform

/// `causeway migrate`: migrates a store.
public struct MigrateCommand: AsyncParsableCommand {
    /// Name and help.
    public static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Migrates a store to another version of its model.",
        usage: "causeway migrate [<options>] <store> ... --models <models>",
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

    @Option(help: ArgumentHelp("With --dry-run, how to print.", valueName: "format"))
    var format: ReportFormat?

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
        if running.dryRun, quiet, !json, format != .json {
            throw ValidationError("--dry-run prints the plan, and --quiet wants nothing printed; give one of them.")
        }
        if running.dryRun, running.logFile != nil {
            throw ValidationError("--log-file is for a run, and --dry-run is none; give one of them.")
        }
        if format != nil, !running.dryRun {
            throw ValidationError("--format is for --dry-run; a run prints text, or JSON with --json.")
        }
        if json, let format, format != .json {
            throw ValidationError("--json and --format \(format.rawValue) contradict each other; give one of them.")
        }
        let shares =
            arguments.stores.count > 1
            ? try StoreShares(arguments, output: running.output, parallel: running.parallel).shares
            : [
                StoreShares.Share(
                    store: arguments.store, bytes: 0, output: running.output, rejects: arguments.rejects,
                    keyMap: arguments.keyMap)
            ]
        try checkLogFile(shares)
    }

    /// The log would be made first, and the run would find its file there already.
    private func checkLogFile(_ shares: [StoreShares.Share]) throws {
        guard let log = running.logFile else { return }
        let place = resolved(log)
        for share in shares {
            for (option, path) in [
                ("--output", share.output), ("--rejects", share.rejects), ("--key-map", share.keyMap),
            ] where path.map(resolved) == place {
                throw ValidationError("--log-file and \(option) name the same file, \(log); give the log another name.")
            }
            for store in [share.store, share.output].compactMap(\.self) {
                let files = ["", "-wal", "-shm", "-journal"].map { resolved(store) + $0 }
                guard files.contains(place) else { continue }
                throw ValidationError(
                    "--log-file: \(log) is a file of the store \(store), or would be; give the log another name.")
            }
        }
    }

    /// The path without links, as far as it is there.
    private func resolved(_ path: String) -> String {
        if let real = try? Files.realPath(of: path) { return real }
        let folder = try? Files.realPath(of: Paths.parent(of: path))
        return folder.map { $0 + "/" + Paths.name(of: path) } ?? path
    }

    /// Seconds between two events of progress where nothing else happens.
    static let tick = 0.5

    /// Migrates, showing progress, and prints what was done.
    public func run() async throws {
        if running.dryRun { return try plan() }
        let log = try running.logFile.map { try LogFile($0, json: json) }
        guard arguments.stores.count == 1 else { return try await runStores(log) }
        keepTemporaryFiles(with: arguments.store, output: running.output)
        let migrator = try arguments.migrator(running.options)
        let text = TextReporter(verbosity)
        let (status, store) = (ProgressOnSignal(), arguments.store)
        let lines = json ? JSONReporter(showsEvents: !quiet, showsStatements: verbose > 1, store: store) : nil
        log?.begin(store)
        let task = Task { () async -> StoreOutcome in
            do throws(MigrationError) {
                let summary = try await migrator.migrate(tickingEvery: Self.tick) { event in
                    status.receive(event)
                    log?.receive(event, of: store)
                    lines?.receive(event) ?? text.receive(event)
                }
                return .done(summary)
            } catch {
                return .failed(error)
            }
        }
        let signals = ReceivedSignal()
        let watch = SignalWatch(signals) {
            task.cancel()
            text.say("stopping: saving progress; a second signal ends the process at once")
        } status: {
            text.say(status.line())
        }
        let outcome = await task.value
        watch.end()
        text.finish()
        log?.end(store, outcome, signals)
        switch outcome {
        case .done(let summary):
            if !json { text.warn(of: summary) }
            try report(summary, lines)
            try log?.requireWritten(
                done: done(summary), json: json, storeIsNew: !summary.wasCurrent || summary.wasSwappedBefore,
                header: lines?.header)
        case .failed(let error):
            let status = FailureReport(error, code: signals.code(of: error)).print(
                asJSON: json, aboutStore: true, header: lines?.header)
            try? log?.requireWritten()
            throw status
        case .notBegun: break
        }
    }

    /// What is shown on standard error.
    var verbosity: TextReporter.Verbosity {
        quiet || json ? .quiet : verbose == 0 ? .normal : verbose == 1 ? .passes : .statements
    }

    private func plan() throws {
        var plan = PlanCommand()
        plan.arguments = arguments
        (plan.sql, plan.all) = (verbose > 1, verbose > 0)
        plan.output = try dryOutput()
        try plan.run(running.options)
    }

    private func dryOutput() throws -> FormatArguments<ReportFormat> {
        try FormatArguments<ReportFormat>.parse(
            (format.map { ["--format", $0.rawValue] } ?? []) + (json ? ["--json"] : []))
    }

    private func report(_ summary: MigrationSummary, _ lines: JSONReporter?) throws {
        if let lines {
            try requireWritten(lines.write(summary), done: done(summary))
        } else if !quiet {
            let text = SummaryText(summary: summary, output: running.output, layout: .output(showsAll: true))
            try printResult(text.lines, done: done(summary))
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
