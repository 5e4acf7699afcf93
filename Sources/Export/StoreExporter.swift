import CausewayExamination
import CausewayEvaluation
import CausewayModel
import CausewayObjects
import CausewayPlanning
import CausewayPreparation
import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
package import CausewayStores

/// Exports a store: reads it as `verify` does, without changing a byte, and streams its rows.
package struct StoreExporter {
    private let request: ExportRequest
    private let stream: ([UInt8]) throws(EngineError) -> Bool
    private let progress: ProgressCount
    private let notes = ExportNotes()

    /// - Parameters:
    ///   - request: what to export, and where to.
    ///   - stream: takes the bytes where the output is the stream; false ends the export.
    ///   - progress: called now and then; false stops.
    package init(
        _ request: ExportRequest, stream: @escaping ([UInt8]) throws(EngineError) -> Bool,
        progress: @escaping (ExportProgress) -> Bool
    ) {
        self.request = request
        self.stream = stream
        self.progress = ProgressCount(progress)
    }

    /// - Throws: `.usage` where the request doesn't fit the model, `.missing` without a model, `.cannotCreate` where
    ///   the output exists; or where the store can't be read.
    package func run() throws(EngineError) -> ExportSummary {
        try refuseStream()
        let history = try ModelHistory.given(request.models)
        let location = try StoreLocation(existing: request.store)
        do throws(EngineError) {
            return try export(location, history)
        } catch {
            // A statement that was ended only says so.
            guard progress.isStopped else { throw error }
            var stop = ProgressCount.stopped
            stop.work = error.work
            throw stop
        }
    }

    private func export(_ location: StoreLocation, _ history: ModelHistory?) throws(EngineError) -> ExportSummary {
        try SourceStore.reading(location, shouldStop: progress.asksToStop) { store throws(EngineError) in
            let found = try FoundModel(of: store, in: history)
            let map = try EngineError.reading(store.location.path) { () throws -> StorageMap in
                let binding = try StoreBinding(
                    store.schema, model: found.model, frameworkVersion: store.metadata.frameworkVersion)
                try binding.requireComplete()
                if request.entities.isEmpty { tellUnknown(binding) }
                return try StorageMap(binding.layout)
            }
            var summary = ExportSummary(
                store: store.location.path, models: history?.path, versions: found.versions, modelOrigin: found.origin,
                output: request.output, format: request.format)
            try ExportPass(
                request: request, store: store, map: map, notes: notes, stream: stream, progress: progress
            ).run(&summary)
            summary.warnings = (store.walBreak.map { [$0.sentence(store.location.wal)] } ?? []) + notes.warnings
            return summary
        }
    }

    /// What the model doesn't know isn't exported, and mustn't be missed.
    private func tellUnknown(_ binding: StoreBinding) {
        for (table, columns) in binding.extraColumns.sorted(by: { $0.key < $1.key }) {
            notes.add("\(table): columns that the model doesn't know, left out: \(columns.joined(separator: ", "))")
        }
        let tables = binding.objects(.appMade).filter { $0.kind == .table }.map(\.name).sorted()
        guard !tables.isEmpty else { return }
        notes.add("tables that aren't the model's, left out: \(tables.joined(separator: ", "))")
    }

    private func refuseStream() throws(EngineError) {
        guard request.isStream else { return }
        guard request.format == .jsonl else {
            throw EngineError(
                .usage, "only JSON lines can be written to standard output",
                remedy: "give --output a path, or use --as jsonl")
        }
        guard request.entities.count == 1 else {
            throw EngineError(
                .usage, "standard output takes the rows of one entity",
                remedy: "name it with --entity, or give --output the path of a folder")
        }
    }
}

/// The model that a store's rows are read with.
struct FoundModel {
    let model: ManagedObjectModel
    let versions: [String]
    let origin: ModelOrigin

