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
    /// An earlier run put the new store in place; this one removed the work directory.
    package var wasSwapped = false
    /// Rows that mapping models made.
    package var createdRows = 0
    /// What the validation found and did.
    package var violations = 0
    package var defaultedValues = 0
    package var rejectedRows = 0
    /// An unfinished transaction of another program was rolled back, and there was nothing else to do.
    package var hasRolledBack = false
    /// How an interrupted run's change of the journal mode was undone, if there was nothing else to do.
    package var modeChange: String?
    /// Where the -wal broke off, with the copy of it beside the backup; of several the last.
    package var walBreak: WALBreak?
    /// Bad source rows (`--bad-rows quarantine`).
    package var quarantinedRows = 0
    /// Bytes of pages, shared with the source, that nothing has read.
    package var unreadBytes = 0

    /// Where a run resumed.
    package struct Resumed: Hashable, Sendable {
        package var step: Int
        package var rows: Int
    }
}
