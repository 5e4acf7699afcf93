public import ArgumentParser
import Causeway
import CausewayPlatform

/// `causeway backups`: what migrations and rollbacks have left beside a store.
public struct BackupsCommand: ParsableCommand {
    /// Name and help.
    public static let configuration = CommandConfiguration(
        commandName: "backups",
        abstract: "Lists what migrations and rollbacks have left beside a store.",
        usage: "causeway backups [<options>] <store>",
        discussion: helpText(
            """
            Originals that migrations kept (premigration) and migrated stores that rollbacks kept (rolledback), the
            oldest first, with version, time of the last change (UTC) and size. Changes nothing. "causeway rollback"
            puts an original back, "causeway purge-backup" removes them.
            """))

    @Argument(help: "The store's main file; it need not exist any more.", completion: .file())
    var store: String

    @Option(
        help: ArgumentHelp(
            """
            The model's versions, for their names; may be given several times. (default: what a backup says of itself)
            """,
            valueName: "models"),
        completion: .file())
    var models: [String] = []

    @OptionGroup var output: FormatArguments<ListFormat>

    /// For the argument parser.
    public init() {}

    /// Reads and prints.
    public func run() throws {
        let isJSON = output.chosen == .json
        let list = try reportingFailure(asJSON: isJSON, store: store) { () throws(MigrationError) in
            try StoreBackup(store: store).list(models: models)
        }
        try printResult(isJSON ? [try JSONText.document(list)] : BackupsText(list: list).lines)
    }
}

/// A list of backups as a person reads it.
struct BackupsText {
    let list: BackupList

    var lines: [String] {
        guard !list.backups.isEmpty else { return ["\(list.store.onOneLine): there is no backup"] }
        var table = TextTable([
            ("FILE", .leading), ("KIND", .leading), ("VERSION", .leading), ("CHANGED", .leading), ("SIZE", .trailing),
        ])
        for backup in list.backups {
            table.add(
                Self.name(backup.path), backup.kind.rawValue, Self.version(backup), Self.time(backup.modified),
                Figures.bytes(backup.bytes))
        }
        let head = list.storeExists ? [] : ["  the store itself is missing: causeway rollback puts an original back"]
        let problems = list.backups.compactMap { backup in
            backup.problem.map { "\(Self.name(backup.path)) can't be read: \($0)".onOneLine }
        }
        let copies = list.backups.flatMap(\.copies).map { Self.name($0).onOneLine }
        return ["Store  \(list.store.onOneLine)"] + head + [""]
            + table.lines(width: TextLayout.output(showsAll: true).width)
            + listed(copies, under: "", "Copies of their logs, in the sizes above")
            + listed(problems, under: "", "Problems")
            + ["", "\(Figures.count(list.backups.count, "backup", "backups")), \(Figures.bytes(list.bytes))"]
    }

    private static func name(_ path: String) -> String {
        String(path.split(separator: "/").last ?? "")
    }

    /// The first digits of a checksum tell versions apart.
    private static func version(_ backup: BackupList.Backup) -> String {
        backup.version ?? backup.checksum.map { "checksum \($0.prefix(8))…" } ?? "?"
    }

    /// `2026-11-25 22:52` of `2026-11-25T22:52:07Z`.
    private static func time(_ text: String) -> String {
        String(text.prefix(16)).split(separator: "T").joined(separator: " ")
    }
}
