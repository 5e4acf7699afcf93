public import ArgumentParser
import Causeway

/// `causeway rollback`: undoes a migration.
public struct RollbackCommand: ParsableCommand {
    /// Name and help.
    public static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "Undoes a migration: puts the original back in the store's place.",
        discussion: helpText(
            """
            One rename brings the original back. The migrated store stays as <store>.rolledback-<digits>, with
            everything written to it since. Close every program that uses the store first.
            """))

    @OptionGroup var arguments: BackupArguments

    @OptionGroup var waiting: WaitArguments

    /// For the argument parser.
    public init() {}

    /// Rolls back and prints where the files are now.
    public func run() throws {
        let outcome = try reportingFailure(
            asJSON: arguments.json, aboutStore: true, store: arguments.store
        ) { () throws(MigrationError) in
            try waiting.whileBusy(arguments.store) { () throws(MigrationError) in
                try StoreBackup(store: arguments.store, backup: arguments.backup).rollback()
            }
        }
        let lines =
            [
                "\(outcome.store): the original is back (it was \(outcome.restored))",
                outcome.keptAt.map {
                    "The store that was there is kept as \($0); remove it when you no longer "
                        + "need it."
                },
            ].compactMap(\.self)
            + outcome.walCopies.map { "A copy of the original's -wal, which couldn't be read to its end, is at \($0)." }
        let done = lines.joined(separator: "\n")
        guard !arguments.json else { return try printResult([try JSONText.document(outcome)], done: done) }
        for warning in outcome.warnings { StandardStream.error.writeLine("warning: \(warning)") }
        try printResult(lines, done: done)
    }
}

/// `causeway purge-backup`: removes what a migration kept.
public struct PurgeBackupCommand: ParsableCommand {
    /// Name and help.
    public static let configuration = CommandConfiguration(
        commandName: "purge-backup",
        abstract: "Removes the original that a migration kept.",
        discussion: helpText(
            """
            It doesn't ask first, and the migration can't be undone afterwards. Without --backup it removes all backups
            of the store; with --all also the migrated stores that rollbacks have kept, and everything that was written
            to them. See "causeway backups" first. The store itself must exist and be a Core Data store: otherwise a
            backup may be all that is left.
            """))

    @OptionGroup var arguments: BackupArguments

    @Flag(help: "Remove also what rollbacks have kept, <store>.rolledback-<digits>.")
    var all = false

    /// For the argument parser.
    public init() {}

    /// Refuses flags that contradict each other.
    ///
    /// - Throws: `ValidationError`, which exits with 64.
    public func validate() throws {
        if all, arguments.backup != nil {
            throw ValidationError("--all and --backup contradict each other; give one of them.")
        }
    }

    /// Removes, and prints what and how many bytes.
    public func run() throws {
        let outcome = try reportingFailure(
            asJSON: arguments.json, aboutStore: true, store: arguments.store
        ) { () throws(MigrationError) in
            try StoreBackup(store: arguments.store, backup: arguments.backup).purge(includingRolledBack: all)
        }
        let removed = (outcome.removed + outcome.removedRolledBack + outcome.removedCopies).map { "removed \($0)" }
        let done = removed.isEmpty ? nil : removed.joined(separator: "\n")
        guard !arguments.json else { return try printResult([try JSONText.document(outcome)], done: done) }
        for warning in outcome.warnings { StandardStream.error.writeLine("warning: \(warning)") }
        guard !removed.isEmpty else { return try printResult([nothing(outcome.store)]) }
        let files = [
            (outcome.removed.count, "backup", "backups"),
            (outcome.removedRolledBack.count, "rolled back store", "rolled back stores"),
            (outcome.removedCopies.count, "copy of a -wal", "copies of -wals"),
        ].filter { $0.0 > 0 || $0.1 == "backup" && outcome.removedRolledBack.isEmpty }
        let counts = files.map { Figures.count($0.0, $0.1, $0.2) }.joined(separator: ", ")
        try printResult(removed + ["\(counts), \(Figures.bytes(outcome.bytes))"], done: done)
    }

    /// Nothing was removed: the list of backups may have stores that need `--all`.
    private func nothing(_ store: String) -> String {
        // Nothing is to be done about a list that can't be read: nothing was asked of it.
        let left = (try? StoreBackup(store: arguments.store).list())?.backups.count ?? 0
        guard left > 0 else { return "\(store): there is no backup" }
        let them = Figures.count(left, "store", "stores")
        return "\(store): there is no original to remove; --all removes \(them) that rollbacks have kept"
    }
}

/// Which backup of which store.
public struct BackupArguments: ParsableArguments {
    @Argument(help: "The store's main file.", completion: .file())
    var store: String

    @Option(
        help: ArgumentHelp(
            "The backup to use, <store>.premigration-<digits>, if there are several.", valueName: "file"),
        completion: .file())
    var backup: String?

    @Flag(help: "Print JSON.")
    var json = false

    /// For the argument parser.
    public init() {}
}
