#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Time for measuring and for commit intervals; no decision about data may depend on it.
package enum MonotonicClock {
    /// Nanoseconds since an arbitrary start; never goes back.
    package static func nanoseconds() -> UInt64 {
        let time = time(of: CLOCK_MONOTONIC)
        return UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec)
    }

    package static func seconds() -> Double { Double(nanoseconds()) / 1_000_000_000 }
}

/// The time of day.
package enum WallClock {
    /// Seconds from 1970-01-01 to 2001-01-01, both UTC: Core Data counts from the second.
    package static let referenceDate = 978_307_200.0

    /// Seconds since 2001-01-01 00:00:00 UTC.
    package static func secondsSinceReferenceDate() -> Double {
        let time = time(of: CLOCK_REALTIME)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 - referenceDate
    }
}

/// Fails for an unknown clock only: every system has both.
private func time(of clock: clockid_t) -> timespec {
    var time = timespec()
    _ = unsafe clock_gettime(clock, &time)
    return time
}

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
