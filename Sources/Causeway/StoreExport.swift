public import CausewayExport
import CausewayStores

/// Writes what a store holds in a form that every program reads, without changing a byte of the store.
///
/// Rows are streamed: memory doesn't grow with the store, but for the keys that a salvage has seen, 16 bytes for each
/// gap in them. What is written appears under its name when it is complete; a run that fails or is stopped leaves
/// nothing behind.
///
/// ```swift
/// var export = StoreExport(store: "Library.sqlite", output: "Library")
/// export.models = ["App.xcdatamodeld"]
/// export.entities = ["Book"]
/// export.predicate = "year >= 2000"
/// let summary = try export.run()
/// print(summary.rowCount, "rows in", summary.output)
/// ```
public struct StoreExport: Hashable, Sendable {
    /// Path of the store's main file.
    public var store: String
    /// Paths of model bundles or stores with the store's version; none uses the store's own cache alone.
    public var models: [String] = []
    /// The folder to write, with ``ExportFormat/sqlite`` the file; it must not exist yet. `-` is the stream of
    /// ``run(stream:progress:)``.
    public var output: String
    /// How it is written.
    public var format: ExportFormat
    /// Names of entities, each with its subentities; empty exports all.
    public var entities: [String] = []
    /// Which rows, as a predicate in Core Data's format language; nil exports all.
    public var predicate: String?
    /// Most rows of each entity; nil exports all.
    public var limit: Int?

    /// Describes an export; nothing is read or written yet.
    ///
    /// - Parameters:
    ///   - store: path of the store's main file.
    ///   - output: path of the folder or file to write.
    ///   - format: how it is written.
    public init(store: String, output: String, format: ExportFormat = .jsonl) {
        self.store = store
        self.output = output
        self.format = format
    }

    /// Writes the export.
    ///
    /// - Parameters:
    ///   - stream: takes pieces of JSON lines where ``output`` is `-`; returning false ends the export.
    ///   - progress: called now and then; returning false stops, and nothing is kept.
    /// - Returns: what was written.
    /// - Throws: `MigrationError` where the store or its model can't be read, the predicate doesn't fit, or the output
    ///   exists or can't be written.
    @discardableResult
    public func run(
        stream: ([UInt8]) -> Bool = { _ in false }, progress: (ExportProgress) -> Bool = { _ in true }
    ) throws(MigrationError) -> ExportSummary {
        let prepared = request
        return try BusyStore(store).run { () throws(MigrationError) in
            try MigrationError.wrapping { () throws(EngineError) in
                let result = withoutActuallyEscaping(stream) { stream in
                    withoutActuallyEscaping(progress) { progress in
                        Result { () throws(EngineError) in
                            try StoreExporter(prepared, stream: stream, progress: progress).run()
                        }
                    }
                }
                return try result.get()
            }
        }
    }

    /// Writes what can still be read of a damaged store, page by page and without SQLite: the last thing before giving
    /// up.
    ///
    /// Rows that are whole are written; those out of free pages apart, as deleted ones. Links of to-manys are told by
    /// the other ends' rows, those of many-to-manys in files of their own. Nobody may use the store meanwhile.
    ///
    /// - Parameter progress: called now and then, with pages instead of rows; returning false stops, and nothing is
    ///   kept.
    /// - Returns: what was read, and what was broken and where.
    /// - Throws: `MigrationError` where neither a model nor the store's list of entities can be read, or the output
    ///   exists or can't be written; never because of other damage.
    @discardableResult
    public func salvage(progress: (ExportProgress) -> Bool = { _ in true }) throws(MigrationError) -> SalvageSummary {
        let prepared = request
        // Before: a program that ends meanwhile has written, too.
        let users = BusyStore(store).users()
        return try MigrationError.wrapping { () throws(EngineError) in
            let result = withoutActuallyEscaping(progress) { progress in
                Result { () throws(EngineError) in try StoreSalvager(prepared, progress: progress).run() }
            }
            var summary = try result.get()
            if !users.isEmpty {
                summary.warnings.append(
                    "the store is in use by \(users.joined(separator: ", ")): what isn't committed may be among the rows, "
                        + "and what was written meanwhile may be missing; end the program, then salvage again, or salvage "
                        + "a copy")
            }
            return summary
        }
    }

    private var request: ExportRequest {
        var request = ExportRequest(store: store, models: models, output: output, format: format)
        request.entities = entities
        request.predicate = predicate
        request.limit = limit
        return request
    }
}
