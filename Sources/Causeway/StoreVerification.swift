import CausewayStores

/// What is wrong with a store, found by reading it without changing a byte of it.
///
/// It looks for what a damaged disk, a crash of another program or an app's own SQL can leave behind:
///
/// - the structure of the database, its metadata, the store's own model, Z_PRIMARYKEY, entity numbers;
/// - every value against its attribute: its storage class, valid UTF-8, numbers and dates that the type takes, missing
///   mandatory values, duplicate unique values;
/// - dangling links, one-sided one-to-ones, files of external storage.
///
/// A finding is ``Severity/damage``, or an ``Severity/inconsistency`` that apps tolerate. What isn't wrong but worth
/// knowing is a ``Severity/note``. ``verdict`` sums them up.
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
    public private(set) var verdict: Verdict
    /// Where the `-wal` breaks off; nil where it can be read to its end.
    public var walBreak: WALBreak?
    /// What is wrong; empty for a sound store.
    public var findings: [Finding]
    /// What isn't wrong but worth knowing: files without a reference, checks that couldn't be made.
    public var notes: [Finding]

    /// Whether the rows were examined and nothing is wrong.
    public var isSound: Bool { verdict == .sound }

    init(
        store: String, models: String?, versions: [String], modelOrigin: StoreInspection.ModelOrigin,
        comparedIndexes: Bool, rowCount: Int, walBreak: WALBreak?, findings: [Finding], notes: [Finding]
    ) {
        self.store = store
        self.models = models
        self.versions = versions
        self.modelOrigin = modelOrigin
        self.comparedIndexes = comparedIndexes
        self.rowCount = rowCount
        self.walBreak = walBreak
        self.findings = findings
        self.notes = notes
        verdict =
            if findings.contains(where: { $0.severity == .damage }) {
                .damaged
            } else if modelOrigin == .unknown {
                .notExamined
            } else {
                findings.isEmpty ? .sound : .inconsistent
            }
    }

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

    /// How bad a finding is. New ones may come: treat an unknown one as damage.
    public struct Severity: RawRepresentable, Hashable, Codable, Sendable {
        /// The name, stable over releases.
        public let rawValue: String

        /// A severity by its name.
        ///
        /// - Parameter rawValue: the name; any text is taken.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Something is lost, or can't be read as the model says.
        public static let damage = Severity(rawValue: "damage")
        /// Core Data opens and reads it, but it breaks a rule of the model or of Core Data's. Apps tolerate such rows.
        public static let inconsistency = Severity(rawValue: "inconsistency")
        /// Nothing is wrong.
        public static let note = Severity(rawValue: "note")
    }

    /// One thing that was found.
    public struct Finding: Hashable, Codable, Sendable {
        /// What kind of trouble it is.
        public var kind: Kind
        /// How bad it is.
        public var severity: Severity
        /// The entity; nil if the finding isn't about one.
        public var entity: String?
        /// The attribute or relationship, or the properties of a uniqueness constraint; nil if the finding isn't about
        /// one.
        public var property: String?
        /// One sentence that names place and keys.
        public var message: String
        /// How many rows it is about; 0 if it isn't about rows.
        public var rowCount: Int
        /// Z_PK of the first of them, at most 20; for a join table the keys without a row.
        public var keys: [Int64]
    }

    /// Kinds of trouble. New kinds may come: treat an unknown one as trouble.
    public struct Kind: RawRepresentable, Hashable, Codable, Sendable {
        /// The name, stable over releases.
        public let rawValue: String

        /// A kind by its name.
        ///
        /// - Parameter rawValue: the name; any text is taken.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// SQLite finds pages, rows or indexes damaged.
        public static let structure = Kind(rawValue: "structure")
        /// A table or column doesn't fit the model.
        public static let schema = Kind(rawValue: "schema")
        /// Z_METADATA contradicts itself.
        public static let metadata = Kind(rawValue: "metadata")
        /// The store's own model can't be read, or isn't the one in its metadata.
        public static let modelCache = Kind(rawValue: "modelCache")
        /// None of the given versions is the store's.
        public static let version = Kind(rawValue: "version")
        /// Z_PRIMARYKEY doesn't fit the rows.
        public static let primaryKeys = Kind(rawValue: "primaryKeys")
        /// Rows of an entity that their table doesn't have.
        public static let unknownEntity = Kind(rawValue: "unknownEntity")
        /// A to-one leads to a row that isn't there.
        public static let dangling = Kind(rawValue: "dangling")
        /// A to-one's entity number isn't that of its target row.
        public static let entityNumber = Kind(rawValue: "entityNumber")
        /// A link of a join table lacks one of its rows.
        public static let joinEnd = Kind(rawValue: "joinEnd")
        /// A one-to-one has no link back.
        public static let asymmetric = Kind(rawValue: "asymmetric")
        /// A value isn't of the storage class, or the form, of its attribute's type.
        public static let storageClass = Kind(rawValue: "storageClass")
        /// A text isn't valid UTF-8.
        public static let invalidText = Kind(rawValue: "invalidText")
        /// A number or date is outside what its attribute's type takes.
        public static let outOfRange = Kind(rawValue: "outOfRange")
        /// A mandatory attribute or to-one is NULL.
        public static let missingValue = Kind(rawValue: "missingValue")
        /// Duplicate values under a uniqueness constraint.
        public static let notUnique = Kind(rawValue: "notUnique")
        /// A value's file is missing, or the value isn't a valid reference to one.
        public static let externalData = Kind(rawValue: "externalData")
        /// The `-wal` can't be read to its end.
        public static let walBreak = Kind(rawValue: "walBreak")
        /// A note: files to which no value refers.
        public static let unreferencedFiles = Kind(rawValue: "unreferencedFiles")
        /// A note: something couldn't be checked.
        public static let notChecked = Kind(rawValue: "notChecked")
    }
}
