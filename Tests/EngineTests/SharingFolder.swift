import CausewayReliabilityKit
import Foundation
import Testing

/// A folder on a file system that shares extents between files: XFS in a file of its own.
final class SharingFolder {
    let url: URL
    private let disk: MountedDisk
    private let image: URL
    private let log: URL

    /// Whether one can be mounted here; tried once.
    static let isPossible = MountedDisk.refusal(["mkfs.xfs"]) == nil && (try? SharingFolder()) != nil

    /// XFS refuses less than 300 MB. The file is sparse.
    private static let imageBytes: Int64 = 400 << 20

    init() throws {
        url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "causeway-xfs-\(UUID().uuidString)")
        (image, log) = (url.appendingPathExtension("img"), url.appendingPathExtension("log"))
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        do {
            try MountedDisk.format(image.path, as: "xfs", bytes: Self.imageBytes, log: log.path)
            disk = try MountedDisk.image(image.path, as: "xfs", at: url.path, log: log.path)
        } catch {
            for item in [url, image, log] { try? FileManager.default.removeItem(at: item) }
            throw error
        }
    }

    deinit {
        do { try disk.unmount() } catch { Issue.record(error) }
        for item in [url, image, log] { try? FileManager.default.removeItem(at: item) }
    }
}
