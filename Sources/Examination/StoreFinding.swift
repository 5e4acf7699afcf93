import CausewayStores

/// Something that is wrong with a store, or worth knowing: names and keys, never content.
public struct StoreFinding: Hashable, Codable, Sendable {
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

    package init(
        _ kind: Kind, entity: String? = nil, property: String? = nil, _ message: String, rows: Int = 0,
        keys: [Int64] = []
    ) {
        self.kind = kind
        severity = kind.severity
        self.entity = entity
        self.property = property
        self.message = message
        rowCount = rows
        self.keys = keys
    }

    /// A finding about rows: `Entity.property holds … in 2 rows (p1, p2)`.
    init(_ kind: Kind, _ entity: String, _ property: String?, _ complaint: String, _ rows: FoundRows) {
        let place = property.map { "\(entity).\($0)" } ?? entity
        self.init(
            kind, entity: entity, property: property, "\(place) \(complaint) in \(rows.described)", rows: rows.count,
            keys: rows.keys)
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
        /// SQLite finds pages that nobody uses, or the lists of such pages are wrong: all rows are there.
        public static let space = Kind(rawValue: "space")
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
        /// A row of CloudKit's mirror names an entity that the model doesn't have.
        public static let cloudKit = Kind(rawValue: "cloudKit")
        /// A value's file is missing, or the value isn't a valid reference to one.
        public static let externalData = Kind(rawValue: "externalData")
        /// The `-wal` can't be read to its end.
        public static let walBreak = Kind(rawValue: "walBreak")
        /// A note: files to which no value refers.
        public static let unreferencedFiles = Kind(rawValue: "unreferencedFiles")
        /// A note: something couldn't be checked.
        public static let notChecked = Kind(rawValue: "notChecked")

        /// How bad it is: whether Core Data would read something other than was written.
        package var severity: Severity {
            if Self.damage.contains(self) { return .damage }
            return Self.notes.contains(self) ? .note : .inconsistency
        }

        private static let damage: Set = [
            structure, schema, metadata, modelCache, unknownEntity, entityNumber, storageClass, invalidText,
            externalData,
        ]
        private static let notes: Set = [unreferencedFiles, notChecked]
    }
}
