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
    /// Which of several versions with the store's hashes counts; nil where there is one.
    var notice: String?
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
        let choices: [(version: ModelHistory.Version?, reason: String)] = [
            (candidates.first { $0.name == target }, "it is the version to reach"),
            (candidates.first { $0.model.versionIdentifiers == identifiers }, "its identifier is the store's"),
            (candidates.last, "it is the last of them"),
        ]
        if let choice = choices.first(where: { $0.version != nil }), let chosen = choice.version {
            self.init(name: chosen.name, model: chosen.model, isFromCache: false)
            if candidates.count > 1 {
                let names = candidates.map { "\"\($0.name)\"" }.joined(separator: " and ")
                notice =
                    "\(names) have the store's hashes: the store counts as \"\(chosen.name)\", because "
                    + choice.reason
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
