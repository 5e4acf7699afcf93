#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// What the file system knows of a file.
package struct FileStatus: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case regular, directory, symbolicLink, other
    }

    package let kind: Kind
    /// Bytes.
    package let size: Int64
    /// Bytes of the blocks that the file has; holes have none.
    package let allocated: Int64
    package let inode: UInt64
    package let device: UInt64
    package let linkCount: UInt64
    package let userID: UInt32
    package let groupID: UInt32
    /// The permission bits, without the kind.
    package let mode: UInt32
    /// Nanoseconds since 1970.
    package let modificationTime: Int64

    /// Same file, whatever its name.
    package func isSameFile(as other: FileStatus) -> Bool {
        inode == other.inode && device == other.device
    }

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            default: .other
            }
        size = Int64(status.st_size)
        // Blocks of 512 bytes, whatever the file system's are ("See: 'man 2 stat'").
        allocated = Int64(status.st_blocks) * 512
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        device = UInt64(truncatingIfNeeded: status.st_dev)
        linkCount = UInt64(truncatingIfNeeded: status.st_nlink)
        userID = status.st_uid
        groupID = status.st_gid
        mode = UInt32(status.st_mode) & 0o7777
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        modificationTime = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
