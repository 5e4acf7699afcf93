public import CausewayPreparation
public import CausewayStores

/// What a migration has done.
public struct MigrationSummary: Hashable, Sendable, Codable {
    /// Where the new store is.
    public var store: String
    /// Where the original is kept; nil with `output`, or if there was nothing to do.
    public var backup: String?
    /// The version that the store had.
    public var sourceVersion: String
    /// The version that it has.
    public var targetVersion: String
    /// Rows written into the final store.
    public var rows: Int
    /// Rows that weren't migrated, as the plan says; what a filter or a policy leaves out counts once for each mapping
    /// that reads it, even where another one takes it; of a mirror that is carried, also those of its tables.
    public var droppedRows: Int
    /// Rows that mapping models and their policies made, rather than carried.
    public var createdRows = 0
    /// Violations of the destination model's rules.
    public var violations = 0
    /// Rows that were left out because of them.
    public var rejectedRows = 0
    /// Bad source rows that were left out (`MigrationOptions.badRows`).
    public var quarantinedRows = 0
    /// Bytes of pages that the new store shares with the source and that the verification hasn't read: its tables stay
    /// as they are. 0 where the file system can't share, and with `VerificationLevel.full`.
    public var unreadBytes = 0
    /// Values that were replaced by their attribute's default because of them.
    public var defaultedValues = 0
    /// Bytes of the rows that were moved, over all steps.
    public var bytes: Int
    /// Seconds from start to end.
    public var seconds: Double
    /// Seconds of them that commits and checkpoints took, fsyncs included: the cost of being resumable.
    public var savingSeconds = 0.0
    /// Bytes of memory that the process held at its peak.
    public var peakMemoryBytes: Int
    /// Where the store's `-wal` broke off; nil where it could be read to its end.
    public var walBreak: WALBreak?
    /// Entries of the app's own that the store's metadata have now (`MigrationOptions.metadata`).
    public var metadata: [String: MetadataValue] = [:]
    /// What the user should know.
    public var warnings: [String]
    /// What the migration dropped of the store's content, a sentence each:
    /// `V1 → V2: dropped Harvest.scratch (33 values)`.
    public var losses: [String] = []
    /// Whether the store had the target version already. It wasn't touched then, unless `storeChange` says otherwise.
    public var wasCurrent: Bool
    /// What the run did to the store's files although there was nothing to migrate, as the rest of a sentence; nil for
    /// nothing.
    public var storeChange: String?
    /// Whether another program's unfinished transaction was rolled back although there was nothing to migrate: until
    /// then no program can read the store's version.
    public var wasRolledBack = false
    /// Whether an earlier run had put the new store in place before it ended: this one only removed the work directory.
    /// In place, `wasCurrent` is true too.
    public var wasSwappedBefore = false
}
