public import CausewayStores

/// What a store is and what it holds, read without changing a byte of it.
///
/// Names and numbers only: no row's content, and of an app's own metadata the keys without their values.
///
/// ```swift
/// let inspection = try StoreInspection(store: "Library.sqlite", models: "App.xcdatamodeld")
/// print(inspection.versions, inspection.rowCount)
/// ```
public struct StoreInspection: Hashable, Codable, Sendable {
    /// The store's path, links resolved.
    public var store: String
    /// Where the versions were looked up; nil where no models were given.
    public var models: String?
    /// The versions among the models whose hashes are the store's; several if versions differ only in what isn't
    /// stored, none if no models were given or none fits.
    public var versions: [String]
    /// The nearest version, if models were given and none has the store's hashes.
    public var nearest: Nearest?
    /// Whose model the rest was read with.
    public var modelOrigin: ModelOrigin
    /// `NSStoreModelVersionIdentifiers`.
    public var versionIdentifiers: [String]
    /// `NSStoreModelVersionChecksumKey`, or what it would be: older Core Data doesn't write it.
    public var checksum: String
    /// `NSPersistenceFrameworkVersion`: the Core Data that last wrote the store.
    public var frameworkVersion: Int
    /// The store's UUID; object URIs hold it.
    public var uuid: String
    /// Keys that are not Core Data's in the store's metadata, sorted.
    public var appMetadataKeys: [String]
    /// Every entity that the store numbers, in Z_ENT order.
    public var entities: [Entity]
    /// Rows whose `Z_ENT` is NULL or names no entity of their table: a migration refuses them, or leaves them out with
    /// `--bad-rows quarantine`. Without the model, those whose number no entity has.
    public var unknownRows: Int
    /// Tables of many-to-many relationships.
    public var joinTables: [JoinTable]
    /// What else matters for a migration.
    public var features: Features
    /// How large the store is.
    public var sizes: Sizes
    /// Where the `-wal` breaks off; nil where it can be read to its end.
    public var walBreak: WALBreak?
    /// Where the store's tables and metadata don't fit its model; empty where they do.
    public var problems: [String]

    /// Rows of all entities.
    public var rowCount: Int { entities.reduce(0) { $0 + $1.rows } }

    /// A version with the entities in which it differs from the store.
    public struct Nearest: Hashable, Codable, Sendable {
        /// The version's name.
        public var version: String
        /// Entities that only one of the two has or whose hashes differ, sorted.
        public var differences: [String]
    }

    /// The model that tells what the store's tables mean.
    public typealias ModelOrigin = CausewayExamination.ModelOrigin

    /// One entity.
    public struct Entity: Hashable, Codable, Sendable {
        /// The name in the model; the one in Z_PRIMARYKEY where there is no model.
        public var name: String
        /// Z_ENT.
        public var number: Int
        /// The parent's name; nil for a root.
        public var parent: String?
        /// Rows of the entity itself, without its subentities'.
        public var rows: Int
        /// Whether it can't have rows; nil where no model tells.
        public var isAbstract: Bool?
        /// Its own attributes, without inherited ones, by name; nil where no model tells.
        public var attributes: [Attribute]?
        /// Its own relationships, without inherited ones, by name; nil where no model tells.
        public var relationships: [Relationship]?
    }

    /// The table of a many-to-many relationship.
    public struct JoinTable: Hashable, Codable, Sendable {
        /// The table's name.
        public var name: String
        /// `Entity.relationship`; nil where no model tells.
        public var relationship: String?
        /// `Entity.relationship` of the other side; nil where no model tells.
        public var inverse: String?
        /// Rows: one per link.
        public var rows: Int
    }

    /// What a migration must handle.
    public struct Features: Hashable, Codable, Sendable {
        /// The header says WAL, as in every store of today's Core Data.
        public var isWAL: Bool
        /// Rows of persistent history; nil without its tables.
        public var history: History?
        /// Files of externally stored values; nil without their folder.
        public var externalData: ExternalData?
        /// `Entity.attribute`; nil where no model tells.
        public var derivedAttributes: [String]?
        /// Uniqueness constraints as `Entity (a, b)`; nil where no model tells.
        public var uniquenessConstraints: [String]?
        /// R-tree tables.
        public var rTrees: [String]
        /// Whether the store is mirrored to CloudKit.
        public var isCloudKitMirrored: Bool
        /// What the mirror's tables say; nil where the store isn't mirrored.
        public var cloudKit: CloudKitMirror?
        /// Tables, indexes, triggers and views that are the app's own, as `kind name`; nil where no model tells.
        public var appObjects: [String]?
        /// What earlier migrations left behind, as `kind name`; nil where no model tells.
        public var staleObjects: [String]?
        /// Columns that the model doesn't know, as `TABLE.COLUMN`; nil where no model tells.
        public var unknownColumns: [String]?
        /// Core Data has postponed part of a lightweight migration.
        public var hasDeferredMigration: Bool
    }

    /// Persistent history.
    public struct History: Hashable, Codable, Sendable {
        /// Rows of ACHANGE.
        public var changes: Int
        /// Rows of ATRANSACTION.
        public var transactions: Int
    }

    /// The folder of externally stored values.
    public struct ExternalData: Hashable, Codable, Sendable {
        /// Its path.
        public var folder: String
        /// Files in it.
        public var files: Int
        /// Bytes of these files.
        public var bytes: Int
    }

    /// Bytes and pages.
    public struct Sizes: Hashable, Codable, Sendable {
        /// Bytes of the main file.
        public var file: Int
        /// Bytes of the -wal.
        public var wal: Int
        /// Bytes of a page.
        public var pageSize: Int
        /// Pages of the database, those in the -wal included.
        public var pages: Int
        /// Pages that hold nothing.
        public var freePages: Int
        /// Pages of pointer maps, by which SQLite returns free pages to the system; 0 without them.
        public var pointerMapPages: Int
        /// Every table and index, the schema's own table included, the largest first; nil unless asked for, or where
        /// ``objectsProblem`` says why not.
        public var objects: [ObjectSize]?
        /// Why the sizes of tables and indexes aren't known though they were asked for.
        public var objectsProblem: String?
    }
}
