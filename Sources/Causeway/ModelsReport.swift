/// The versions of a model, their hashes, and what each step from one to the next would do.
///
/// ```swift
/// let report = try ModelsReport(models: "App.xcdatamodeld")
/// for step in report.steps where !step.isInferable { print(step.from, step.to, step.refusals) }
/// ```
public struct ModelsReport: Hashable, Codable, Sendable {
    /// The bundle's path; several with commas between.
    public var models: String
    /// The version that the bundle calls its current one; the last where it names none.
    public var currentVersion: String
    /// Every version, in the order in which they follow each other.
    public var versions: [Version]
    /// Each version that another one follows, with the step to that one.
    public var steps: [Step]
    /// Problems of the bundle, one sentence each.
    public var notices: [String]
    /// Every mapping model that was given, written in Swift or found beside the models; nil unless asked for.
    public var mappings: [Mapping]?

    /// One version.
    public struct Version: Hashable, Codable, Sendable {
        /// The model's name.
        public var name: String
        /// The path of its file.
        public var file: String?
        /// Whether it is the bundle's current version.
        public var isCurrent: Bool
        /// `versionIdentifiers` of the model.
        public var versionIdentifiers: [String]
        /// Every entity's version hash in base64, abstract ones included.
        public var entityHashes: [String: String]
        /// `versionChecksum`: one text for all hashes, which tells versions apart; empty where the model can't be read.
        public var checksum: String
        /// `NSStoreModelVersionHashesDigest`; empty where the model can't be read.
        public var digest: String
        /// Entities whose hash depends on a rule that no real store has confirmed yet.
        public var unverifiedEntities: [String]
        /// Why the version can't be read; nil where it can.
        public var error: String?

        /// Entities of the version.
        public var entityCount: Int { entityHashes.count }
    }

    /// From one version to the one that follows it.
    public struct Step: Hashable, Codable, Sendable {
        /// The version before.
        public var from: String
        /// The version after.
        public var to: String
        /// The hashes are the same: a store needs no migration.
        public var isEqual = false
        /// Whether the mapping can be inferred, as in a lightweight migration.
        public var isInferable = false
        /// What the rows of a store must fulfil where the mapping can be inferred: one sentence each that begins with
        /// “if”. `plan` checks the rows of a store.
        public var conditions: [String] = []
        /// Why it can't, all reasons at once.
        public var refusals: [String] = []
        /// Entities that are new.
        public var addedEntities: [String] = []
        /// Entities that are gone.
        public var removedEntities: [String] = []
        /// Entities with another name. If the mapping can't be inferred, they are listed as added and removed.
        public var renamedEntities: [Renaming] = []
        /// Entities with the same name and another hash.
        public var changedEntities: [String] = []
        /// Attributes whose numeric type changes and whose values are converted:
        /// `Thing.count: Integer 32 → Integer 64`.
        public var conversions: [String] = []
        /// What changes in every entity and property, also where the mapping can't be inferred. If mapping models were
        /// asked for, what those that fit do, too.
        public var changes: [ModelChange] = []
        /// Why the step isn't compared: one of its versions can't be read.
        public var error: String?
    }

    /// A mapping model and what it is for.
    public struct Mapping: Hashable, Codable, Sendable {
        /// The mapping model's name.
        public var name: String
        /// Its path; nil for one that is written in Swift.
        public var path: String?
        /// Where it comes from.
        public var origin: Origin
        /// The steps that it fits; several if it can't tell versions apart.
        public var fits: [Edge] = []
        /// The versions that it was compared with, if it fits none: those that it names, or else the nearest.
        public var nearest: String?
        /// Why it fits none, or why it can't be read.
        public var differences: [String] = []
        /// The mapping model for people: entity mappings in their order, under each its properties.
        public var lines: [String] = []

        /// Where a mapping model comes from.
        public enum Origin: String, Hashable, Codable, Sendable {
            /// Written in Swift and registered.
            case code
            /// Named by the caller.
            case given
            /// Found beside the models, in their bundle or in a folder below.
            case found
        }

        /// From one version to another.
        public struct Edge: Hashable, Codable, Sendable {
            /// The version before.
            public var from: String
            /// The version after.
            public var to: String
        }
    }

    /// An entity's two names.
    public struct Renaming: Hashable, Codable, Sendable {
        /// The name before.
        public var from: String
        /// The name after.
        public var to: String
    }
}
