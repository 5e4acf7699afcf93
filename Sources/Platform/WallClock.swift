#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The time of day.
package enum WallClock {
    /// Seconds from 1970-01-01 to 2001-01-01, both UTC: Core Data counts from the second.
    private static let referenceDate = 978_307_200.0

    /// Seconds since 2001-01-01 00:00:00 UTC.
    package static func secondsSinceReferenceDate() -> Double {
        var time = timespec()
        // Fails only for a clock that doesn't exist: every system has this one.
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 - referenceDate
    }
}
