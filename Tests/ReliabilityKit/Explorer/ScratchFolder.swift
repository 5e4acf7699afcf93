internal import Foundation

/// A folder for a harness's files: in memory where there is room for it, since nothing there waits for a disk.
package struct ScratchFolder: Sendable {
    package let path: String

    /// - Parameter parent: nil chooses.
    /// - Throws: what the file system says.
    package init(in parent: String? = nil) throws {
        let memory = "/dev/shm"
        let isThere = FileManager.default.isWritableFile(atPath: memory)
        let parent = parent ?? (isThere ? memory : FileManager.default.temporaryDirectory.path)
        path = URL(filePath: parent).resolvingSymlinksInPath().path + "/causeway-reliability-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    package func remove() {
        // What can't be removed lies in memory or in the folder for temporary files, and is gone with it.
        try? FileManager.default.removeItem(atPath: path)
    }
}
