internal import Foundation

/// A folder for a harness's files: in memory if there is room for it, because writes there don't wait for a disk.
package struct ScratchFolder: Sendable {
    package let path: String

    /// - Parameter parent: nil chooses.
    /// - Throws: errors of the file system.
    package init(in parent: String? = nil) throws {
        let memory = "/dev/shm"
        let isThere = FileManager.default.isWritableFile(atPath: memory)
        let parent = parent ?? (isThere ? memory : FileManager.default.temporaryDirectory.path)
        path = URL(filePath: parent).resolvingSymlinksInPath().path + "/causeway-reliability-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    package func remove() {
        // A folder that can't be removed is in memory or in the folder for temporary files, and goes with that.
        try? FileManager.default.removeItem(atPath: path)
    }
}
