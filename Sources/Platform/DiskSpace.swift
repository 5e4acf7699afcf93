#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

package enum DiskSpace {
    /// Bytes that this user may still write on the file system of `path`, which must exist.
    package static func available(at path: String) throws(FileError) -> Int64 {
        try SystemCall.check("measure the free space at", path)
        var information = statvfs()
        _ = try SystemCall.run("measure the free space at", path) { unsafe statvfs(path, &information) }
        // f_bavail, not f_bfree: the rest is reserved for the superuser.
        let (bytes, overflow) = UInt64(information.f_bavail).multipliedReportingOverflow(
            by: UInt64(information.f_frsize))
        return overflow ? .max : Int64(clamping: bytes)
    }
}
