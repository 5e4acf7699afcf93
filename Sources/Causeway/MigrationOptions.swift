/// How a migration runs. Nothing here changes the rows that result but `target`, `next`, `frameworkVersion` and
/// `schemaTemplate`; the rest is speed and memory.
public struct MigrationOptions: Hashable, Sendable {
    /// Where the new store goes; nil puts it in the source's place and keeps the original as a backup.
    public var output: String?
    /// The version to reach: a model's name, its version identifier or its checksum; nil is the bundle's current version.
    public var target: String?
    /// Which version follows which, where it isn't the neighbour: jumps, and detours around a broken version.
    public var next: [String: String] = [:]
    /// The `NSPersistenceFrameworkVersion` whose layout is written; nil keeps the source's.
    public var frameworkVersion: Int?
    /// A store that Core Data wrote for the target version; settles what a model leaves open (names of join tables).
    public var schemaTemplate: String?
    /// Rows in a batch, at most.
    public var batchRows = 4_096
    /// Bytes in a batch, about: it closes at the row that passes this.
    public var batchBytes = 1 << 20
    /// Worker threads; nil takes one for each core.
    public var jobs: Int?
    /// Runs consecutive steps as one where the result is the same.
    public var fusesSteps = true

    /// The defaults.
    public init() {}
}
