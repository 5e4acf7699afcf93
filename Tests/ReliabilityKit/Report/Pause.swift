#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Waits of the harness's own; no check depends on their real length.
enum Pause {
    static func milliseconds(_ count: Int) {
        usleep(UInt32(clamping: count) &* 1_000)
    }
}
