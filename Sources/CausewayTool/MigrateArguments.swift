public import ArgumentParser
import Causeway

/// What `plan` and `migrate` have in common, so that a plan becomes a migration by changing one word.
public struct MigrateArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The store's main file. With several stores, options that name one file take a folder.", valueName: "store"),
        completion: .file())
    var stores: [String]

    /// The first store, mostly the only one.
    var store: String { stores[0] }

    @Option(
        help: ArgumentHelp(
            """
            The model's versions: an .xcdatamodeld, .xcdatamodel, .momd or .mom, or a store that has the version; may be \
            given several times.
            """,
            valueName: "models"),
        completion: .file())
    var models: [String]

    @Option(
        name: .customLong("to"),
        help: ArgumentHelp(
            "The version to reach: a model's name, its version identifier or its checksum. (default: the current one)",
            valueName: "version"))
    var target: String?

    @Option(
        help: ArgumentHelp(
            "Version B follows A, though it isn't next in order; may be given several times.",
            valueName: "A=B"))
    var next: [VersionEdge] = []

    @Option(
        name: .customLong("mapping"),
        help: ArgumentHelp(
            "A mapping model (.xcmappingmodel or .cdm), besides those next to the models; may be given several times.",
            valueName: "file"),
        completion: .file())
    var mappingModels: [String] = []

    @Flag(
        name: .customLong("infer"),
        help: "Infer a step if the mapping model for it, found next to the models, doesn't match.")
    var infersDespiteMismatch = false

    @Option(
        help: ArgumentHelp(
            """
            What to do with rows that break a rule of the new model: stop, default (use the attribute's default \
            value) or reject (leave the row out).
            """,
            valueName: "action"))
    var onViolation = OnViolation.stop

    @Option(
        help: ArgumentHelp(
            """
            What to do with source rows that can't be migrated: fail, or quarantine (leave them out and write them to \
            the --rejects file).
            """,
            valueName: "action"))
    var badRows = MigrationOptions.BadRows.fail

    @Flag(
        help: """
            End links of a relationship that leads to another entity now, where its old objects can't stay in it.
            """)
    var endLinks = false

    @Option(
        name: .customLong("origin"),
        help: ArgumentHelp(
            """
            What an entity or property continues, where the plan asks: Entity=OldName, Entity.property=oldName, or nothing \
            after the sign for one that is new; may be given several times.
            """,
            valueName: "place=name"))
    var origins: [ElementOrigin] = []

    @Flag(
        name: .customLong("drop-other-models"),
        help: """
            Drop the rows of entities that no given model has, where the store looks like a given version merged with \
            another model.
            """)
    var dropOtherModels = false

    @Option(
        name: .customLong("cloudkit"),
        help: ArgumentHelp(
            """
            What to do with a store that CloudKit mirrors: refuse, or carry (inferred steps only, with the mirror's own \
            tables; entities' numbers in them follow).
            """,
            valueName: "action"))
    var cloudKit = MigrationOptions.CloudKit.refuse

    @Option(
        help: ArgumentHelp(
            """
            File for rejected and quarantined rows, one JSON object per line; needed with --on-violation reject and \
            --bad-rows quarantine.
            """,
            valueName: "file"),
        completion: .file())
    var rejects: String?

    @Option(
        help: ArgumentHelp(
            "Write the old and the new URI of every object whose key changes.", valueName: "file"),
        completion: .file())
    var keyMap: String?

    @Option(
        help: ArgumentHelp(
            "The NSPersistenceFrameworkVersion of the new store's layout. (default: the old "
                + "store's)", valueName: "number"))
    var frameworkVersion: Int?

    @Option(
        help: ArgumentHelp(
            """
            A store that Core Data wrote for the target version, or a folder with one; it settles names that a model \
            leaves open.
            """,
            valueName: "store|folder"),
        completion: .file())
    var schemaTemplate: String?

    @Option(
        name: .customLong("join-table"),
        help: ArgumentHelp(
            """
            The name of a join table as seen in a store of the target version, where the model leaves it open; may be \
            given several times.
            """,
            valueName: "name"))
    var joinTables: [String] = []

    @Option(
        name: .customLong("set-metadata"),
        help: ArgumentHelp(
            """
            Set a key of the app's own in the new store's metadata; may be given several times. The value is an integer, \
            a real, true or false, or else a string; string:, int:, real: or bool: in front says which.
            """,
            valueName: "key=value"),
        transform: MetadataEntry.init(parsing:))
    var metadata: [MetadataEntry] = []

    @Option(help: ArgumentHelp("Most rows in a batch.", valueName: "rows"))
    var batchSize = MigrationOptions().batchRows

    @Option(help: ArgumentHelp("Approximate bytes in a batch; K, M and G are units.", valueName: "bytes"))
    var batchBytes = ByteCount(bytes: MigrationOptions().batchBytes)

    @Option(help: ArgumentHelp("Worker threads. (default: one per core)", valueName: "threads"))
    var jobs: Int?

    @Option(
        help: ArgumentHelp(
            """
            Memory for rows in flight, in bytes; batches shrink, then workers become fewer, until they fit. (default: \
            no limit)
            """,
            valueName: "bytes"))
    var memoryLimit: ByteCount?

    @Option(
        help: ArgumentHelp(
            """
            Make tables and indexes by pages of the database file where the store's form allows it (auto, pages), or \
            all by SQL statements (statements); the rows are the same. --batch-size and --batch-bytes have no effect \
            on tables that are made by pages.
            """,
            valueName: EngineChoice.allCases.map(\.rawValue).joined(separator: "|")))
    var engine = EngineChoice.auto

    @Flag(help: "Write a complete store for every step, even where steps can run as one.")
    var noFuse = false

    /// For the argument parser.
    public init() {}

    /// Refuses values that make no sense.
    ///
    /// - Throws: `ValidationError`, which exits with 64.
    public func validate() throws {
        _ = try next.edges()
        _ = try metadata.entries()
        guard MigrationOptions.batchRowCounts.contains(batchSize) else {
            throw ValidationError("--batch-size must be \(MigrationOptions.batchRowCounts.inWords) rows.")
        }
        guard MigrationOptions.batchByteCounts.contains(batchBytes.bytes) else {
            throw ValidationError("--batch-bytes must be \(MigrationOptions.batchByteCounts.inWords) bytes.")
        }
        if let jobs, !MigrationOptions.jobCounts.contains(jobs) {
            throw ValidationError("--jobs must be \(MigrationOptions.jobCounts.inWords) threads.")
        }
        try checkRejects()
        if let frameworkVersion, frameworkVersion < 1 {
            throw ValidationError("--framework-version must be a positive number, for example 1145.")
        }
    }

    private func checkRejects() throws {
        if onViolation == .reject, rejects == nil {
            throw ValidationError("--on-violation reject needs --rejects: rejected rows must not be lost.")
        }
        if badRows == .quarantine, rejects == nil {
            throw ValidationError("--bad-rows quarantine needs --rejects: quarantined rows must not be lost.")
        }
        if onViolation != .reject, badRows != .quarantine, rejects != nil {
            throw ValidationError(
                "--rejects needs --on-violation reject or --bad-rows quarantine; give one of them too.")
        }
    }

    /// The migration that the arguments describe, with the other `options`.
    func migrator(_ options: MigrationOptions = MigrationOptions()) throws -> Migrator {
        var options = options
        options.target = target
        options.next = try next.edges()
        options.frameworkVersion = frameworkVersion
        options.schemaTemplate = schemaTemplate
        options.joinTables = joinTables
        options.metadata = try metadata.entries()
        options.batchRows = batchSize
        options.batchBytes = batchBytes.bytes
        options.jobs = jobs
        options.memoryLimit = memoryLimit?.bytes
        options.engine = engine
        options.fusesSteps = !noFuse
        options.mappingModels = mappingModels
        options.infersDespiteMismatch = infersDespiteMismatch
        options.onViolation = onViolation
        options.badRows = badRows
        options.endsLinks = endLinks
        options.dropsOtherModels = dropOtherModels
        options.origins = Dictionary(origins.map { ($0.place, $0.origin) }, uniquingKeysWith: { $1 })
        options.cloudKit = cloudKit
        options.rejects = rejects
        options.keyMap = keyMap
        return Migrator(store: store, models: models, options: options, code: RegisteredCode.code)
    }
}

extension ClosedRange<Int> {
    /// `1 to 1,000,000`
    var inWords: String { "\(Figures.grouped(lowerBound)) to \(Figures.grouped(upperBound))" }
}
