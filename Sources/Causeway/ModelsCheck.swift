/// Whether a model's versions are as they must be before a change of them is merged: what has shipped is untouched, and
/// every store can be migrated.
///
/// ```swift
/// let check = try ModelsCheck(models: ["App.xcdatamodeld"], shipped: "shipped.json")
/// for problem in check.problems { print(problem.message) }
/// ```
public struct ModelsCheck: Hashable, Codable, Sendable {
    /// The models' paths.
    public var models: [String]
    /// The path of the record of shipped versions.
    public var shipped: String
    /// The version that the app opens.
    public var currentVersion: String
    /// Versions in the record.
    public var recorded: [String]
    /// Versions that the record doesn't have, in their order: those of the next release.
    public var unrecorded: [String]
    /// Everything that is wrong; empty where the check has passed.
    public var problems: [Problem]
    /// What is worth knowing.
    public var notices: [String]

    /// Something that is wrong.
    public struct Problem: Hashable, Codable, Sendable {
        /// What is wrong.
        public var kind: Kind
        /// One sentence.
        public var message: String
        /// Every single reason, where there are several.
        public var details: [String] = []
        /// The version that it is about; of a step the one before.
        public var version: String?
        /// Of a step: the version after.
        public var nextVersion: String?
        /// The entity that was edited.
        public var entity: String?
        /// The file to look into; nil where there is none.
        public var file: String?
        /// The line in it, counted from 1.
        public var line: Int?

        /// What can be wrong. New kinds may come.
        public enum Kind: String, Hashable, Codable, Sendable {
            /// An entity of a version that has shipped is another one than then, is new in it, or is gone from it.
            case shippedVersionEdited
            /// A version that has shipped isn't among the models any more.
            case shippedVersionRemoved
            /// A version can't be read.
            case version
            /// A step can't be inferred, and no mapping model can be used for it.
            case step
            /// A mapping model fits no two versions, or can't be read.
            case mappingModel
            /// A store can't be migrated to the current version.
            case store
        }
    }
}

/// What ``ShippedModels/record(models:next:at:replacing:)`` has done.
public struct ShippedModelsRecording: Hashable, Codable, Sendable {
    /// The record's path.
    public var shipped: String
    /// Versions that are new in the record.
    public var added: [String] = []
    /// Versions that it had before.
    public var unchanged: [String] = []
    /// Versions whose hashes were replaced, or which were removed, because the caller asked for it.
    public var replaced: [String] = []
    /// Why nothing was written: shipped versions that were edited or removed, and versions that can't be read.
    public var problems: [ModelsCheck.Problem] = []
}
