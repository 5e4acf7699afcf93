/// How an export is written.
public enum ExportFormat: String, Hashable, Codable, Sendable, CaseIterable {
    /// JSON lines: a file for each entity, an object on each line.
    case jsonl
    /// Comma-separated values (RFC 4180): a file for each entity, and one for each relationship that no column tells.
    case csv
    /// One SQLite database with readable names and foreign keys.
    case sqlite
}

/// What to export, and where to.
package struct ExportRequest: Sendable {
    /// Path of the store's main file.
    package var store: String
    /// The model's versions; none uses the store's own cache.
    package var models: [String]
    /// The folder, or with `.sqlite` the file, to write; `-` is the stream.
    package var output: String
    package var format: ExportFormat
    /// Empty: all. Each brings its subentities.
    package var entities: [String] = []
    /// Which rows, in the language of predicates; nil: all.
    package var predicate: String?
    /// Most rows of an entity.
    package var limit: Int?

    package init(store: String, models: [String], output: String, format: ExportFormat) {
        self.store = store
        self.models = models
        self.output = output
        self.format = format
    }

    /// The output that isn't a file.
    package static let stream = "-"

    package var isStream: Bool { output == Self.stream }

    /// Whether rows may be left out.
    var isPartial: Bool { !entities.isEmpty || predicate != nil || limit != nil }
}
