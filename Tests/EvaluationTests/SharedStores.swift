import Foundation

/// The real stores beside the package; tests that need them are skipped visibly where they are missing.
enum SharedStores {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared/stores")

    static var exist: Bool { FileManager.default.fileExists(atPath: folder.path) }
}
