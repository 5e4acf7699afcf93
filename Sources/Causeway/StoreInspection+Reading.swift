import CausewayModel
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

extension StoreInspection {
    /// Inspects a store. Every row is counted, so a large store takes as long as reading it once.
    ///
    /// - Parameters:
    ///   - store: path of the store's main file.
    ///   - models: path of a model bundle, to name the store's version; nil uses the store's own cache alone.
    ///   - readsSizes: whether to find the size of every table and index, for which every page is read.
    /// - Throws: `MigrationError` where the file is no Core Data store, is damaged, or can't be read.
    public init(store: String, models: String? = nil, readsSizes: Bool = false) throws(MigrationError) {
        try self.init(store: store, models: models.map { [$0] } ?? [], readsSizes: readsSizes)
    }

    /// Inspects a store with a model in several files.
    ///
    /// - Parameters:
    ///   - store: path of the store's main file.
    ///   - models: paths of model bundles or stores, to name the store's version; none uses the store's own cache
    ///     alone.
    ///   - readsSizes: whether to find the size of every table and index, for which every page is read.
    /// - Throws: `MigrationError` where the file is no Core Data store, is damaged, or can't be read.
    public init(store: String, models: [String], readsSizes: Bool = false) throws(MigrationError) {
        self = try BusyStore(store).run { () throws(MigrationError) in
            try MigrationError.wrapping { () throws(EngineError) in
                let history = try ModelHistory.given(models)
                return try SourceStore.reading(StoreLocation(existing: store)) { opened throws(EngineError) in
                    do {
                        return try StoreReader(store: opened, history: history, readsSizes: readsSizes).inspection()
                    } catch let error as SQLiteError where !error.isOfSystem && !error.isDamage {
                        throw EngineError(.sourceData, "\(store): can't be read: \(error)")
                    } catch let error as FileError {
                        throw EngineError(reading: error, at: error.path)
                    } catch {
                        throw EngineError(error, during: store)
                    }
                }
            }
        }
    }
}

/// Gathers an inspection from an open store.
struct StoreReader {
    let store: SourceStore
    let history: ModelHistory?
    let readsSizes: Bool

    func inspection() throws -> StoreInspection {
        let metadata = store.metadata
        let matching = (history?.versions ?? []).filter { $0.hashes.entities == metadata.entityHashes }
        let (model, origin, note) = try storeModel(matching)
        let binding = try model.map { model in
            try StoreBinding(store.schema, model: model, frameworkVersion: metadata.frameworkVersion)
        }
        let schema = try SchemaReader(store: store, binding: binding)
        return StoreInspection(
            store: store.location.path, models: history?.path, versions: matching.map(\.name),
            nearest: matching.isEmpty ? nearest() : nil, modelOrigin: origin,
            versionIdentifiers: metadata.versionIdentifiers,
            checksum: metadata.checksum ?? VersionHashes.checksum(of: metadata.entityHashes),
            frameworkVersion: metadata.frameworkVersion, uuid: metadata.uuid,
            appMetadataKeys: metadata.other.keys.sorted(), entities: try schema.entities(),
            unknownRows: schema.unknownRows(),
            joinTables: try schema.joinTables(), features: try schema.features(), sizes: try sizes(),
            walBreak: store.walBreak,
            problems: (binding?.problems.map(\.description) ?? []) + [note].compactMap(\.self))
    }

    /// The model to read the tables with: that of the version with the store's identifiers, else the last that fits,
    /// else the store's own.
    private func storeModel(
        _ matching: [ModelHistory.Version]
    ) throws(SQLiteError) -> (ManagedObjectModel?, StoreInspection.ModelOrigin, note: String?) {
        let identifiers = store.metadata.versionIdentifiers
        if let version = matching.first(where: { $0.model.versionIdentifiers == identifiers }) ?? matching.last {
            return (version.model, .models, nil)
        }
        guard store.schema.table("Z_MODELCACHE") != nil else { return (nil, .unknown, nil) }
        var statement = try store.connection.prepare("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")
        let content = try statement.step() ? statement.bytes(at: 0) : nil
        do throws(ModelError) {
            let model = try ModelReader.model(cache: content)
            let different = VersionHashes(model).differences(from: store.metadata.entityHashes)
            guard different.isEmpty else {
                return (
                    nil, .unknown,
                    "Z_MODELCACHE: its model isn't the one in Z_METADATA; they differ in \(different.joined(separator: ", "))"
                )
            }
            return (model, .storeCache, nil)
        } catch {
            return (nil, .unknown, "Z_MODELCACHE: \(error)")
        }
    }

    private func nearest() -> StoreInspection.Nearest? {
        let ranked = (history?.versions ?? []).map {
            StoreInspection.Nearest(
                version: $0.name, differences: $0.hashes.differences(from: store.metadata.entityHashes))
        }
        return ranked.min { $0.differences.count < $1.differences.count }
    }

    private func sizes() throws -> StoreInspection.Sizes {
        let file = try Files.status(of: store.location.path).size
        let wal = try Files.statusIfExists(store.location.wal)?.size ?? 0
        let found = readsSizes ? store.objectSizes() : nil
        var problem: String?
        if case .failure(let reason) = found { problem = reason.description }
        let pages = Int(clamping: try store.connection.pragmaInteger("page_count"))
        return StoreInspection.Sizes(
            file: Int(clamping: file), wal: Int(clamping: wal), pageSize: Int(store.pageSize),
            pages: pages,
            freePages: Int(clamping: try store.connection.pragmaInteger("freelist_count")),
            pointerMapPages: store.pointerMapPages(of: pages),
            objects: try? found?.get().map { StoreInspection.ObjectSize($0) }, objectsProblem: problem)
    }
}
