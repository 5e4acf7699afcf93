public import CausewayPreparation
public import CausewayStores

/// What a migration will do, computed before a byte is written.
public struct MigrationPlan: Hashable, Sendable, Codable {
    /// The store's path.
    public var store: String
    /// Bytes of the store with its -wal.
    public var storeBytes: Int
    /// The version that the store has.
    public var sourceVersion: String
    /// The version that it will have.
    public var targetVersion: String
    /// Every version of the path, both ends included.
    public var path: [String]
    /// The runs of steps that are executed, one staging store each.
    public var steps: [Step]
    /// Bytes of disk that the run needs at its peak, beside the store: the largest of its steps' needs.
    public var diskBytes: Int
    /// Most bytes of memory that the batches in flight take, if no single row is larger than a batch.
    public var memoryBytes: Int
    /// Where the store's `-wal` breaks off; nil where it can be read to its end.
    public var walBreak: WALBreak?
    /// What the user should know before it runs.
    public var warnings: [String]
    /// Join tables and columns that get other names in a store which has the target version already
    /// (`Z_2LIKES → Z_2LIKEDBY`): nothing else changes then. Empty where a store is migrated.
    public var renames: [String]
    /// Where CloudKit mirrors the store: what its tables say, and what is left out of them; nil otherwise, and where
    /// there is nothing to do.
    public var cloudKit: CloudKit?
    /// Entries of the app's own that the new store's metadata get (`MigrationOptions.metadata`). Where the store has
    /// the target version already, and not these, nothing else changes.
    public var metadata: [String: MetadataValue]

    /// Whether the store has the target version already.
    public var isNothingToDo: Bool { steps.isEmpty }

    /// One run of steps: rows flow from one store into the next.
    public struct Step: Hashable, Sendable, Codable {
        /// The versions that it leads through, both ends included; more than two where steps are fused.
        public var versions: [String]
        /// Whether it runs together with the step before it: each row goes through the mappings of both, and the store
        /// between them is never made. If rows turn out to need that store, the steps run one by one.
        public var runsWithStepBefore: Bool
        /// Why it doesn't run together with the step before it; nil where it does, and for the first step.
        public var barrier: String?
        /// Bytes of disk that the step needs at its peak, beside the store: the new store that it makes, the one that
        /// the step before has made, its journal and associations.
        public var diskBytes: Int
        /// The passes in the order of their execution.
        public var passes: [Pass]
        /// Every table of the new store: how its rows come into it, and its indexes.
        public var tables: [Table]
        /// Attributes whose numeric type changes and whose values are converted, each as
        /// `V2: Thing.count: Integer 32 → Integer 64` with the version that changes it.
        public var conversions: [String]
        /// What is lost of the store's content, a sentence each: `V1 → V2: will drop Harvest.scratch (53 values)`. What
        /// the store has nothing of isn't there.
        public var losses: [String]
        /// What every version of the step changes, entity by entity: properties that come, go, get other names, types
        /// or places in the hierarchy.
        public var changes: [ModelChange]
        /// Statements of the new store's schema in the order of their execution.
        public var statements: [String]
    }

    /// A table of the new store.
    public struct Table: Hashable, Sendable, Codable {
        /// Its name.
        public var name: String
        /// `keep`: the table's pages stay as they are, in a copy of the source; `patch`: they stay, and integers in
        /// them are overwritten; `rebuild`: pages of the source's table are read, and pages are written; `statements`:
        /// passes read rows by SELECT and write them by INSERT; `objects`: mapping models make them; `empty`: no row of
        /// the source becomes one of this table's.
        public var method: String
        /// Why no cheaper method can make the table; nil where there is none, and where nobody asked for pages.
        public var reason: String?
        /// Every index of the finished table, those of its constraints included.
        public var indexes: [Index]
    }

    /// An index of a table.
    public struct Index: Hashable, Sendable, Codable {
        /// Its name.
        public var name: String
        /// The columns of its key in their order, nil for an expression.
        public var columns: [String?]
        /// Whether no two rows may have the same key.
        public var isUnique: Bool
        /// Whether only rows that fulfil a predicate are in it.
        public var isPartial: Bool
        /// `model`, `history`, `app`, or `constraint` where the table's text asks for it.
        public var origin: String
        /// `keep`: the index's pages stay as they are, in a copy of the source; `patch`: they stay, and integers in
        /// them are overwritten; `carry`: the entries of one of the source are packed anew in their order; `sort`: its
        /// entries are made from the table's pages, sorted, and written as pages; `statements`: SQLite makes them.
        public var method: String
        /// Why no cheaper method can make the index; nil where there is none, and where nobody asked for pages.
        public var reason: String?
    }

    /// One pass: moves the rows of one table.
    public struct Pass: Hashable, Sendable, Codable {
        /// The destination's entity, relationship or table.
        public var title: String
        /// `project`, `transform`, `relate`, `history`, `copy`, `mirror`, `index`, `add`, `drop` or `stage`.
        public var method: String
        /// Rows to read; nil where they aren't counted yet (a later step's).
        public var rows: Int?
        /// Columns that are carried as they are.
        public var carried = 0
        /// Columns that are changed or filled.
        public var changed = 0
        /// The statement that reads the rows; empty where they are read out of pages. Nothing runs that of a table
        /// which is kept or patched, before the verification.
        public var statement = ""
        /// The entity mapping that the pass carries out; nil where the step is inferred.
        public var mapping: Mapping?
    }

    /// An entity mapping of a mapping model.
    public struct Mapping: Hashable, Sendable, Codable {
        /// The mapping model's name.
        public var model: String
        /// The entity mapping's name.
        public var name: String
        /// The entity before; nil where it is added.
        public var source: String?
        /// The entity after; nil where it is removed.
        public var destination: String?
        /// The policy's class; nil for the default one.
        public var policy: String?
        /// Whether the policy is called again for every row, in stage 2: unless it declares that it doesn't override
        /// the hook (``EntityMigrationPolicy/createsRelationships``), and where the mapping has relationship
        /// expressions. A policy that rewrites expressions while it runs can be called again though this is false.
        public var createsRelationships: Bool
        /// The predicate that source rows must fulfil; nil for all rows.
        public var filter: String?
        /// What happens to the rows' keys, and so to object URIs.
        public var keys: Keys
        /// How every property gets its value: `name ← expression`.
        public var properties: [String]
        /// How its rows are written: `pages` or `statements`; nil where it reads none.
        public var method: String?
        /// Why it isn't by pages; nil where it is, or where pages weren't asked for.
        public var reason: String?
    }

    /// What happens to the keys of an entity mapping's rows.
    public enum Keys: String, Hashable, Sendable, Codable {
        /// Every row keeps its key.
        case kept
        /// A row keeps its key unless another one has it.
        case keptIfFree
        /// Every row gets a new key, in the source's order.
        case new
    }
}
