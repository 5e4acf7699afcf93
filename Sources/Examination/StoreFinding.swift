/// Something that is wrong with a store, or worth knowing: names and keys, never content.
package struct StoreFinding: Hashable, Sendable {
    /// What kind of trouble it is; the raw values are used in JSON and stay the same over releases.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// SQLite finds pages, rows or indexes damaged.
        case structure
        /// A table or column doesn't fit the model.
        case schema
        /// Z_METADATA contradicts itself.
        case metadata
        /// Z_MODELCACHE can't be read, or isn't the metadata's model.
        case modelCache
        /// None of the models' versions is the store's.
        case version
        /// Z_PRIMARYKEY doesn't fit the rows.
        case primaryKeys
        /// Rows of an entity that their table doesn't have.
        case unknownEntity
        /// A to-one leads to a row that isn't there.
        case dangling
        /// A to-one's entity number isn't that of its target row.
        case entityNumber
        /// A link of a join table lacks one of its rows.
        case joinEnd
        /// A one-to-one has no link back.
        case asymmetric
        /// A value isn't of the storage class, or the form, of its attribute's type.
        case storageClass
        /// A text isn't valid UTF-8.
        case invalidText
        /// A number or date is outside what its attribute's type takes.
        case outOfRange
        /// A mandatory attribute or to-one is NULL.
        case missingValue
        /// Duplicate values under a uniqueness constraint.
        case notUnique
        /// A value's file isn't there, or the value is no valid reference.
        case externalData
        /// The -wal breaks off although there is more of it.
        case walBreak
        /// Files that no value refers to.
        case unreferencedFiles
        /// Something couldn't be checked.
        case notChecked

        /// How bad it is: whether Core Data would read something other than was written.
        package var severity: Severity {
            switch self {
            case .structure, .schema, .metadata, .modelCache, .unknownEntity, .entityNumber, .storageClass,
                .invalidText, .externalData:
                .damage
            case .version, .primaryKeys, .dangling, .joinEnd, .asymmetric, .outOfRange, .missingValue, .notUnique,
                .walBreak:
                .inconsistency
            case .unreferencedFiles, .notChecked: .note
            }
        }
    }

    /// The raw values are used in JSON and stay the same over releases.
    package enum Severity: String, Hashable, Sendable, CaseIterable {
        /// Something is lost, or can't be read as the model says.
        case damage
        /// Core Data opens and reads it, but it breaks a rule of the model or of Core Data's. Apps tolerate such rows.
        case inconsistency
        /// Nothing is wrong.
        case note
    }

    package var kind: Kind
    package var severity: Severity { kind.severity }
    package var entity: String?
    package var property: String?
    /// One sentence that names the place.
    package var message: String
    /// How many rows it is about; 0 if it isn't about rows.
    package var rows: Int
    /// Keys of the first of them.
    package var keys: [Int64]

    package init(
        _ kind: Kind, entity: String? = nil, property: String? = nil, _ message: String, rows: Int = 0,
        keys: [Int64] = []
    ) {
        self.kind = kind
        self.entity = entity
        self.property = property
        self.message = message
        self.rows = rows
        self.keys = keys
    }
}
