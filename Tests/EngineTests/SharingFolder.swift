import CausewayPlatform
import Foundation

/// A folder on a file system that shares extents between files: XFS in a file of its own, on a loop device.
final class SharingFolder {
    let url: URL
    private let image: URL

    /// Whether one can be mounted here; asked once.
    static let isPossible = (try? SharingFolder()) != nil

    /// XFS refuses less than 300 MB. The file is sparse.
    private static let imageBytes: UInt64 = 400 << 20

    init() throws {
        url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "causeway-xfs-\(UUID().uuidString)")
        image = url.appendingPathExtension("img")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        do {
            _ = FileManager.default.createFile(atPath: image.path, contents: nil)
            let file = try FileHandle(forWritingTo: image)
            try file.truncate(atOffset: Self.imageBytes)
            try file.close()
            try Self.run("mkfs.xfs", "-q", "-m", "reflink=1", image.path)
            try Self.run("mount", "-o", "loop", image.path, url.path)
        } catch {
            for item in [url, image] { try? FileManager.default.removeItem(at: item) }
            throw error
        }
    }

    deinit {
        try? Self.run("umount", url.path)
        for item in [url, image] { try? FileManager.default.removeItem(at: item) }
    }

    private struct Failure: Error {
        var tool: String
    }

    private static func run(_ tool: String, _ arguments: String...) throws {
        let folders = ["/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/"]
        guard let path = folders.map({ $0 + tool }).first(where: FileManager.default.isExecutableFile) else {
            throw Failure(tool: tool)
        }
        // Foundation's Process forks, and a fork of this large process keeps locks of other tests for a while.
        let texts = [path] + arguments
        var copies: [UnsafeMutablePointer<CChar>?] = unsafe texts.map { unsafe strdup($0) } + [nil]
        defer { unsafe copies.forEach { unsafe free($0) } }
        var (child, status): (pid_t, Int32) = (0, 0)
        guard unsafe posix_spawn(&child, path, nil, nil, &copies, environ) == 0,
            unsafe waitpid(child, &status, 0) == child, status == 0
        else { throw Failure(tool: tool) }
    }
}
