import Foundation

/// The real stores in `shared`; tests that need them are visibly skipped where they are missing.
enum SharedStores {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared/stores")

    static var exist: Bool { FileManager.default.fileExists(atPath: folder.path) }
}
