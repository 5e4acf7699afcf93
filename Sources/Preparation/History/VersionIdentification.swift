import CausewayModel
import CausewayStoreFormat
import CausewayStores

/// Which version a store has.
struct VersionIdentification {
    /// The version's name in the history; for a model out of the store's own cache, a name made for it.
    let name: String
    let model: ManagedObjectModel
    /// The history doesn't know the version; the store's own cache does.
    let isFromCache: Bool
}

extension VersionIdentification {
    /// Compares the store's version hashes with every version's. If several match, `target` comes first, then the
    /// store's version identifiers decide.
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
        let candidates = history.versions.filter { $0.hashes.entities == store.metadata.entityHashes }
        let identifiers = store.metadata.versionIdentifiers
        let chosen =
            candidates.first { $0.name == target }
            ?? candidates.first { $0.model.versionIdentifiers == identifiers } ?? candidates.last
        if let chosen {
            self.init(name: chosen.name, model: chosen.model, isFromCache: false)
            return
        }
        do throws(EngineError) {
            let model = try store.cachedModel()
            let label = identifiers.first { !$0.isEmpty }.map { "\($0) (from the store)" } ?? "(from the store)"
            self.init(name: label, model: model, isFromCache: true)
        } catch {
            throw Self.unknown(store, history, cache: error)
        }
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
