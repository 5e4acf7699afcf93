#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A thread that waits for others.
package enum Pause {
    /// Lets the calling thread rest; a signal may end that early.
    package static func rest(milliseconds: UInt32) {
        // usleep takes less than a second on some systems.
        var time = timespec()
        time.tv_sec = Int(milliseconds / 1_000)
        time.tv_nsec = Int(milliseconds % 1_000) * 1_000_000
        // The caller checks the clock afterwards.
        _ = unsafe nanosleep(&time, nil)
    }
}
