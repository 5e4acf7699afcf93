import CausewayPlatform
import CausewayStores

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// `versions.json` beside the models: the order of the versions and which follows which, if their names don't show it.
///
///     { "order": ["App", "App 2", "App 3"], "next": { "App": "App 3" } }
struct VersionsFile: Decodable {
    /// Bytes; a list of version names is far smaller.
    private static let maximumSize = 1 << 20

    var order: [String]?
    var next: [String: String]?

    /// Reads the file in the bundle's folder; empty without one.
    init(besideBundleAt bundle: String) throws(EngineError) {
        var parts = bundle.split(separator: "/", omittingEmptySubsequences: true)
        if !parts.isEmpty { parts.removeLast() }
        let folder = (bundle.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
        let path = folder.isEmpty ? "versions.json" : "\(folder)/versions.json"
        do {
            guard try Files.statusIfExists(path) != nil else { return }
            self = try JSONDecoder().decode(Self.self, from: Data(try Files.readFile(path, limit: Self.maximumSize)))
        } catch let error as FileError {
            throw EngineError(reading: error, at: path)
        } catch {
            throw EngineError(
                .plan, "\(path): not a list of versions: \(error)",
                remedy: #"write it as { "order": ["V1", "V2"], "next": { "V1": "V2" } }"#)
        }
    }

    /// Whether its order names each of these once.
    func orders(_ names: [String]) -> Bool {
        guard let order else { return false }
        return Set(order) == Set(names) && order.count == names.count
    }
}

/// The `versions.json` beside each of several models.
struct VersionsFiles {
    /// The file beside each, in their order, with the models' path.
    private let files: [(path: String, file: VersionsFile)]

    init(beside paths: [String]) throws(EngineError) {
        var files: [(path: String, file: VersionsFile)] = []
        for path in paths { files.append((path, try VersionsFile(besideBundleAt: path))) }
        self.files = files
    }

    /// Which version follows which; of two files that name the same version the later one counts.
    var next: [String: String] {
        files.reduce(into: [:]) { edges, entry in edges.merge(entry.file.next ?? [:]) { $1 } }
    }

    /// Puts the versions of each into the order of its own file, if that is about them alone.
    func sort(_ given: inout [GivenModels]) {
        for (index, entry) in files.enumerated() where given.indices.contains(index) {
            if let order = entry.file.order { given[index].order(by: order) }
        }
    }

    /// All versions in the order that a file gives; a file that forgets one or names another is refused. Of several
    /// models a file may be about a single one.
    func ordered(_ names: [String], ofEach own: [[String]]) throws(EngineError) -> [String] {
        var result = names
        for (path, file) in files {
            guard let order = file.order else { continue }
            if file.orders(names) {
                result = order
            } else if !own.contains(where: { file.orders($0) }) {
                let odd = Set(order).symmetricDifference(names).sorted().joined(separator: ", ")
                throw EngineError(
                    .plan, "versions.json beside \(path): its order doesn't name every version once",
                    details: odd.isEmpty ? [] : ["differing: \(odd)"])
            }
        }
        return result
    }
}
