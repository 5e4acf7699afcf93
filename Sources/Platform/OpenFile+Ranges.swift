#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif
internal import CausewayCPlatform

/// What came of asking a file system for a copy that shares the original's extents.
package enum CloneOutcome: Hashable, Sendable {
    /// The new file has the content of the original and takes no space of its own.
    case shared
    /// The file system can't; no new file was made.
    case notSupported
}

/// Ranges of a file: copied or cleared without going through the process's memory where the system can.
extension OpenFile {
    /// Makes a new file with this one's content that shares its extents (`FICLONE`, `fclonefileat`).
    ///
    /// Works from this descriptor: the original's locks stay, as no other descriptor of it is opened and closed.
    ///
    /// - Parameters:
    ///   - path: of the new file, on the same file system.
    ///   - permissions: of the new file, before the process's umask; on macOS those of the original are also a bound.
    /// - Returns: what happened; there is never a plain copy in silence.
    /// - Throws: `.exists`, and every failure that isn't the file system's saying no; no new file stays then.
    package func clone(to path: String, permissions: UInt32 = 0o600) throws(FileError) -> CloneOutcome {
        #if canImport(Darwin)
            do throws(FileError) {
                _ = try SystemCall.named("clone", path) { unsafe fclonefileat(descriptor, AT_FDCWD, path, 0) }
                try OpenFile(path, mode: .readWrite).setPermissions(permissions)
                return .shared
            } catch {
                guard Self.meansNotSupported(error) else { throw error }
                return .notSupported
            }
        #else
            let target = try OpenFile(path, mode: .createNew, permissions: permissions)
            do throws(FileError) {
                _ = try SystemCall.run("clone", path) { causeway_share_extents(target.descriptor, descriptor) }
                return .shared
            } catch {
                // The error that matters is why there is no clone.
                _ = try? Files.unlink(path)
                guard Self.meansNotSupported(error) else { throw error }
                return .notSupported
            }
        #endif
    }

    /// Whether `clone` to a new file in a folder could share extents. Nothing is left in the folder, and no name is
    /// ever seen there.
    ///
    /// - Parameter folder: that may be written to.
    /// - Returns: false also where it can't be found out: no file may be made there, or the system has no such question
    ///   (macOS).
    package func canShareExtents(in folder: String) -> Bool {
        unsafe causeway_can_share_extents(descriptor, folder) == 1
    }

    /// Whether a call failed because the file system, or the pair of them, has no such operation.
    private static func meansNotSupported(_ error: FileError) -> Bool {
        [ENOTSUP, EOPNOTSUPP, ENOTTY, ENOSYS, EXDEV, EINVAL].contains(error.errorNumber)
    }

    /// Copies bytes to the same place in another file.
    ///
    /// Uses `copy_file_range`, which shares extents where it can, and reads and writes where there is no such call.
    ///
    /// - Returns: the number of bytes; fewer than asked for only where this file ends.
    package func copy(_ range: Range<Int64>, to target: borrowing OpenFile) throws(FileError) -> Int64 {
        var done = range.lowerBound
        while done < range.upperBound {
            let length = Int(min(range.upperBound - done, 1 << 30))
            let count: Int
            do throws(FileError) {
                let from = done
                count = try SystemCall.run("write", target.path) {
                    causeway_copy_range(descriptor, from, target.descriptor, from, length)
                }
            } catch {
                guard Self.meansNotSupported(error) else { throw error }
                return try copyThroughMemory(done..<range.upperBound, to: target) + done - range.lowerBound
            }
            if count == 0 { break }
            done += Int64(count)
        }
        return done - range.lowerBound
    }

    /// Copies bytes to the same place in another file, in pieces of 1 MiB.
    ///
    /// - Returns: the number of bytes; fewer than asked for only where this file ends.
    package func copyThroughMemory(_ range: Range<Int64>, to target: borrowing OpenFile) throws(FileError) -> Int64 {
        let size = Int(min(Int64(Files.copyBufferSize), max(1, range.upperBound - range.lowerBound)))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4_096)
        defer { unsafe buffer.deallocate() }
        var done = range.lowerBound
        while done < range.upperBound {
            let length = Int(min(Int64(size), range.upperBound - done))
            let count = try unsafe read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<length]), at: done)
            try unsafe target.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: done)
            done += Int64(count)
            if count < length { break }
        }
        return done - range.lowerBound
    }

    /// Has the system begin to write a range to the medium in the background, so that the next `sync` finds little left
    /// to do (`sync_file_range`; nothing on systems without it).
    ///
    /// It promises nothing and reports nothing: what fails is reported by that `sync`, on this descriptor.
    package func startWriting(_ range: Range<Int64>) {
        causeway_start_writing(descriptor, range.lowerBound, range.upperBound - range.lowerBound)
    }

    /// Makes bytes inside the file zeros: as a hole that takes no space, else by writing them.
    package func clear(_ range: Range<Int64>) throws(FileError) {
        guard !range.isEmpty else { return }
        do throws(FileError) {
            _ = try SystemCall.run("clear a part of", path) {
                causeway_punch_hole(descriptor, range.lowerBound, range.upperBound - range.lowerBound)
            }
        } catch {
            guard Self.meansNotSupported(error) else { throw error }
            try writeZeros(range)
        }
    }

    private func writeZeros(_ range: Range<Int64>) throws(FileError) {
        let size = Int(min(Int64(Files.copyBufferSize), range.upperBound - range.lowerBound))
        let zeros = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4_096)
        defer { unsafe zeros.deallocate() }
        unsafe zeros.initializeMemory(as: UInt8.self, repeating: 0)
        var done = range.lowerBound
        while done < range.upperBound {
            let length = Int(min(Int64(size), range.upperBound - done))
            try unsafe write(UnsafeRawBufferPointer(rebasing: zeros[..<length]), at: done)
            done += Int64(length)
        }
    }
}
