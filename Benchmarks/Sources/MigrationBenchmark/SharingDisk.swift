import Foundation

/// A file system that shares extents between files: XFS in a file of its own, on a loop device.
struct SharingDisk {
    let folder: URL
    private let undo: @Sendable () -> Void

    static let need = "needs Linux, root, mkfs.xfs (Debian: apt-get install xfsprogs) and loop devices"

    /// - Returns: nil where this machine can't have one.
    static func make(bytes: Int, in scratch: Scratch) throws -> SharingDisk? {
        guard getuid() == 0, let mkfs = Programs.find("mkfs.xfs"), let mount = Programs.find("mount"),
            let unmount = Programs.find("umount")
        else {
            say("skipped: work e \(need)")
            return nil
        }
        try Scratch.check(room: bytes, in: scratch.folder)
        let image = scratch.folder.appendingPathComponent("shared.img")
        let folder = scratch.folder.appendingPathComponent("shared")
        let undo: @Sendable () -> Void = {
            // A program that was ended holds the disk for some moments more. Done twice, the second does nothing.
            for _ in 0..<50 where Disk.fileSystem(folder) == "xfs" && FileManager.default.fileExists(atPath: image.path)
            {
                if (try? Programs().run(unmount, ["-q", folder.path])) != nil { break }
                Thread.sleep(forTimeInterval: 0.1)
            }
            try? FileManager.default.removeItem(at: image)
        }
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            _ = FileManager.default.createFile(atPath: image.path, contents: nil)
            let file = try FileHandle(forWritingTo: image)
            // The log and the maps of extents come on top, and less than 300 MB is refused.
            try file.truncate(atOffset: UInt64(bytes + bytes / 10 + (512 << 20)))
            try file.close()
            try Programs().run(mkfs, ["-q", "-m", "reflink=1", image.path])
            scratch.atEnd(undo)
            try Programs().run(mount, ["-o", "loop", image.path, folder.path])
            return SharingDisk(folder: folder, undo: undo)
        } catch {
            say("skipped: work e \(need): \(error)")
            undo()
            return nil
        }
    }

    /// - Important: nothing below `folder` may be open.
    func remove() {
        undo()
    }
}
