/// Something that is wrong with a store, or worth knowing: names and keys, never content.
package struct StoreFinding: Hashable, Sendable {
    /// What kind of trouble it is; the raw values stand in JSON and stay the same over releases.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// SQLite finds pages, rows or indexes damaged.
        case structure
        /// A table or column isn't what the model asks for.
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
        /// A to-one's entity number isn't that of the row to which it leads.
        case entityNumber
        /// A link of a join table lacks one of its rows.
        case joinEnd
        /// A one-to-one isn't led back.
        case asymmetric
        /// A mandatory attribute or to-one is NULL.
        case missingValue
        /// Values that a uniqueness constraint wants only once.
        case notUnique
        /// A value's file isn't there, or the value is no valid reference.
        case externalData
        /// Files that no value refers to.
        case unreferencedFiles
        /// Something couldn't be asked.
        case notChecked
    }

    package var kind: Kind
    package var entity: String?
    package var property: String?
    /// One sentence that names the place.
    package var message: String
    /// How many rows are concerned; 0 where it isn't about rows.
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
