import CausewayModel
import CausewayPlatform
import CausewayStores

/// What one `--models` names: a model's versions, or the version in another store's cache.
struct GivenModels {
    /// A version, and the files that it was read from.
    struct Version {
        var name: String
        /// Several where it is merged; none for a store's cache, which isn't a file.
        var paths: [String]
        var model: Result<ManagedObjectModel, ModelError>

        /// The model; nil where it can't be read.
        var readable: ManagedObjectModel? { try? model.get() }
    }

    /// For messages.
    let path: String
    let isStore: Bool
    /// In their order.
    private(set) var versions: [Version]
    /// The one that is marked as the current one; nil where none is, or the marked one isn't there.
    let currentVersionName: String?
    let notices: [String]

    /// Reads a bundle, a single model, or a store's own cache.
    init(at path: String) throws {
        self.path = path
        guard (try? Files.status(of: path).kind) == .regular, (try? StoreFile.isDatabase(path)) == true else {
            isStore = false
            let bundle = try ModelReader.bundle(at: path)
            versions = bundle.versions.map { Version(name: $0.name, paths: [$0.path], model: $0.model) }
            currentVersionName = bundle.currentVersionName.flatMap { bundle.version(named: $0)?.name }
            notices = bundle.notices
            return
        }
        isStore = true
        let location = try StoreLocation(existing: path)
        let model = try SourceStore.reading(location) { store throws(EngineError) in
            // A store that was given as the models: `--models` is what it came with, or isn't taken.
            try store.cachedModel(
                remedy: "give the app's models instead: an .xcdatamodeld, .xcdatamodel, .momd or .mom")
        }
        let name = model.versionIdentifiers.sorted().first { !$0.isEmpty } ?? location.name
        versions = [Version(name: name, paths: [], model: .success(model))]
        currentVersionName = name
        notices = []
    }

    init(path: String, versions: [Version], currentVersionName: String?, notices: [String]) {
        (self.path, isStore) = (path, false)
        (self.versions, self.currentVersionName, self.notices) = (versions, currentVersionName, notices)
    }

    /// Names of the entities of all versions.
    var entityNames: Set<String> {
        versions.reduce(into: []) { names, version in
            if let model = version.readable { names.formUnion(model.entities.keys) }
        }
    }

    /// Puts the versions in this order, if it names each once.
    mutating func order(by names: [String]) {
        guard Set(names) == Set(versions.map(\.name)), names.count == versions.count else { return }
        versions = names.compactMap { name in versions.first { $0.name == name } }
    }
}
