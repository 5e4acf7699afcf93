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

    /// For the argument parser.
    public init() {}

    /// Rolls back and prints where the files are now.
    public func run() throws {
        let outcome = try reportingFailure(asJSON: arguments.json, aboutStore: true) { () throws(MigrationError) in
            try StoreBackup(store: arguments.store, backup: arguments.backup).rollback()
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
            of the store. The store itself must exist and be a Core Data store: otherwise a backup may be all that is
            left.
            """))

    @OptionGroup var arguments: BackupArguments

    /// For the argument parser.
    public init() {}

    /// Removes, and prints what and how many bytes.
    public func run() throws {
        let outcome = try reportingFailure(asJSON: arguments.json, aboutStore: true) { () throws(MigrationError) in
            try StoreBackup(store: arguments.store, backup: arguments.backup).purge()
        }
        let removed = (outcome.removed + outcome.removedCopies).map { "removed \($0)" }
        let done = removed.isEmpty ? nil : removed.joined(separator: "\n")
        guard !arguments.json else { return try printResult([try JSONText.document(outcome)], done: done) }
        for warning in outcome.warnings { StandardStream.error.writeLine("warning: \(warning)") }
        guard !removed.isEmpty else { return try printResult(["\(outcome.store): there is no backup"]) }
        var files = Figures.count(outcome.removed.count, "backup", "backups")
        if !outcome.removedCopies.isEmpty {
            files += ", \(Figures.count(outcome.removedCopies.count, "copy of a -wal", "copies of -wals"))"
        }
        try printResult(removed + ["\(files), \(Figures.bytes(outcome.bytes))"], done: done)
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
