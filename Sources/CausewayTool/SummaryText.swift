import Causeway

/// `Store.sqlite: the store is in use by sqlite3 (process 4711); waiting for 30.0 s at most`
func waitingText(_ reason: String, _ seconds: Double) -> String {
    "\(reason); waiting for \(Figures.seconds(seconds)) at most"
}

/// What a migration has done, as a person reads it.
struct SummaryText {
    let summary: MigrationSummary
    /// `--output`; nil for the store's place.
    let output: String?
    var layout = TextLayout.whole

    var lines: [String] {
        if summary.wasSwappedBefore {
            let place = "\(summary.store): an earlier run put version \(summary.targetVersion) in place"
            return ["\(place); there is nothing left to do"] + backup
        }
        guard !summary.wasCurrent else {
            let written =
                summary.storeChange.map { "but \($0)" }
                ?? (output == nil ? "the store wasn't touched" : "nothing was written")
            return ["\(summary.store) is at version \(summary.targetVersion) already: nothing to do, \(written)"]
        }
        let rate = summary.seconds > 0 ? Double(summary.bytes) / summary.seconds : 0
        var lines = [
            "\(summary.store): \(summary.sourceVersion) → \(summary.targetVersion), "
                + "\(Figures.count(summary.rows, "row", "rows"))"
                + (summary.createdRows > 0
                    ? ", \(Figures.grouped(summary.createdRows)) written by mapping models over all steps" : "")
                + (summary.droppedRows > 0 ? ", \(Figures.grouped(summary.droppedRows)) dropped" : "")
                + (summary.quarantinedRows > 0 ? ", \(Figures.grouped(summary.quarantinedRows)) quarantined" : "")
                + ", \(Figures.bytes(rate))/s, \(Figures.seconds(summary.seconds))"
        ]
        if summary.violations > 0 {
            lines.append(
                "Rules of the new model: \(Figures.count(summary.violations, "violation", "violations")), "
                    + "\(Figures.count(summary.rejectedRows, "row", "rows")) rejected, "
                    + "\(Figures.count(summary.defaultedValues, "value", "values")) replaced by the default")
        }
        if !summary.metadata.isEmpty { lines.append("Set in the store's metadata: \(summary.metadata.inWords)") }
        if summary.unreadBytes > 0 {
            lines.append(
                "Not read: \(Figures.bytes(Double(summary.unreadBytes))) of tables that the new store shares with the "
                    + "original; verify reads them.")
        }
        return lines + PlanText.losses(summary.losses).flatMap { layout.lines($0) } + backup
    }

    private var backup: [String] {
        guard let backup = summary.backup else { return [] }
        let arguments = "\(Self.quoted(summary.store)) --backup \(Self.quoted(backup))"
        return [
            "The original is kept as \(backup).",
            "To undo, or to remove the original, while no program uses the store:",
            "  \(Self.command) rollback \(arguments)", "  \(Self.command) purge-backup \(arguments)",
        ]
    }

    /// The name of this executable: a team's own has another one.
    private static var command: String {
        quoted(CommandLine.arguments.first ?? "causeway")
    }

    /// A word of a shell's command.
    static func quoted(_ path: String) -> String {
        let isPlain = path.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || ("0"..."9").contains($0) || "/._-+,:@".unicodeScalars.contains($0)
        }
        if isPlain, !path.isEmpty { return path }
        return "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
