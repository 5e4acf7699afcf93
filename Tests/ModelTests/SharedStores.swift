import CausewaySQLite
import Foundation

/// The real stores and models in `shared`; tests that need them are visibly skipped where they are missing. The lists
/// include the project's own, so that tests also run in a clone without `shared`.
enum SharedStores {
    private static let project = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let shared = project.deletingLastPathComponent().appending(path: "shared")
    static let folder = shared.appending(path: "stores")
    static let vectors = shared.appending(path: "reference/version-hash-vectors.json")
    static let hashTool = shared.appending(path: "tools/version-hashes")

    static var exist: Bool { FileManager.default.fileExists(atPath: folder.path) }

    /// Paths below the folder, in a stable order, then those of `Fixtures`. One version of Detour is deliberately
    /// unreadable.
    static func paths(where isWanted: (String) -> Bool) -> [String] {
        let own = FileManager.default.subpaths(atPath: project.appending(path: "Fixtures").path) ?? []
        return (FileManager.default.subpaths(atPath: folder.path) ?? []).filter(isWanted).sorted()
            + own.filter { isWanted($0) && !$0.hasPrefix("Detour/") }.sorted().map { "Fixtures/\($0)" }
    }

    private static func url(_ path: String) -> URL {
        (path.hasPrefix("Fixtures/") ? project : folder).appending(path: path)
    }

    static let stores = paths { path in
        ["sqlite", "moody", "wiredatabase"].contains(URL(filePath: path).pathExtension)
    }
    static let sources = paths { $0.hasSuffix("/contents") }
    static let compiled = paths { $0.hasSuffix(".mom") }
    static let bundles = paths { $0.hasSuffix(".xcdatamodeld") || $0.hasSuffix(".momd") }

    static func path(_ path: String) -> String { url(path).path }

    static func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: url(path))) }

    /// Metadata and model cache of a store, read from a copy with its write-ahead log.
    static func identity(_ path: String) throws -> (metadata: [UInt8], cache: [UInt8]?) {
        try TemporaryFolder.with { folder in
            let copy = folder.appending(path: "store.sqlite")
            for suffix in ["", "-wal"] {
                let source = URL(filePath: self.path(path) + suffix)
                guard FileManager.default.fileExists(atPath: source.path) else { continue }
                let target = URL(filePath: copy.path + suffix)
                try FileManager.default.copyItem(at: source, to: target)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: target.path)
            }
            let connection = try Connection(path: copy.path, mode: .readWrite, hardening: .untrusted)
            let metadata = try blob("SELECT Z_PLIST FROM Z_METADATA", connection)
            return (metadata ?? [], try blob("SELECT Z_CONTENT FROM Z_MODELCACHE", connection))
        }
    }

    private static func blob(_ sql: String, _ connection: borrowing Connection) throws -> [UInt8]? {
        var statement = try connection.prepare(sql)
        return try statement.step() ? statement.bytes(at: 0) : nil
    }
}

enum TemporaryFolder {
    /// Runs the body with a new folder, removed afterwards.
    static func with<Result>(_ body: (URL) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "causeway-model-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }

    /// Writes files by their relative paths.
    static func write(_ files: [String: [UInt8]], in folder: URL) throws {
        for (path, bytes) in files {
            let target = folder.appending(path: path)
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: target)
        }
    }
}
