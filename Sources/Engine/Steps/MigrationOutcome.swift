package import CausewayPreparation
package import CausewayStores

/// What a run has done.
package struct MigrationOutcome: Sendable {
    package var store: String
    package var backup: String?
    package var prepared: PreparedMigration
    package var rows = 0
    package var dropped = 0
    package var bytes = 0
    package var seconds = 0.0
    /// What commits and checkpoints took of them.
    package var savingSeconds = 0.0
    package var warnings: [String] = []
    /// The step at which work of an earlier run was resumed, counted from 0, and the rows that it had read.
    package var resumed: Resumed?
    /// The new store had been put in place by an earlier run; this one has removed what that left.
    package var wasSwapped = false
    /// Rows that mapping models made.
    package var createdRows = 0
    /// What the validation found and did.
    package var violations = 0
    package var defaultedValues = 0
    package var rejectedRows = 0
    /// An unfinished transaction of another program was rolled back, and nothing else was to be done.
    package var hasRolledBack = false
    /// How the store got the journal mode back that a run which was ended had taken, where nothing else was to be done.
    package var modeChange: String?
    /// Where the -wal broke off, with the copy of it beside the backup; of several the last.
    package var walBreak: WALBreak?
    /// Source rows that passes couldn't make anything of (`--bad-rows quarantine`).
    package var quarantinedRows = 0

    /// Where a run went on.
    package struct Resumed: Hashable, Sendable {
        package var step: Int
        package var rows: Int
    }
}
