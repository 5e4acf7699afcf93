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

    /// The versions in the order that the file gives; a file that forgets one or names another is refused.
    func ordered(_ names: [String], path: String) throws(EngineError) -> [String] {
        guard let order else { return names }
        guard Set(order) == Set(names), order.count == names.count else {
            let odd = Set(order).symmetricDifference(names).sorted().joined(separator: ", ")
            throw EngineError(
                .plan, "versions.json beside \(path): its order doesn't name every version once",
                details: odd.isEmpty ? [] : ["differing: \(odd)"])
        }
        return order
    }
}
