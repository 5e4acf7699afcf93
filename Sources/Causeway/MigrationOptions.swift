public import CausewayPreparation

/// How a migration runs. What changes the rows that result: `target`, `next`, `mappingModels`, `infersDespiteMismatch`,
/// `onViolation`, `badRows`, `endsLinks`, `origins`, `dropsOtherModels`, `cloudKit`, `frameworkVersion`,
/// `schemaTemplate` and `joinTables`; `metadata` changes what the new store says of itself; the rest is about speed,
/// memory, safety and additional files.
///
/// A run resumes the work of an earlier one only if these are the same, and `output`, `rejects`, `keyMap` and
/// `fusesSteps` too; the others may differ.
public struct MigrationOptions: Hashable, Sendable {
    /// Where the new store goes; nil puts it in the source's place and keeps the original as a backup.
    public var output: String?
    /// The version to reach: a model's name, its version identifier or its checksum; nil is the bundle's current
    /// version.
    public var target: String?
    /// Which version follows which, where it isn't the next in order: jumps, and detours around a broken version.
    public var next: [String: String] = [:]
    /// Paths of mapping models (`.xcmappingmodel`, `.cdm`), each for a step of the path. Those beside the models, in
    /// their bundle or in folders below are found without being named; of two that do the same, the one named here
    /// counts.
    public var mappingModels: [String] = []
    /// Infers a step although a mapping model that was found says that it is for this step, and doesn't match.
    /// Otherwise that is an error, because inference would lose what the mapping model was made to keep.
    public var infersDespiteMismatch = false
    /// What happens to rows that break a rule of the destination's model, in steps with mapping models or policies.
    public var onViolation = OnViolation.stop
    /// What happens to bad source rows.
    public var badRows = BadRows.fail
    /// Ends the links of a relationship that leads to another entity than before, where the objects at their other end
    /// can't be in it. Without it such links stop the run before a byte is written. The plan counts them either way.
    public var endsLinks = false
    /// What elements of a version continue, where the models leave it open and the plan asks: keys are an `Entity` or
    /// an `Entity.property` of the version, values the element's name in the version before, or an empty name for an
    /// element that is new. Of two relationships that become each other's inverse, the one that continues itself keeps
    /// its links.
    public var origins: [String: String] = [:]
    /// Drops the rows of entities that no given model has, where the rest of the store is a given version's: it looks
    /// like that version merged with a model that wasn't given. Without it such a store is refused.
    public var dropsOtherModels = false
    /// What is done with a store that CloudKit mirrors: <doc:CloudKit>.
    public var cloudKit = CloudKit.refuse
    /// The file for rejected and quarantined rows, one JSON object per line; `OnViolation.reject` and
    /// `BadRows.quarantine` need it.
    public var rejects: String?
    /// Where the old and new URIs of objects whose key changes are written.
    public var keyMap: String?
    /// The `NSPersistenceFrameworkVersion` whose layout is written; nil keeps the source's.
    public var frameworkVersion: Int?
    /// A store that Core Data wrote for the target version, or a folder with one for it and others for versions on the
    /// way; settles what a model leaves open (names of join tables).
    public var schemaTemplate: String?
    /// Names of join tables that were seen in a store of the target version, each one that the model leaves open;
    /// letter case doesn't count. A store that has the target version already gets them too.
    public var joinTables: [String] = []
    /// Entries of the app's own that the new store's metadata get (`NSPersistentStore.metadata`), for keys that follow
    /// a version. Core Data's own keys are refused. A store that has the target version already gets them too.
    public var metadata: [String: MetadataValue] = [:]
    /// Rows in a batch, at most; tables that are rebuilt from pages have other batches.
    public var batchRows = 4_096
    /// Approximate bytes in a batch: it closes at the row that passes this. Tables that are rebuilt from pages have
    /// other batches.
    public var batchBytes = 1 << 20
    /// Worker threads; nil takes one for each core.
    public var jobs: Int?
    /// Bytes that the rows in flight may take: batches shrink, then workers become fewer, until they fit; nil sets no
    /// limit. Pages are used only where they fit, so another limit, or another number of workers under one, may make
    /// the open step start over.
    public var memoryLimit: Int?
    /// What makes tables and indexes: pages of the database file, or SQL statements. Both make the same rows. If other
    /// tables or indexes are made by pages than when the open step was begun, it starts over.
    public var engine = EngineChoice.auto
    /// Runs consecutive steps as one where the result is the same.
    public var fusesSteps = true
    /// What a run does with the unfinished work of an earlier run.
    public var unfinishedWork = UnfinishedWork.resume
    /// Seconds between checkpoints; 0 makes one with every batch. A killed run loses at most this much work.
    public var checkpointInterval = 5.0
    /// zstd's compression level for checkpoints: 1 is fast, 19 is small.
    public var checkpointCompression = 3
    /// How much of the new store is checked before it takes the old one's place.
    public var verification = Verification.quick
    /// Seconds to wait before the swap for programs that read the store; 0 doesn't wait.
    public var swapTimeout = 60.0
    /// Seconds to wait for a store that another program uses, before anything is written; 0 doesn't wait.
    public var busyTimeout = 0.0
    /// Migrates a store that has several names (hard links): the others keep the old store. No program may use them.
    public var allowsHardLinks = false
    /// Lets the new store belong to the user who runs the migration, if it can't be given the old one's owner.
    public var ignoresOwnership = false
    /// Runs without the check that the disk has room for the new store: too little is a warning then. For file systems
    /// that don't say what is free (quotas, compression, network). A run that fills the disk stops, keeps its work and
    /// leaves the store as it is.
    public var ignoresSpace = false

    /// The defaults.
    public init() {}
}
