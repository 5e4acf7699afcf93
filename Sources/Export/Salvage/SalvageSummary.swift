public import CausewayExamination

/// What was read from a damaged store, and what wasn't.
public struct SalvageSummary: Hashable, Codable, Sendable {
    /// The store's path, links resolved.
    public var store: String
    /// Where the versions were looked up; nil where no models were given.
    public var models: String?
    /// The version whose model was used; nil for the store's own.
    public var version: String?
    /// Whose model the rows were read with.
    public var modelOrigin: ModelOrigin
    /// The folder that was written.
    public var output: String
    /// How it was written.
    public var format: ExportFormat
    /// Pages of the database.
    public var pages: Int
    /// Entities with rows, or in damaged tables, in Z_ENT order.
    public var entities: [Entity] = []
    /// Tables of which something couldn't be read.
    public var damage: [Damage] = []
    /// Tables of many-to-many relationships.
    public var links: [Links] = []
    /// Rows in leaves that no tree reaches, and in free pages, that fit no table, or more than one, or aren't whole.
    public var unmatchedRows = 0
    /// Rows in free pages of objects that were read elsewhere: older copies, left out.
    public var olderCopies = 0
    /// Files of externally stored values that were copied.
    public var externalFiles = 0
    /// What else is worth knowing.
    public var warnings: [String] = []

    /// Rows of all entities, without those that are written apart.
    public var rowCount: Int { entities.reduce(0) { $0 + $1.rows } }

    /// One entity.
    public struct Entity: Hashable, Codable, Sendable {
        /// The name in the model.
        public var name: String
        /// Whole rows that were written, recovered ones included.
        public var rows = 0
        /// Those of them from leaves that no tree reaches.
        public var recovered = 0
        /// Whole rows from free pages, written apart.
        public var deleted = 0
        /// Whole rows outside of free pages whose key another row had already, and that hold something else, written
        /// apart: older copies, or rows whose own key is damaged.
        public var copies = 0
        /// Rows outside of free pages that were left out: one with their key and content was written. Old frames of a
        /// `-wal` hold the same rows again and again.
        public var identicalCopies = 0
        /// Rows that aren't whole, written apart: the file ends inside of them, or their overflow chain breaks. Those
        /// of a table's tree are among its broken rows, too.
        public var incomplete = 0
        /// The file with the rows; nil where there are none.
        public var file: String?
        /// The file with the deleted rows; nil where there are none.
        public var deletedFile: String?
        /// The file with the rows whose keys came before; nil where there are none.
        public var copiesFile: String?
        /// The file with the rows that aren't whole; nil where there are none.
        public var incompleteFile: String?

        init(_ name: String) { self.name = name }
    }

    /// What couldn't be read of a table.
    public struct Damage: Hashable, Codable, Sendable {
        /// The table's name.
        public var table: String
        /// The root entity whose rows, and subentities' rows, it has; nil for a table of links.
        public var entity: String?
        /// Rows that aren't whole, those of which a part was written included.
        public var brokenRows = 0
        /// Pages with such rows, at most 100.
        public var brokenPages: [Int] = []
        /// Pages of the table that can't be read at all, at most 100.
        public var unreadablePages: [Int] = []

        init(_ table: String, entity: String?) {
            self.table = table
            self.entity = entity
        }
    }

    /// The table of a many-to-many relationship.
    public struct Links: Hashable, Codable, Sendable {
        /// `Entity.relationship`.
        public var relationship: String
        /// Links that were written.
        public var rows: Int
        /// Links that were left out, since the same was written.
        public var identicalCopies: Int
        /// The file with them.
        public var file: String
    }

    package init(
        store: String, models: String?, version: String?, modelOrigin: ModelOrigin, output: String,
        format: ExportFormat, pages: Int
    ) {
        self.store = store
        self.models = models
        self.version = version
        self.modelOrigin = modelOrigin
        self.output = output
        self.format = format
        self.pages = pages
    }
}
