public import CausewayExamination

/// What an export has written.
public struct ExportSummary: Hashable, Codable, Sendable {
    /// The store's path, links resolved.
    public var store: String
    /// Where the versions were looked up; nil where no models were given.
    public var models: String?
    /// The versions among the models whose hashes are the store's.
    public var versions: [String]
    /// Whose model the rows were read with.
    public var modelOrigin: ModelOrigin
    /// The folder or file that was written; `-` for standard output.
    public var output: String
    /// How it was written.
    public var format: ExportFormat
    /// Every entity that was exported, in Z_ENT order.
    public var entities: [Entity]
    /// Files of externally stored values that were copied.
    public var externalFiles: Int
    /// What isn't as a reader expects, one sentence each: entities, properties and keys, never content.
    public var warnings: [String]

    /// Rows of all entities.
    public var rowCount: Int { entities.reduce(0) { $0 + $1.rows } }

    /// One entity.
    public struct Entity: Hashable, Codable, Sendable {
        /// The name in the model.
        public var name: String
        /// Rows that were written, without its subentities'.
        public var rows: Int
        /// The file, or in a database the table or view, with the rows; nil for standard output.
        public var place: String?

        package init(name: String, rows: Int, place: String?) {
            self.name = name
            self.rows = rows
            self.place = place
        }
    }

    package init(
        store: String, models: String?, versions: [String], modelOrigin: ModelOrigin, output: String,
        format: ExportFormat
    ) {
        self.store = store
        self.models = models
        self.versions = versions
        self.modelOrigin = modelOrigin
        self.output = output
        self.format = format
        entities = []
        externalFiles = 0
        warnings = []
    }
}

/// How far an export is.
public struct ExportProgress: Hashable, Sendable {
    /// The entity whose rows are being read; empty while rows are counted.
    public var entity: String
    /// Rows read so far; with a predicate not all of them are written.
    public var rows: Int
    /// Rows that there are to read; 0 where that isn't known: while they are counted, and with a predicate and a limit.
    public var total: Int

    package init(entity: String, rows: Int, total: Int) {
        self.entity = entity
        self.rows = rows
        self.total = total
    }
}
