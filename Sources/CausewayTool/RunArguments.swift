public import ArgumentParser
import Causeway

/// How a migration runs, resumes, checks itself and ends; nothing here changes the resulting rows.
public struct RunArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write the new store here and leave the old one as it is. The file must not exist yet.", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Discard the unfinished work of an earlier run and start over.")
    var restart = false

    @Flag(help: "Refuse to run if there is unfinished work of an earlier run, instead of resuming it.")
    var noResume = false

    @Option(
        help: ArgumentHelp(
            "Seconds between checkpoints; 0 makes one with every batch. A killed run loses at most this.",
            valueName: "seconds"))
    var checkpointInterval = MigrationOptions().checkpointInterval

    @Option(help: ArgumentHelp("Compression level of checkpoints, 1 to 19.", valueName: "level"))
    var checkpointCompression = MigrationOptions().checkpointCompression

    @Option(
        help: ArgumentHelp(
            """
            How much of the new store to check before the swap: none, quick, or full (reads every carried value again).
            """,
            valueName: "level"))
    var verify = MigrationOptions().verification

    @Option(
        help: ArgumentHelp(
            "Seconds to wait before the swap for programs that read the store; 0 doesn't wait.", valueName: "seconds"))
    var swapTimeout = MigrationOptions().swapTimeout

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Seconds to wait for a store that another program uses, before anything is written; 0 doesn't wait.",
            valueName: "seconds"))
    var wait = MigrationOptions().busyTimeout

    @Flag(
        name: .customLong("allow-hardlinks"),
        help: "Migrate a store that has other names (hard links); these keep the old store.")
    var allowsHardLinks = false

    @Flag(
        name: .customLong("ignore-ownership"),
        help: "Let the new store belong to you where it can't be given the old one's owner.")
    var ignoresOwnership = false

    @Flag(
        name: .customLong("ignore-space"),
        help: "Run even if the disk seems to have too little room; that is a warning then.")
    var ignoresSpace = false

    @Option(
        help: ArgumentHelp(
            "With several stores: how many to migrate at a time; --jobs and --memory-limit are divided among them.",
            valueName: "stores"))
    var parallel = 1

    @Option(
        help: ArgumentHelp(
            "Append every event to this file, a JSON object with its time per line, whatever is shown.",
            valueName: "file"),
        completion: .file())
    var logFile: String?

    @Flag(help: "Show what would be done, as plan does, and change nothing.")
    var dryRun = false

    /// For the argument parser.
    public init() {}

    /// Refuses values that make no sense, and flags that contradict each other.
    ///
    /// - Throws: `ValidationError`, which exits with 64.
    public func validate() throws {
        if restart, noResume {
            throw ValidationError("--restart and --no-resume contradict each other; give one of them.")
        }
        for (flag, seconds) in [
            ("--checkpoint-interval", checkpointInterval), ("--swap-timeout", swapTimeout), ("--wait", wait),
        ]
        where !MigrationOptions.intervals.contains(seconds) {
            throw ValidationError("\(flag) must be 0 to 86,400 seconds.")
        }
        guard MigrationOptions.jobCounts.contains(parallel) else {
            throw ValidationError("--parallel must be \(MigrationOptions.jobCounts.inWords) stores.")
        }
        guard MigrationOptions.compressionLevels.contains(checkpointCompression) else {
            throw ValidationError("--checkpoint-compression must be \(MigrationOptions.compressionLevels.inWords).")
        }
    }

    /// The arguments as the library takes them.
    var options: MigrationOptions {
        var options = MigrationOptions()
        options.output = output
        options.unfinishedWork = restart ? .restart : noResume ? .refuse : .resume
        options.checkpointInterval = checkpointInterval
        options.checkpointCompression = checkpointCompression
        options.verification = verify
        options.swapTimeout = swapTimeout
        options.busyTimeout = wait
        options.allowsHardLinks = allowsHardLinks
        options.ignoresOwnership = ignoresOwnership
        options.ignoresSpace = ignoresSpace
        return options
    }
}
