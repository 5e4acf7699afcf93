import CausewayModel
import CausewayPreparation
import CausewayStoreFormat
import CausewayStores

/// The model that a damaged store's rows are read with.
struct SalvagedModel {
    let model: ManagedObjectModel
    /// Its name among the given models; nil for the store's own.
    let version: String?

    private init(_ model: ManagedObjectModel, version: String?) {
        (self.model, self.version) = (model, version)
    }

    /// What is most certain comes first: the version with the hashes of the metadata, the store's own model, the
    /// version whose tables are most like the store's.
    ///
    /// - Returns: nil where there is none of them.
    init?(of schema: SalvagedSchema, in history: ModelHistory?, _ notes: ExportNotes) throws(EngineError) {
        let hashes = schema.metadata?.entityHashes
        func known(_ hashes: [String: [UInt8]]?) -> ModelHistory.Version? {
            hashes.flatMap { hashes in history?.versions.last { $0.hashes.entities == hashes } }
        }
        if let match = known(hashes) {
            self.init(match.model, version: match.name)
        } else if let cached = schema.cachedModel {
            let own = VersionHashes(cached)
            if let hashes, !own.differences(from: hashes).isEmpty {
                notes.add("the store's own model isn't the one in its metadata: rows may be read wrongly")
            }
            if let match = known(own.entities) {
                self.init(match.model, version: match.name)
            } else {
                self.init(cached, version: nil)
            }
        } else if let history {
            let nearest = try Self.nearest(to: schema, in: history)
            notes.add(
                "the store's version isn't known, or none of the models: rows were read as \(nearest.name)'s, the "
                    + "version whose tables are most like the store's; give the right version's model with --models if "
                    + "that is another")
            self.init(nearest.model, version: nearest.name)
        } else {
            return nil
        }
    }

    /// The current version of several that are equally near.
    private static func nearest(
        to schema: SalvagedSchema, in history: ModelHistory
    ) throws(EngineError) -> ModelHistory.Version {
        var best = (version: try history.version(named: history.currentVersion), distance: Int.max)
        best.distance = distance(of: schema, from: best.version.model)
        // The newest first.
        for version in history.versions.reversed() {
            let distance = distance(of: schema, from: version.model)
            if distance < best.distance { best = (version, distance) }
        }
        return best.version
    }

    /// Columns that only one of both has: those of the store's tables, and of the tables that the model gives.
    private static func distance(of schema: SalvagedSchema, from model: ManagedObjectModel) -> Int {
        let version = schema.metadata?.frameworkVersion ?? SalvageLayout.frameworkVersion
        let hints = LayoutHints(
            StoreSchema(objects: [], tables: Array(schema.tables.values), primaryKeys: [], schemaVersion: 0))
        guard let layout = try? StoreLayout(model: model, frameworkVersion: version, hints: hints) else { return .max }
        func columns(_ tables: some Sequence<StoreSchema.Table>) -> Set<String> {
            Set(tables.flatMap { table in table.columns.map { "\(table.name) \($0.name)".uppercased() } })
        }
        return columns(schema.tables.values.filter(SalvagedEntities.holdsObjects))
            .symmetricDifference(columns(SalvageLayout.tables(of: layout).filter(SalvagedEntities.holdsObjects))).count
    }
}
