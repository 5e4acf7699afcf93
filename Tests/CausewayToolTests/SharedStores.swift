import Foundation

/// Stores and models that Core Data wrote; read-only, so tests work on copies.
enum SharedStores {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("shared/stores")

    static var exist: Bool { FileManager.default.fileExists(atPath: root.path) }

    static func path(_ name: String) -> String { root.appendingPathComponent(name).path }

    static let models = path("colourful-posts/CoreDataMigration_Example.xcdatamodeld")
    static let version1 = path("colourful-posts/CoreDataMigration_Example_1.sqlite")
}

/// A temporary folder that is removed at the end.
final class WorkFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("causeway-test-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    /// Makes a writable copy of a file, and returns its path.
    func copy(_ source: String, as name: String) throws -> String {
        try Data(contentsOf: URL(fileURLWithPath: source)).write(to: url.appendingPathComponent(name))
        return path(name)
    }

    func write(_ bytes: [UInt8], as name: String) throws -> String {
        try Data(bytes).write(to: url.appendingPathComponent(name))
        return path(name)
    }

    /// Copies what is committed of `Fixtures/Orchard`, and returns the store's path. Other tests read the store where
    /// it is, and then there is a -shm for a moment, which is no part of it.
    func addOrchard() throws -> String {
        let place = url.appendingPathComponent("Orchard")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        for name in ["Orchard-v1.sqlite", ".Orchard-v1_SUPPORT", "Orchard.xcdatamodeld"] {
            try FileManager.default.copyItem(
                atPath: OtherUser.orchard + "/" + name, toPath: place.appendingPathComponent(name).path)
        }
        return path("Orchard/Orchard-v1.sqlite")
    }

    /// The name of the original that a migration kept; nil where there is none.
    func backup(of name: String) throws -> String? {
        try FileManager.default.contentsOfDirectory(atPath: url.path).first { $0.hasPrefix(name + ".premigration") }
    }

    /// Every file's bytes by name, also in folders; without a lock file's text, which names its last holder.
    func content() throws -> [String: Data] {
        var result: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: url.path) {
            let file = url.appendingPathComponent(name)
            let isLock = name.hasSuffix(".migration/lock")
            result[name] = isLock ? Data() : (try? Data(contentsOf: file)) ?? Data("a folder".utf8)
        }
        return result
    }
}
