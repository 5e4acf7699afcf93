import CausewayEvaluation
import CausewayExamination
import CausewayModel
import CausewayPlatform
import CausewayPlanning
import CausewayPreparation
import CausewaySQLiteFile
import CausewayStoreFormat
package import CausewayStores

/// Reads a damaged store page by page, without SQLite, and writes every row that is whole.
///
/// Nothing is trusted: neither the header, nor the schema, nor the trees. What a tree doesn't reach is looked for in
/// all pages. Nobody may use the store meanwhile.
package struct StoreSalvager {
    private let request: ExportRequest
    private let report: (ExportProgress) -> Bool
    private let notes = ExportNotes()

    /// - Parameters:
    ///   - request: what to export, and where to; without predicate and limit.
    ///   - progress: called now and then with pages instead of rows; false stops.
    package init(_ request: ExportRequest, progress: @escaping (ExportProgress) -> Bool) {
        self.request = request
        report = progress
    }

    /// - Throws: `.usage`, `.missing` without a model, `.cannotCreate` where the output exists; never because of
    ///   damage.
    package func run() throws(EngineError) -> SalvageSummary {
        try refuseOptions()
        let location = try StoreLocation(existing: request.store)
        let file = try EngineError.reading(location.path) {
            // Opening a pipe would wait for its other end.
            guard try Files.status(of: location.path).kind == .regular else {
                throw EngineError(.missing, "\(location.path): not a file", remedy: "give the store's main file")
            }
            return try SalvageFile(location.path, wal: location.wal)
        }
        do throws(EngineError) {
            return try salvage(file, location, SalvageProgress(file, report))
        } catch {
            // Once it is stopped, pages can't be read.
            guard file.isStopped, error.kind != .interrupted else { throw error }
            var stop = SalvageProgress.stopped
            stop.work = error.work
            throw stop
        }
    }

    private func salvage(
        _ file: SalvageFile, _ location: StoreLocation, _ progress: SalvageProgress
    ) throws(EngineError) -> SalvageSummary {
        let schema = SalvagedSchema(file)
        try progress.check()
        let history = try ModelHistory.given(request.models)
        let found = try SalvagedModel(of: schema, in: history, notes)
        let layout = try self.layout(schema, found, file, location.path)
        try progress.check()
        let choice = try EntityChoice(request.entities, in: layout.map)
        warn(schema, layout, file, location, hasModel: found != nil)
        let place = try OutputPlace(request.output, isFolder: true)
        var summary = SalvageSummary(
            store: location.path, models: history?.path, version: found?.version,
            modelOrigin: found == nil ? .unknown : found?.version == nil ? .storeCache : .models,
            output: place.location.path, format: request.format, pages: file.pageCount)
        do throws(EngineError) {
            let uris = URIText(
                storeUUID: schema.metadata?.uuid ?? Self.unknownUUID, entities: layout.map.layout.entities)
            let files = SalvageFiles(uris, in: place, request.format)
            let external = ExternalCopies(
                ExternalValues(directory: location.externalData), output: place.partial)
            var pass = SalvagePass(
                file, schema, layout, choice, files, ValueReader(notes: notes, external: external), progress)
            try pass.run()
            try files.finish()
            pass.tell(&summary)
            summary.externalFiles = external.count
            summary.warnings = notes.warnings
            try place.publish()
        } catch {
            place.discard()
            var error = error
            if error.kind == .interrupted { error.work = .discarded }
            throw error
        }
        return summary
    }

    private static let unknownUUID = "00000000-0000-0000-0000-000000000000"

    private func refuseOptions() throws(EngineError) {
        guard request.format != .sqlite, !request.isStream else {
            throw EngineError(.usage, "--salvage writes a folder of JSON lines or CSV", remedy: "use --as jsonl or csv")
        }
        guard request.predicate == nil, request.limit == nil else {
            throw EngineError(
                .usage, "--salvage takes neither --where nor --limit: it can't follow links, and must see every row")
        }
    }

    private func layout(
        _ schema: SalvagedSchema, _ found: SalvagedModel?, _ file: SalvageFile, _ path: String
    ) throws(EngineError) -> SalvageLayout {
        if let found { return try SalvageLayout(schema, found.model, path: path) }
        guard let tables = TablesAsModel(schema, file) else {
            throw EngineError(
                .missing, "\(path): neither the store's own model nor any table of an entity can be read",
                remedy: "give the models with --models")
        }
        if !tables.areListed {
            notes.add(
                "the list of entities can't be read whole: tables without a name there are entities of their names, and "
                    + "subentities have numbers")
        }
        return try tables.layout(path: path)
    }

    private func warn(
        _ schema: SalvagedSchema, _ layout: SalvageLayout, _ file: SalvageFile, _ location: StoreLocation,
        hasModel: Bool
    ) {
        if let header = file.header {
            // Old versions of SQLite don't keep the number.
            if let pages = header.pageCount, pages > file.pageCount {
                notes.add("the file ends after \(file.pageCount) of \(pages) pages")
            }
        } else {
            notes.add("the file's first page can't be read")
        }
        if file.unreachedPages > 0 {
            notes.add(
                "\(location.wal): SQLite doesn't read \(file.unreachedPages) pages behind a damaged place; they were looked "
                    + "through last, and what is in them may be older than what was read before, or never have been saved"
            )
        }
        if !hasModel {
            notes.add(
                "the store's own model can't be read: fields have the names of columns, links are keys, and values are "
                    + "as the columns' types say; with --models more is known")
        }
        if schema.metadata == nil {
            notes.add("the metadata can't be read: URIs have the UUID \(Self.unknownUUID)")
        }
        if !layout.missing.isEmpty {
            notes.add(
                "the schema doesn't tell these tables, or tells them wrongly: their rows were looked for in all pages, "
                    + "and read with the columns of the model: " + layout.missing.joined(separator: ", "))
        }
        if !layout.unknownLinks.isEmpty {
            notes.add(
                "the schema tells these tables of links wrongly, and they weren't read: "
                    + layout.unknownLinks.joined(separator: ", "))
        }
        if (try? Files.statusIfExists(location.journal)) != nil {
            notes.add("\(location.journal): there is a journal of an unfinished transaction, which wasn't looked at")
        }
    }
}
