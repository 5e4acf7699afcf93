import Foundation

/// The stores and tools in `shared`. Tests that need them are skipped where they are missing.
enum SharedStores {
    static let project = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    static let shared = project.deletingLastPathComponent().appending(path: "shared")
    static let folder = shared.appending(path: "stores")
    static let isThere = FileManager.default.fileExists(atPath: folder.path(percentEncoded: false))
    static let missing = "shared/stores is missing"

    static func path(_ relative: String) -> String { folder.appending(path: relative).path(percentEncoded: false) }
}

/// A folder for one test.
struct TemporaryFolder: ~Copyable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "causeway-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func path(_ name: String) -> String { url.appending(path: name).path(percentEncoded: false) }

    /// Copies a store with its -wal under a new name, writable.
    func copyStore(_ source: String, as name: String) throws -> String {
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: source + suffix) {
            try FileManager.default.copyItem(atPath: source + suffix, toPath: path(name) + suffix)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o644], ofItemAtPath: path(name) + suffix)
        }
        return path(name)
    }

    /// Every file's bytes by name, folders included. Compared to show that nothing changed.
    func snapshot() throws -> [String: Data] {
        var result: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: url.path(percentEncoded: false)) {
            result[name] = FileManager.default.contents(atPath: path(name)) ?? Data()
        }
        return result
    }
}
