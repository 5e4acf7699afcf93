import Foundation

/// The real stores in `shared`; tests that need them are visibly skipped where they are missing.
enum SharedStores {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared/stores")

    static var exist: Bool { FileManager.default.fileExists(atPath: folder.path) }

    /// Files with that name or ending, in a stable order.
    static func files(endingIn suffix: String) -> [URL] {
        guard let paths = FileManager.default.subpaths(atPath: folder.path) else { return [] }
        return paths.filter { $0.hasSuffix(suffix) }.sorted().map { folder.appending(path: $0) }
    }
}
