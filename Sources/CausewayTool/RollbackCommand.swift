public import ArgumentParser
import Causeway

/// `causeway rollback`: takes a migration back.
public struct RollbackCommand: ParsableCommand {
    /// Name and help.
    public static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "Puts the original that a migration kept back in the store's place.",
        discussion: helpText(
            """
            One rename brings the original back. The migrated store isn't removed: it is kept as
            <store>.rolledback-<digits>, with all that was written to it since. Close every program that uses the store
            first.
            """))

    @OptionGroup var arguments: BackupArguments

    /// Made by the argument parser.
    public init() {}

    /// Rolls back and prints what lies where.
    public func run() throws {
        let outcome = try reportingFailure(asJSON: arguments.json, aboutStore: true) { () throws(MigrationError) in
            try StoreBackup(store: arguments.store, backup: arguments.backup).rollback()
        }
        let lines =
            [
                "\(outcome.store): the original is back (it was \(outcome.restored))",
                outcome.keptAt.map { "The store that was there is kept as \($0); remove it when nobody needs it." },
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
            Nothing is asked: afterwards the migration can't be taken back. Without --backup all backups of the store
            are removed. The store itself must be there and be one, since else a backup may be all that is left.
            """))

    @OptionGroup var arguments: BackupArguments

    /// Made by the argument parser.
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
            "The backup that is meant, <store>.premigration-<digits>, where there are several.", valueName: "file"),
        completion: .file())
    var backup: String?

    @Flag(help: "Print JSON.")
    var json = false

    /// Made by the argument parser.
    public init() {}
}
