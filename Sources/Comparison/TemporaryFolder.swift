#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Where temporary files go: `TMPDIR`, as for other programs.
enum TemporaryFolder {
    static var path: String {
        guard let folder = unsafe getenv("TMPDIR"), unsafe folder[0] != 0 else { return "/tmp" }
        return unsafe String(cString: folder)
    }
}
