public import CausewayExamination
public import CausewayStores

/// What is wrong with a store, found by reading it without changing a byte of it.
///
/// It looks for what a damaged disk, a crash of another program or an app's own SQL can leave behind:
///
/// - the structure of the database, its metadata, the store's own model, Z_PRIMARYKEY, entity numbers;
/// - every value against its attribute: its storage class, valid UTF-8, numbers and dates that the type takes, missing
///   mandatory values, duplicate unique values;
/// - dangling links, one-sided one-to-ones, files of external storage.
///
/// A finding is ``StoreFinding/Severity/damage``, or an ``StoreFinding/Severity/inconsistency`` that apps tolerate.
/// What isn't wrong but worth knowing is a ``StoreFinding/Severity/note``. ``verdict`` sums them up.
///
/// SQLite keeps no checksums: one valid value that turned into another can't be found in a single store. (A migration
/// compares source and new store cell by cell: see ``MigrationOptions``.)
///
/// Entities, properties and keys are named, never a row's content.
///
/// ```swift
/// let verification = try StoreVerification(store: "Library.sqlite", models: "App.xcdatamodeld")
/// for finding in verification.findings { print(finding.message) }
/// ```
public struct StoreVerification: Hashable, Codable, Sendable {
    /// The store's path, links resolved.
    public var store: String
    /// Where the versions were looked up; nil where no models were given.
    public var models: String?
    /// The versions among the models whose hashes are the store's; several if versions differ only in what isn't
    /// stored, none if no models were given or none fits.
    public var versions: [String]
    /// Whose model the rows were examined with; if it is unknown, they weren't examined.
    public var modelOrigin: StoreInspection.ModelOrigin
    /// Whether indexes were compared with their tables' rows too, the slowest part on large stores.
    public var comparedIndexes: Bool
    /// Rows of all entities.
    public var rowCount: Int
    /// The verdict on the findings.
    public let verdict: Verdict
    /// Where the `-wal` breaks off; nil where it can be read to its end.
    public var walBreak: WALBreak?
    /// What is wrong; empty for a sound store.
    public var findings: [Finding]
    /// What isn't wrong but worth knowing: files without a reference, checks that couldn't be made.
    public var notes: [Finding]

    /// Whether the rows were examined and nothing is wrong.
    public var isSound: Bool { verdict == .sound }

    /// The verdict on a store's findings, the worst first.
    public enum Verdict: String, Hashable, Codable, Sendable, CaseIterable {
        /// At least one finding is damage.
        case damaged
        /// No damage was found, but the rows couldn't be examined: there was no model of the store's version.
        case notExamined
        /// Rows break rules of the model or of Core Data in ways that apps tolerate.
        case inconsistent
        /// Nothing is wrong.
        case sound
    }

    /// How bad a finding is.
    public typealias Severity = StoreFinding.Severity
    /// One thing that was found.
    public typealias Finding = StoreFinding
    /// Kinds of trouble.
    public typealias Kind = StoreFinding.Kind
}
