/// One unit of a staged migration: what `NSMigrationStage` is. There are two kinds, `LightweightMigrationStage` and
/// `CustomMigrationStage`; no other type need conform.
public protocol MigrationStage: Sendable {
    /// The stage's name in plans, events and errors.
    var label: String? { get set }
    /// The stage as one of the two kinds.
    var kind: MigrationStageKind { get }
}

/// The two kinds of stages.
public enum MigrationStageKind: Sendable {
    /// Versions whose mappings are inferred.
    case lightweight(LightweightMigrationStage)
    /// Two versions with code before and after.
    case custom(CustomMigrationStage)

    /// The stage's versions, in their order.
    package var versions: [ManagedObjectModelReference] {
        switch self {
        case .lightweight(let stage): stage.versions
        case .custom(let stage): [stage.currentModel, stage.nextModel]
        }
    }
}

/// Versions that follow each other by inferred mappings: what `NSLightweightMigrationStage` is.
///
/// Every hop from one version to the next runs; Core Data jumps from the first to the last. The hop into the stage's
/// first version, from the last one of the stage before, is inferred too.
public struct LightweightMigrationStage: MigrationStage {
    /// The stage's name in plans, events and errors.
    public var label: String?
    /// The versions in their order.
    public let versions: [ManagedObjectModelReference]

    /// The stage as one of the two kinds.
    public var kind: MigrationStageKind { .lightweight(self) }

    /// A stage of versions in their order.
    ///
    /// - Parameters:
    ///   - versions: at least one.
    ///   - label: the stage's name in plans, events and errors.
    public init(_ versions: [ManagedObjectModelReference], label: String? = nil) {
        self.versions = versions
        self.label = label
    }

    /// A stage of versions in their order.
    ///
    /// - Parameters:
    ///   - versions: names or checksums, at least one.
    ///   - label: the stage's name in plans, events and errors.
    public init(_ versions: [String], label: String? = nil) {
        self.init(versions.map { ManagedObjectModelReference($0) }, label: label)
    }
}

/// One hop with code before and after it: what `NSCustomMigrationStage` is. The step's mapping makes the hop itself;
/// without one it is inferred.
///
/// ```swift
/// var stage = CustomMigrationStage(migratingFrom: "Model 2", to: "Model 3")
/// stage.label = "Users get pets of their own"
/// stage.didMigrateHandler = { manager, stage in
///     try manager.context.forEach(FetchRequest("User")) { user in
///         let pet = try manager.context.insert("Pet")
///         try pet.set("name", to: user.string("name"))
///         try user.set("pet", to: pet)
///     }
/// }
/// ```
///
/// A handler may run more than once for the same store: after an interruption it starts again with the rows as they
/// were before. It should not keep state outside the store that a second run would break.
public struct CustomMigrationStage: MigrationStage {
    /// Code at one of the stage's versions.
    public typealias Handler = @Sendable (StagedMigrationManager, CustomMigrationStage) throws -> Void

    /// The stage's name in plans, events and errors.
    public var label: String?
    /// The version that the stage begins with.
    public let currentModel: ManagedObjectModelReference
    /// The version that the stage ends with.
    public let nextModel: ManagedObjectModelReference
    /// Raise it whenever you change what the handlers do: unfinished work of another revision isn't resumed.
    public var revision = 1
    /// Called on the store at `currentModel`, before the hop.
    public var willMigrateHandler: Handler?
    /// Called on the store at `nextModel`, after the hop.
    public var didMigrateHandler: Handler?

    /// The stage as one of the two kinds.
    public var kind: MigrationStageKind { .custom(self) }

    /// A stage from one version to the next.
    ///
    /// - Parameters:
    ///   - current: the version that the stage begins with.
    ///   - next: the version that it ends with.
    ///   - label: the stage's name in plans, events and errors.
    ///   - willMigrate: called before the hop.
    ///   - didMigrate: called after the hop.
    public init(
        migratingFrom current: ManagedObjectModelReference, to next: ManagedObjectModelReference,
        label: String? = nil, willMigrate: Handler? = nil, didMigrate: Handler? = nil
    ) {
        currentModel = current
        nextModel = next
        self.label = label
        willMigrateHandler = willMigrate
        didMigrateHandler = didMigrate
    }
}
