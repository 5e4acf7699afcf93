package import CausewayMapping
package import CausewayModel
package import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat
package import CausewayStores

/// The versions that a migration may use, with their hashes and their order.
package struct ModelHistory: Sendable {
    package struct Version: Sendable {
        package let name: String
        package let model: ManagedObjectModel
        package let hashes: VersionHashes

        package var versioned: VersionedModel { VersionedModel(name: name, model: model, hashes: hashes) }
    }

    package let path: String
    /// Readable versions in the history's order.
    package let versions: [Version]
    /// Why a version can't be used, by name.
    package let failures: [String: String]
    package let graph: VersionGraph
    /// The bundle's current version; the last one if it names none.
    package let currentVersion: String
    /// Problems of the bundle.
    package let notices: [String]
    /// Why the current version may be the wrong target: it is the first of several. nil otherwise.
    package let doubt: String?
    /// The files of each version; none for one from a store's cache.
    package let files: [String: [String]]

    /// Reads a model bundle, a single model, or the model in another store's cache.
    ///
    /// - Parameters:
    ///   - path: of an `.xcdatamodeld`, `.xcdatamodel`, `.momd`, `.mom`, or of a store.
    ///   - edges: from the command line; they override those of a `versions.json` beside the bundle.
    /// - Throws: `.missing` or `.plan` where nothing usable is there.
    package init(reading path: String, edges: [String: String]) throws(EngineError) {
        try self.init(reading: [path], edges: edges)
    }

    /// Reads one history out of several places (`SeveralModels` has the rules).
    ///
    /// - Parameters:
    ///   - paths: each of an `.xcdatamodeld`, `.xcdatamodel`, `.momd`, `.mom`, or of a store.
    ///   - edges: from the command line; they override those of a `versions.json` beside a bundle.
    /// - Throws: `.missing` or `.plan` where nothing usable is there, and where it isn't clear how they belong
    ///   together.
    package init(reading paths: [String], edges: [String: String]) throws(EngineError) {
        let place = paths.joined(separator: ", ")
        path = place
        var given: [GivenModels] = []
        for path in paths { given.append(try EngineError.at(path) { try GivenModels(at: path) }) }
        guard !given.isEmpty else { throw EngineError(.usage, "no models are given", remedy: "give --models") }
        let order = try VersionsFiles(beside: paths)
        if given.count > 1 { order.sort(&given) }
        let own = given.map { $0.versions.map(\.name) }
        let models = try SeveralModels(given).history()
        versions = models.versions.compactMap { version in
            version.readable.map { Version(name: version.name, model: $0, hashes: VersionHashes($0)) }
        }
        var failures: [String: String] = [:]
        for version in models.versions {
            if case .failure(let error) = version.model { failures[version.name] = error.description }
        }
        self.failures = failures
        files = Dictionary(models.versions.map { ($0.name, $0.paths) }, uniquingKeysWith: { first, _ in first })
        notices = models.notices
        guard let last = models.versions.last?.name else {
            throw EngineError(.plan, "\(path): the bundle holds no version", remedy: "check --models")
        }
        graph = try EngineError.at(place) {
            try VersionGraph(
                versions: try order.ordered(models.versions.map(\.name), ofEach: own),
                edges: order.next.merging(edges) { _, line in line })
        }
        currentVersion = models.currentVersionName ?? graph.versions.last ?? last
        doubt = Self.doubt(models.currentVersionName, graph.versions)
    }

    /// The history of models that a caller may have left out.
    ///
    /// - Parameter paths: as of `init(reading:edges:)`.
    /// - Returns: nil where there are none.
    /// - Throws: as `init(reading:edges:)`.
    package static func given(_ paths: [String]) throws(EngineError) -> ModelHistory? {
        try paths.isEmpty ? nil : ModelHistory(reading: paths, edges: [:])
    }

    private static func doubt(_ current: String?, _ versions: [String]) -> String? {
        guard let current, let last = versions.last, versions.count > 1, versions.first == current else { return nil }
        return """
            "\(current)" is marked as the current version, though it is the first of \(versions.count): if the mark \
            is out of date, give the version to reach with --to (the last is "\(last)")
            """
    }

    /// The version of that name.
    package func version(named name: String) throws(EngineError) -> Version {
        if let version = versions.first(where: { $0.name == name }) { return version }
        if let failure = failures[name] {
            throw EngineError(
                .plan, "version \"\(name)\" can't be read: \(failure)",
                remedy: "fix the model, or route around it with --next")
        }
        throw EngineError(.plan, PathError.unknownVersion(name, known: graph.versions).description)
    }

    /// The version that the user means: a model's name, a version identifier or a checksum.
    package func resolve(_ target: String?) throws(EngineError) -> String {
        guard let target else { return currentVersion }
        if graph.versions.contains(target) { return target }
        let found = versions.filter { $0.model.versionIdentifiers.contains(target) || $0.hashes.checksum == target }
        if found.count == 1 { return found[0].name }
        guard found.isEmpty else {
            throw EngineError(
                .plan, "\"\(target)\" is ambiguous: \(found.map(\.name).joined(separator: ", ")) have it",
                remedy: "give the model's name to --to")
        }
        throw EngineError(.plan, PathError.unknownVersion(target, known: graph.versions).description)
    }
}

extension SourceStore {
    /// The model in the store's own cache, proven to belong to the metadata by its hashes.
    ///
    /// - Parameter remedy: what to do where there is none.
    /// - Returns: the model.
    /// - Throws: `.plan` where there is none, or one that can't be used; `.sourceData` where it isn't the store's.
    package func cachedModel(
        remedy: String = "give the models with --models"
    ) throws(EngineError) -> ManagedObjectModel {
        do {
            guard schema.table("Z_MODELCACHE") != nil else {
                throw EngineError(
                    .plan, "\(location.path): the store has no model cache (it is from before iOS 9)",
                    remedy: remedy)
            }
            var statement = try connection.prepare(
                """
                SELECT CASE WHEN length(Z_CONTENT) <= \(ModelLimits.fileSize) THEN Z_CONTENT END, length(Z_CONTENT) \
                FROM Z_MODELCACHE LIMIT 1
                """)
            let content = try statement.step() ? statement.bytes(at: 0) : nil
            guard content != nil || statement.isNull(at: 1) else {
                throw EngineError(
                    .sourceData, "\(location.path): the store's model cache is larger than a model can be",
                    remedy: remedy)
            }
            let model = try ModelReader.model(cache: content)
            let different = VersionHashes(model).differences(from: metadata.entityHashes)
            guard different.isEmpty else {
                throw EngineError(
                    .sourceData, "\(location.path): the store's model cache doesn't belong to its metadata",
                    details: different, remedy: remedy)
            }
            return model
        } catch let error where error is EngineError || error is SQLiteError {
            throw EngineError(error, during: location.path)
        } catch {
            throw EngineError(
                .plan, "\(location.path): the store's model cache can't be used: \(error)",
                remedy: remedy)
        }
    }
}
