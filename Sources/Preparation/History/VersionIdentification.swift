import CausewayModel
import CausewayPlanning
import CausewayStoreFormat
import CausewayStores

/// Which version a store has.
struct VersionIdentification {
    /// The version's name in the history; for a model out of the store's own cache, a name made for it.
    let name: String
    let model: ManagedObjectModel
    /// The history doesn't know the version; the store's own cache does.
    let isFromCache: Bool
    /// Which of several versions with the store's hashes counts; nil where there is one.
    var notice: String?
}

extension VersionIdentification {
    /// Compares the store's version hashes with every version's. If several match, those count whose tables and indexes
    /// the store has; of these `target` comes first, then the store's version identifiers decide.
    init(of store: SourceStore, in history: ModelHistory, target: String) throws(EngineError) {
        guard store.metadata.hashesVersion <= 3 else {
            throw EngineError(
                .sourceData,
                """
                \(store.location.path): its version hashes are of kind \(store.metadata.hashesVersion); this release knows \
                kinds up to 3
                """,
                remedy: "use a newer release")
        }
        let equal = history.versions.filter { $0.hashes.entities == store.metadata.entityHashes }
        // A store that has more than the target's schema is at the target: no path leads back.
        let leading = equal.filter { $0.name == target || (try? history.graph.path(from: $0.name, to: target)) != nil }
        let candidates = Self.closest(leading.isEmpty ? equal : leading, to: store)
        let identifiers = store.metadata.versionIdentifiers
        let choices: [(version: ModelHistory.Version?, reason: String)] = [
            (candidates.first { $0.name == target }, "it is the version to reach"),
            (candidates.first { $0.model.versionIdentifiers == identifiers }, "its identifier is the store's"),
            (candidates.last, "it is the last of them"),
        ]
        if let choice = choices.first(where: { $0.version != nil }), let chosen = choice.version {
            self.init(name: chosen.name, model: chosen.model, isFromCache: false)
            if equal.count > 1 {
                let names = equal.map { "\"\($0.name)\"" }.joined(separator: " and ")
                let reason =
                    candidates.count < equal.count
                    ? "the store has the tables and indexes of that version" : choice.reason
                notice = "\(names) have the store's hashes: the store counts as \"\(chosen.name)\", because \(reason)"
            }
            return
        }
        if let (version, configuration) = Self.configuration(of: store, in: history) {
            throw EngineError(
                .plan,
                """
                \(store.location.path): the store has only the entities of the configuration “\(configuration)” of \
                "\(version)"; stores of one configuration can't be migrated
                """,
                remedy: "let Core Data migrate it: no store of one configuration was at hand to learn its layout from")
        }
        do throws(EngineError) {
            let model = try store.cachedModel()
            let label = identifiers.first { !$0.isEmpty }.map { "\($0) (from the store)" } ?? "(from the store)"
            self.init(name: label, model: model, isFromCache: true)
        } catch {
            throw Self.unknown(store, history, cache: error)
        }
    }

    /// Of versions with equal hashes, those whose columns, indexes and triggers the store has most of: derived
    /// attributes, fetch indexes and constraints are in no hash.
    private static func closest(_ versions: [ModelHistory.Version], to store: SourceStore) -> [ModelHistory.Version] {
        guard versions.count > 1 else { return versions }
        let schemas = versions.map { version in
            (try? StoreLayout(
                model: version.model, frameworkVersion: store.metadata.frameworkVersion,
                hints: LayoutHints(store.schema))).flatMap { try? $0.schemaParts() } ?? []
        }
        let all = schemas.reduce(into: Set<String>()) { $0.formUnion($1) }
        let own = all.intersection(store.schema.parts)
        let distances = schemas.map { $0.symmetricDifference(own).count }
        return zip(versions, distances).filter { $1 == distances.min() }.map(\.0)
    }

    /// The version and the configuration of which the store has all entities, and no others.
    private static func configuration(
        of store: SourceStore, in history: ModelHistory
    ) -> (version: String, configuration: String)? {
        let hashes = store.metadata.entityHashes
        for version in history.versions.reversed() where hashes.count < version.hashes.entities.count {
            guard hashes.allSatisfy({ version.hashes.entities[$0.key] == $0.value }),
                let configuration = version.model.configuration(of: Set(hashes.keys))
            else { continue }
            return (version.name, configuration)
        }
        return nil
    }

    /// Says, entity by entity, how the store differs from the nearest version.
    private static func unknown(_ store: SourceStore, _ history: ModelHistory, cache: EngineError) -> EngineError {
        let hashes = store.metadata.entityHashes
        let ranked = history.versions.map { (version: $0, differences: $0.hashes.differences(from: hashes)) }
        let nearest = ranked.min { $0.differences.count < $1.differences.count }
        var details: [String] = []
        if let nearest {
            details.append("the nearest is \"\(nearest.version.name)\", which differs in:")
            details += nearest.differences.map { "  \($0)" }
        }
        details += history.failures.sorted { $0.key < $1.key }.map {
            "version \"\($0.key)\" can't be read: \($0.value)"
        }
        details.append(cache.message)
        return EngineError(
            .plan, "\(store.location.path): no version in \(history.path) is the store's", details: details,
            remedy: "add the model version that wrote the store to the bundle")
    }
}
