import CausewayEngine
import CausewayModel
import CausewayStoreFormat
import CausewayStores
import Foundation

/// The stores that Core Data wrote, each with a migration that succeeds on it undamaged.
///
/// A store is migrated between two versions of its model without a mapping model. The apps' mapping models need code
/// that isn't here, and reading 90 versions each time would take most of a run.
struct SharedStores {
    /// How many versions are tried before a store is only inspected and verified.
    private static let maximumCandidates = 6

    let root: String
    let harness: DamageHarness
    /// Where copies and models are kept while the harness runs.
    let folder: String

    private struct Version {
        var name: String
        var path: String
        var hashes: [String: [UInt8]]
    }

    /// Every wanted database of the folder, with what one undisturbed migration keeps; nil if no migration was found.
    func subjects(
        where isWanted: (String) -> Bool
    ) throws -> [(subject: DamageSubject, oracle: RowOracle?)] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: root).sorted().filter { name in
            isWanted(name) && Self.isDatabase(root + "/" + name)
        }
        var versions: [String: [Version]] = [:]
        var result: [(DamageSubject, RowOracle?)] = []
        for (number, name) in names.enumerated() {
            let own = "\(folder)/\(number)"
            try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
            let store = own + "/Store.sqlite"
            try Self.copy(root + "/" + name, to: store)
            let source = (name as NSString).deletingLastPathComponent
            if versions[source] == nil { versions[source] = try self.versions(in: root + "/" + source) }
            let others = names.filter { $0 != name && ($0 as NSString).deletingLastPathComponent == source }
            result.append(
                try subject(name, store, in: own, versions: versions[source] ?? [], others: others))
        }
        return result
    }

    private func subject(
        _ name: String, _ store: String, in own: String, versions: [Version], others: [String]
    ) throws -> (DamageSubject, RowOracle?) {
        let source = try SourceStore.reading(StoreLocation(existing: store))
        let hashes = source.metadata.entityHashes
        source.release()
        var candidates: [String] = []
        if let place = versions.firstIndex(where: { $0.hashes == hashes }) {
            let later = versions[(place + 1)...].prefix(Self.maximumCandidates - 2)
            for target in Array(later) + versions[..<place].reversed().prefix(Self.maximumCandidates - later.count) {
                candidates.append(try bundle(versions[place], target, in: "\(own)/\(candidates.count)"))
            }
        } else {
            // The model is only in the store; another store of the app may have another version.
            for other in others.prefix(Self.maximumCandidates) {
                let models = "\(own)/Models-\(candidates.count).sqlite"
                try Self.copy(root + "/" + other, to: models)
                candidates.append(models)
            }
        }
        for models in candidates {
            let subject = DamageSubject(name: name, store: store, models: models)
            // A version to which the undamaged store can't be migrated is skipped; the next one is tried.
            if let oracle = try? RowOracle(of: subject, by: harness) { return (subject, oracle) }
        }
        return (DamageSubject(name: name, store: store, models: nil), nil)
    }

    /// A bundle of two versions. Their names sort in path order.
    private func bundle(_ source: Version, _ target: Version, in own: String) throws -> String {
        let models = own + "/Models.xcdatamodeld"
        for (name, version) in [("1", source), ("2", target)] {
            let path = "\(models)/\(name).xcdatamodel"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try Data(contentsOf: URL(fileURLWithPath: version.path)).write(to: URL(fileURLWithPath: path + "/contents"))
        }
        try HostileGround.current("2").write(to: URL(fileURLWithPath: models + "/.xccurrentversion"))
        return models
    }

    /// The versions of all models in a folder, sorted by name.
    private func versions(in folder: String) throws -> [Version] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted().filter { $0.hasSuffix(".xcdatamodeld") }
            .flatMap { bundle in
                try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(bundle)")
                    .filter { $0.hasSuffix(".xcdatamodel") }
                    .sorted { $0.compare($1, options: .numeric) == .orderedAscending }
                    .map { name in
                        let path = "\(folder)/\(bundle)/\(name)/contents"
                        let model = try ModelReader.model(source: Array(Data(contentsOf: URL(fileURLWithPath: path))))
                        return Version(name: name, path: path, hashes: VersionHashes(model).entities)
                    }
            }
    }

    private static func isDatabase(_ path: String) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path) else { return false }
        defer { try? file.close() }
        return (try? file.read(upToCount: 15)) == Data("SQLite format 3".utf8)
    }

    /// Copies the -wal too; the -shm is made anew.
    private static func copy(_ path: String, to copy: String) throws {
        for suffix in ["", "-wal"] where suffix.isEmpty || FileManager.default.fileExists(atPath: path + suffix) {
            // The copy doesn't keep the original's permissions, which are read-only.
            try Data(contentsOf: URL(fileURLWithPath: path + suffix)).write(to: URL(fileURLWithPath: copy + suffix))
        }
    }
}