    /// The version with the store's hashes: the one with its identifiers, else the last; else the store's own model.
    init(of store: SourceStore, in history: ModelHistory?) throws(EngineError) {
        let metadata = store.metadata
        let matching = (history?.versions ?? []).filter { $0.hashes.entities == metadata.entityHashes }
        versions = matching.map(\.name)
        if let version = matching.first(where: { $0.model.versionIdentifiers == metadata.versionIdentifiers })
            ?? matching.last
        {
            (model, origin) = (version.model, .models)
            return
        }
        do throws(EngineError) {
            (model, origin) = (try store.cachedModel(), .storeCache)
        } catch {
            guard error.kind == .plan || error.kind == .sourceData else { throw error }
            let place = history.map { "; none of the \($0.versions.count) versions in \($0.path) is the store's" } ?? ""
            throw EngineError(
                .missing, error.message + place, details: error.details,
                remedy: "give models with the store's version with --models")
        }
    }
}

/// One export of an open store.
private struct ExportPass {
    let request: ExportRequest
    let store: SourceStore
    let map: StorageMap
    let notes: ExportNotes
    let stream: ([UInt8]) throws(EngineError) -> Bool
    let progress: ProgressCount

    func run(_ summary: inout ExportSummary) throws(EngineError) {
        let choice = try EntityChoice(request.entities, in: map)
        let filter = try request.predicate.map { text throws(EngineError) in
            try RowFilter(text, entities: choice.asked, map, store)
        }
        let scan = RowScan(
            store: store, map: map, notes: notes, filter: filter, limit: request.limit, progress: progress)
        defer { for warning in filter?.warnings ?? [] { notes.add(warning) } }
        guard !request.isStream else {
            let output = ByteOutput(.stream(stream))
            try writeRows(JSONLinesSink(uris, stream: output), choice, scan, try count(choice), nil, &summary)
            return try output.finish()
        }
        let place = try OutputPlace(request.output, isFolder: request.format != .sqlite)
        summary.output = place.location.path
        do throws(EngineError) {
            try write(to: place, choice, scan, &summary)
            try store.requireUnchanged()
            try place.publish()
        } catch {
            place.discard()
            var error = error
            if progress.isStopped { error.work = .discarded }
            throw error
        }
    }

    private func write(
        to place: OutputPlace, _ choice: EntityChoice, _ scan: RowScan, _ summary: inout ExportSummary
    ) throws(EngineError) {
        let counts = try count(choice)
        switch request.format {
        case .jsonl: try writeRows(JSONLinesSink(uris, in: place), choice, scan, counts, place, &summary)
        case .csv: try writeRows(CSVSink(uris, in: place), choice, scan, counts, place, &summary)
        case .sqlite:
            summary.entities = try DatabaseExport(
                store: store, map: map, choice: choice, isPartial: request.isPartial, scan: scan, notes: notes,
                progress: progress, version: summary.versions.first
            ).write(to: place.partial)
        }
    }

    private func count(_ choice: EntityChoice) throws(EngineError) -> RowCounts {
        let counts = try RowCounts(store, map, choice, limit: request.limit)
        // Nobody knows how many rows must be read until enough of them fit.
        if request.predicate == nil || request.limit == nil { progress.total = counts.total }
        if counts.strangers > 0 {
            notes.add("rows whose Z_ENT names no entity of their table, left out: \(counts.strangers)")
        }
        return counts
    }

    private var uris: URIText { URIText(storeUUID: store.metadata.uuid, entities: map.layout.entities) }

    private func writeRows(
        _ sink: some RowSink, _ choice: EntityChoice, _ scan: RowScan, _ counts: RowCounts, _ place: OutputPlace?,
        _ summary: inout ExportSummary
    ) throws(EngineError) {
        let external = ExternalCopies(
            ExternalValues(directory: store.location.externalData), output: place?.partial)
        let reader = ValueReader(notes: notes, external: external)
        for name in choice.names {
            guard let shape = ShapeBuilder.shape(of: name, in: map),
                counts.rows[name] != nil || map.layout.model.entities[name]?.isAbstract != true
            else { continue }
            let file = try sink.begin(shape)
            let links = LinkReader(shape, map, store)
            var (count, isRead) = (0, true)
            try scan.forEach(name, shape.number, shape.columns) { key, cells throws(EngineError) in
                isRead = try sink.write(key, try reader.values(shape, key: key, cells), links: links)
                count += 1
                return isRead
            }
            try sink.end()
            summary.entities.append(ExportSummary.Entity(name: name, rows: count, place: file))
            if !isRead { break }
        }
        summary.externalFiles = external.count
    }
}
